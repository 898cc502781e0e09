"""Decoders of poisoned numbers that the filters are compared with."""
