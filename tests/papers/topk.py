"""What the experiments on adaptive top k share: frequencies of items, the three schemes, and how well each did.

Items come in a new random order in every run: equal rates are told apart by order, and that must not be the true one.
"""

import numpy as np

from sottovoce.lab.baselines import arbs
from sottovoce.lab.truth import metrics
from sottovoce.maths.ragged import Baskets

_ITEMS = np.arange(1, 101)
_MIDDLES = (_ITEMS - 0.5) / 100
_DENSITY = _MIDDLES * (1 - _MIDDLES) ** 4  # of Beta(2, 5), but for a constant

LINEAR = 0.3 * _ITEMS / 100
LINEAR45 = _ITEMS / 100
BETA = 0.3 * _DENSITY / _DENSITY.max()
WORDS = np.array(
    [
        0.566, 0.454, 0.438, 0.416, 0.413, 0.402, 0.401, 0.397, 0.356, 0.282, 0.227, 0.182, 0.175,
        0.161, 0.159, 0.136, 0.13, 0.101, 0.084, 0.083, 0.062, 0.026, 0.018, 0.013, 0.012, 0.012,
    ]
)  # fmt: skip
KOSARAK = 0.6 * np.arange(1, 41_271.0) ** -0.96
LAPLACE = 0.95 * np.exp(-np.arange(9883) / 61)

USERS = 10_000
SCHEMES = ("uniform", "arbs", "arbsf")


def found(scheme, frequencies, sought, epsilon, dice, *, users=USERS, rounds=20):
    """What is known in the end of one run."""
    if scheme == "uniform":
        return arbs.uniform(frequencies, users, sought, epsilon, dice)
    return arbs.drawn(frequencies, users, sought, epsilon, dice, rounds=rounds, even=scheme == "arbsf").last


def scores(frequencies, asked, epsilon):
    """Hit rate, NCR and the mean squared error over the true top, misses counting as nothing found."""
    top, guessed = np.argsort(-frequencies)[: asked.sought].tolist(), arbs.estimated(asked, epsilon)
    chosen = np.flatnonzero(asked.top).tolist()
    error = metrics.top_error({item: frequencies[item] for item in top}, {item: guessed[item] for item in chosen})
    return metrics.f1(top, chosen), metrics.ncr(top, chosen), error


def runs(scheme, frequencies, sought, epsilon, count, seed, **rest):
    """(count, 3): the scores of so many runs."""
    dice = np.random.default_rng([seed, SCHEMES.index(scheme)])
    orders = (dice.permutation(frequencies) for _ in range(count))
    return np.array([scores(order, found(scheme, order, sought, epsilon, dice, **rest), epsilon) for order in orders])


def mean(values):
    """Means over the runs and their standard errors."""
    values = np.asarray(values)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def pruned_runs(scheme, frequencies, sought, epsilon, count, seed, *, users, rounds):
    """(count, 3): the scores where half of the users first leave ten times as many items as are sought."""
    dice = np.random.default_rng([seed, SCHEMES.index(scheme)])
    return np.array(
        [_pruned(scheme, dice.permutation(frequencies), sought, epsilon, dice, users, rounds) for _ in range(count)]
    )


def _pruned(scheme, frequencies, sought, epsilon, dice, users, rounds):
    kept = arbs.pruned(frequencies, users // 2, 10 * sought, epsilon, dice)
    asked = found(scheme, frequencies[kept], sought, epsilon, dice, users=users - users // 2, rounds=rounds)
    guessed, top = arbs.estimated(asked, epsilon), np.argsort(-frequencies)[:sought].tolist()
    chosen = {int(kept[place]): guessed[place] for place in np.flatnonzero(asked.top)}
    truth = {item: frequencies[item] for item in top}
    return metrics.f1(top, list(chosen)), metrics.ncr(top, list(chosen)), metrics.top_error(truth, chosen)


def people(frequencies, users, dice):
    """Sets of so many people who have items independently."""
    held = dice.random((users, len(frequencies))) < frequencies
    return Baskets.of(held.sum(axis=1), np.nonzero(held)[1])
