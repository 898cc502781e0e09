"""Domains: what one person may hold."""
