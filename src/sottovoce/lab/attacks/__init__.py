"""Attacks on a collection: what people who lie may send."""
