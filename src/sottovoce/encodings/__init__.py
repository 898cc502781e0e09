"""Encodings: what a device computes from its value before it randomises."""
