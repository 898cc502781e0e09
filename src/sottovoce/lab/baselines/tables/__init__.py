"""The published ways to collect tables, for comparison.

Each has a layout, and one plan takes any of them.
"""
