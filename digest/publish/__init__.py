"""Documents to readers, with receipts."""
