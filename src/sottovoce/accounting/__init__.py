"""Accounting in the shuffle model: arithmetic alone, without input or output."""
