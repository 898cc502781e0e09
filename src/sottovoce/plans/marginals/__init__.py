"""Joint tables of several attributes from one report per person."""
