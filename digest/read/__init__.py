"""What a text says in figures: its numbers, and the claims it makes with them."""
