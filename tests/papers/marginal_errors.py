"""The squared error of joint tables, by genuine collections of records with a few attributes."""

from itertools import combinations

import numpy as np

import sottovoce as sv
from sottovoce.marginals.structure import possible


def domain(sizes):
    """The domain of records with attributes of these sizes."""
    return {f"a{place}": range(size) for place, size in enumerate(sizes)}


def held(records):
    """The records as a collection takes them."""
    return {f"a{place}": column for place, column in enumerate(records.T)}


def truth(records, sizes, view):
    """The true table of a view."""
    cells = np.zeros(len(records), np.int64)
    for one in view:
        cells = cells * sizes[one] + records[:, one]
    shape = [sizes[one] for one in view]
    return (np.bincount(cells, minlength=np.prod(shape)) / len(records)).reshape(shape)


def some_views(attributes, order, count=50, seed=0):
    """Random sets of attributes, all of them if there are no more."""
    every = list(combinations(range(attributes), order))
    return [every[place] for place in np.random.default_rng(seed).permutation(len(every))[:count]]


def collected(records, sizes, order, method, epsilon, seed):
    """What is known after a genuine collection."""
    plan = sv.Marginals(domain(sizes), len(records), order, method)
    return sv.simulate(sv.Task("tables", plan, epsilon=epsilon), held(records), seed=seed).model


def estimated(model, view):
    """The table of a view, brought to the simplex whatever the method."""
    return possible(model.fit(view).table if hasattr(model, "fit") else model.table(view).shares)


def squared_error(model, truths):
    """The sum over cells of squared errors, averaged over views."""
    return float(np.mean([((estimated(model, view) - table) ** 2).sum() for view, table in truths.items()]))


def uniform_error(truths):
    """The same for tables that say nothing."""
    return float(np.mean([((table - 1 / table.size) ** 2).sum() for table in truths.values()]))
