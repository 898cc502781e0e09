"""Cormode 2018: marginals."""
