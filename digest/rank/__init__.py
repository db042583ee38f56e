"""How much a story matters, in reasons that can be printed, and which stories an issue tells."""
