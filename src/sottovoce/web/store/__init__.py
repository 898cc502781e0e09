"""Databases of server processes: the base of the stores of every service."""
