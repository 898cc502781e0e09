"""Poisoned frequency collections: what is seen, what correction achieves, and false alarms."""
