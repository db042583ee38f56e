"""An entry to its topics, claims and names, each with the words it rests on."""
