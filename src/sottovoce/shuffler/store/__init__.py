"""The stores of a shuffler: one module per database."""
