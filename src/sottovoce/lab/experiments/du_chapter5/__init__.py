"""Du 2025, chapter 5: adaptive sampling for top items."""
