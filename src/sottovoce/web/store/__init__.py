"""Databases of server processes: what the stores of every service have in common."""
