"""Published bounds of amplification by shuffling, for comparison with the accountant."""
