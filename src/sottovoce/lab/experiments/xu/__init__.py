"""Xu 2020: tables of one and of several services."""
