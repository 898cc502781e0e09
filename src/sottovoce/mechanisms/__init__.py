"""Mechanisms: randomisers of one value, one kind per module."""
