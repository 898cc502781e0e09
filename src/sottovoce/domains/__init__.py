"""Domains too large to list: long values, and sets of items."""
