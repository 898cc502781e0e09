"""Rows of experiments, computed once for all tests of a session."""

from functools import cache

from sottovoce.lab.experiments.base import experiment


@cache
def rows_of(name, size):
    """The rows of an experiment, printed as a test fails."""
    rows = experiment(name).run(size, lambda share: None)
    print(*rows, sep="\n")
    return rows
