"""The squared error of joint tables, by genuine collections of records with a few attributes."""

from itertools import combinations

import numpy as np
from scipy.stats import norm

import sottovoce as sv
from papers.records import CLICKED, PARENTS
from sottovoce.plans.marginals.entropy import fitted_rows
from sottovoce.plans.marginals.structure import possible


def domain(sizes):
    """The domain of records with attributes of these sizes."""
    return {f"a{place}": range(size) for place, size in enumerate(sizes)}


def held(records):
    """The records as a collection takes them."""
    return {f"a{place}": column for place, column in enumerate(records.T)}


def truth(records, sizes, view):
    """The true table of a view."""
    shape = [sizes[place] for place in view]
    cells = np.zeros(len(records), np.int32)
    for place in view:
        cells *= sizes[place]
        cells += records[:, place].astype(np.int32, copy=False)
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


def squared_error_of_pairs(model, truths):
    """The same where all pairs are views and all attributes bits: maximum entropy for all tables at once."""
    order = len(next(iter(truths)))
    pairs = {pair: model.fit(pair).table for pair in combinations(range(len(model.sizes)), 2)}
    marginals = {
        (one, other): np.stack([pairs[view[one], view[other]] for view in truths])
        for one, other in combinations(range(order), 2)
    }
    made = fitted_rows(tuple(range(order)), dict.fromkeys(range(order), 2), marginals)
    errors = [((fit.table - table) ** 2).sum() for fit, table in zip(made, truths.values(), strict=True)]
    return float(np.mean(errors))


def uniform_error(truths):
    """The same for tables that say nothing."""
    return float(np.mean([((table - 1 / table.size) ** 2).sum() for table in truths.values()]))


def one_factor(thresholds, loading=1.0):
    """The distribution of bits that are 1 where a common factor and noise of their own exceed a threshold."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(81)
    yes = norm.sf(np.asarray(thresholds)[:, None], loading * nodes)
    joint = weights / weights.sum()
    for chance in yes:
        joint = joint[..., None, :] * np.stack([1 - chance, chance])
    return joint.sum(axis=-1)


def movielens_joint(attributes):
    """The distribution behind ``movielens_like``."""
    return one_factor(np.linspace(-1.2, 1.2, attributes))


def kosarak_joint(attributes=8):
    """The distribution behind ``kosarak_like``, of up to sixteen attributes."""
    return one_factor(np.sqrt(1.81) * norm.isf(CLICKED[:attributes]), 0.9)


def taxi_joint():
    """The distribution behind ``taxi_like``, of its eight attributes."""
    card_tip = np.array([[0.45 * 0.95, 0.45 * 0.05], [0.55 * 0.5, 0.55 * 0.5]])
    toll_far = np.array([[0.9 * 0.97, 0.1 * 0.4], [0.9 * 0.03, 0.1 * 0.6]])
    nights = np.array([[0.7 * 0.95, 0.7 * 0.05], [0.3 * 0.45, 0.3 * 0.55]])
    places = np.array([[0.2, 0.1], [0.15, 0.55]])
    return np.einsum("ah,bc,de,fg->abcdefgh", card_tip, toll_far, nights, places)


def tree_joint():
    """The distribution behind ``tree_like``."""
    joint, grid = np.ones((2,) * len(PARENTS)), np.indices((2,) * len(PARENTS))
    for place, copied in enumerate([0.0, *np.linspace(0.75, 0.35, len(PARENTS) - 1)]):
        parent = grid[PARENTS[place] or 0]
        joint = joint * ((1 - copied) / 2 + copied * (grid[place] == parent) if place else 0.5)
    return joint


def three_levels(users, attributes=8, seed=0):
    """Answers of low, middle or high: one opinion behind all of them, and no level much more common than another."""
    dice = np.random.default_rng(seed)
    opinion = 2 * dice.standard_normal((users, 1)) + dice.standard_normal((users, attributes))
    return np.digitize(opinion, [-0.9, 0.9])


def applicants(users, seed=0):
    """Fifteen yes-or-no attributes; the last is granted to most of those who have four of the first five."""
    dice = np.random.default_rng(seed)
    wealth = dice.standard_normal((users, 1)) + dice.standard_normal((users, 14))
    records = (wealth > np.linspace(0.5, 1.4, 14)).astype(np.int64)
    granted = dice.random(users) < np.where(records[:, :5].sum(axis=1) >= 4, 0.7, 0.115)
    return np.column_stack([records, granted]).astype(np.int8)


def marginal_applicants(users, seed=0):
    """The same with a single combination of the five on which it all depends, granted in 58 of 100 cases."""
    dice = np.random.default_rng(seed)
    wealth = dice.standard_normal((users, 1)) + dice.standard_normal((users, 14))
    records = (wealth > np.linspace(-0.8, 0.8, 14)).astype(np.int64)
    pull = records[:, :5] @ np.array([1.0, 1.0, 1.4, 1.4, 1.8])
    granted = dice.random(users) < 1 / (1 + np.exp(-1.6 * (pull - 6.4)))
    return np.column_stack([records, granted]).astype(np.int8)
