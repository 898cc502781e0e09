"""Joint statistics of several attributes from one report per person."""
