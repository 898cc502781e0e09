"""People with several attributes of two values, invented to look like data sets that do not travel with this code.

Every generator returns (users, attributes) of zeros and ones; the same seed, the same people.
"""

import numpy as np
from scipy.stats import norm

TAXI = ("CC", "Toll", "Far", "Night_pick", "Night_drop", "M_pick", "M_drop", "Tip")
PARENTS = (None, 0, 0, 1, 1, 2, 2, 3, 4, 5)
CLICKED = (0.607, 0.455, 0.368, 0.2, 0.09, 0.088, 0.079, 0.073, 0.071, 0.066, 0.062, 0.061, 0.058, 0.052, 0.05, 0.048)


def movielens_like(users, attributes, seed=0):
    """Genres that people rated: one taste for films behind all of them, so that all pairs go together."""
    dice = np.random.default_rng(seed)
    taste = dice.standard_normal((users, 1)) + dice.standard_normal((users, attributes))
    return (taste > np.linspace(-1.2, 1.2, attributes)).astype(np.int64)


def taxi_like(users, attributes=8, seed=0):
    """Taxi trips: four pairs of attributes that hang together, and nothing else; more attributes repeat the eight."""
    dice = np.random.default_rng(seed)
    card, far, late = dice.random(users) < 0.55, dice.random(users) < 0.1, dice.random(users) < 0.3
    tip = dice.random(users) < np.where(card, 0.5, 0.05)
    toll = dice.random(users) < np.where(far, 0.6, 0.03)
    home = dice.random(users) < np.where(late, 0.55, 0.05)
    places = dice.choice(4, users, p=[0.2, 0.1, 0.15, 0.55])  # twice the pick-up in Manhattan, plus the drop-off
    trips = np.stack([card, toll, far, late, home, places >> 1, places & 1, tip], axis=1).astype(np.int64)
    return trips[:, np.arange(attributes) % len(TAXI)]


def kosarak_like(users, attributes, seed=0):
    """Clicks on pages, a few of them popular: one factor behind all, with loading 0.9 beside noise of variance 1."""
    dice, loading = np.random.default_rng(seed), 0.9
    shares = np.concatenate([CLICKED, 0.046 - 0.0008 * np.arange(max(0, attributes - len(CLICKED)))])[:attributes]
    pull = loading * dice.standard_normal((users, 1)) + dice.standard_normal((users, attributes))
    return (pull > np.sqrt(1 + loading**2) * norm.isf(shares)).astype(np.int64)


def tree_like(users, seed=0):
    """Ten attributes in a tree: each copies its parent, the first ones more often than the last, or is a fair coin."""
    dice = np.random.default_rng(seed)
    copied = [0.0, *np.linspace(0.75, 0.35, len(PARENTS) - 1)]
    columns = []
    for parent, strength in zip(PARENTS, copied, strict=True):
        coins = dice.integers(0, 2, users)
        columns.append(coins if parent is None else np.where(dice.random(users) < strength, columns[parent], coins))
    return np.stack(columns, axis=1)


def held(columns):
    """The records as a collection takes them: one column for every name."""
    return {f"a{place}": column for place, column in enumerate(columns.T)}


def domain(attributes):
    """The domain of such records."""
    return {f"a{place}": range(2) for place in range(attributes)}


def shares(columns, view):
    """The true table of a view."""
    cells = np.zeros(len(columns), np.int32)
    for place in view:
        cells *= 2
        cells += columns[:, place].astype(np.int32)
    return (np.bincount(cells, minlength=1 << len(view)) / len(columns)).reshape((2,) * len(view))
