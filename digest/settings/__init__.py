"""``feeds.yaml`` to typed settings, with all complaints at once."""
