"""Wang 2021, chapter 5: frequent items and itemsets."""
