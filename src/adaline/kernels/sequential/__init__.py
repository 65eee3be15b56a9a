"""Learning one sample at a time."""
