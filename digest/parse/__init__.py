"""Bytes to entries in plain text; markup, encodings and odd dates stop here."""
