"""Questions in SQL over privately collected tables."""
