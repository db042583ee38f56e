"""Entries that are the same work or event to one story."""
