"""Trusted code outside the jail: the supervisor, its queue and its processes."""
