"""A pick to words in every language, true to the source; articles to an issue."""
