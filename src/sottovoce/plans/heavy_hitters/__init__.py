"""Finding what is frequent in domains too large to list."""
