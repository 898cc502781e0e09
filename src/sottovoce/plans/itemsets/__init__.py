"""Finding what is frequent in people's sets: items, sets of items, the top k."""
