"""The published ways to collect tables, to compare with: one layout each, and a plan that takes any
of them.
"""
