"""Tasks: what is asked of whom, for what price, and what was collected."""
