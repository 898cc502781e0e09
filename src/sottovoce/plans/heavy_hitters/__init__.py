"""The most frequent values of domains that are too large to list."""
