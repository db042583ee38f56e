"""Who wants the mail, and who must never get it again."""
