"""The items and the sets of items that most people have."""
