"""What was seen, what was published, what was delivered: the database."""
