"""An address to bytes, within bounds of size and time."""
