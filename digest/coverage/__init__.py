"""Whether a source has said all it had to say: the state of each poll, and arXiv's calendar."""
