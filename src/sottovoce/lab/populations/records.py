"""People with several attributes, invented to look like data sets that are not included.

Every population returns (users, attributes) of values; the same seed gives the same people.  The
joint distributions behind the populations of zeros and ones are known exactly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats, Ints

TAXI = ("CC", "Toll", "Far", "Night_pick", "Night_drop", "M_pick", "M_drop", "Tip")
PARENTS = (None, 0, 0, 1, 1, 2, 2, 3, 4, 5)
COPIED = (0.0, *np.linspace(0.75, 0.35, len(PARENTS) - 1).tolist())
CLICKED = (
    *(0.607, 0.455, 0.368, 0.2, 0.09, 0.088, 0.079, 0.073),
    *(0.071, 0.066, 0.062, 0.061, 0.058, 0.052, 0.05, 0.048),
)
_LOADING = 0.9  # of the common factor behind clicks, beside noise of variance 1


def record_domain(sizes: Sequence[int]) -> dict[str, range]:
    """Return the domain of records with attributes of these sizes, as a plan takes it."""
    return {f"a{attribute}": range(size) for attribute, size in enumerate(sizes)}


def as_columns(records: Ints) -> dict[str, Ints]:
    """Return the records as a collection takes them: one column for every name."""
    return {f"a{attribute}": column for attribute, column in enumerate(records.T)}


def true_table(records: Ints, sizes: Sequence[int], view: Sequence[int]) -> Floats:
    """Return the true shares of the cells of some attributes."""
    shape = [sizes[attribute] for attribute in view]
    cells = np.zeros(len(records), np.int32)
    for attribute in view:
        cells *= sizes[attribute]
        cells += records[:, attribute].astype(np.int32, copy=False)
    counts = np.bincount(cells, minlength=int(np.prod(shape)))
    return np.asarray((counts / len(records)).reshape(shape))


def movielens_like(users: int, attributes: int, seed: int = 0) -> Ints:
    """Return genres that people rated: one taste for films is behind all of them."""
    generator = np.random.default_rng(seed)
    common = generator.standard_normal((users, 1))
    taste = common + generator.standard_normal((users, attributes))
    return (taste > np.linspace(-1.2, 1.2, attributes)).astype(np.int64)


def taxi_like(users: int, attributes: int = 8, seed: int = 0) -> Ints:
    """Return taxi trips: four pairs of attributes depend on each other, and nothing else.

    More than eight attributes repeat the eight.
    """
    generator = np.random.default_rng(seed)
    card = generator.random(users) < 0.55
    far = generator.random(users) < 0.1
    late = generator.random(users) < 0.3
    tip = generator.random(users) < np.where(card, 0.5, 0.05)
    toll = generator.random(users) < np.where(far, 0.6, 0.03)
    home = generator.random(users) < np.where(late, 0.55, 0.05)
    # twice the pick-up in Manhattan, plus the drop-off
    manhattan = generator.choice(4, users, p=[0.2, 0.1, 0.15, 0.55])
    trips = np.stack([card, toll, far, late, home, manhattan >> 1, manhattan & 1, tip], axis=1)
    return trips.astype(np.int64)[:, np.arange(attributes) % len(TAXI)]


def kosarak_like(users: int, attributes: int, seed: int = 0) -> Ints:
    """Return clicks on pages, of which a few are popular: one factor is behind all of them."""
    generator = np.random.default_rng(seed)
    rare = 0.046 - 0.0008 * np.arange(max(0, attributes - len(CLICKED)))
    shares = np.concatenate([CLICKED, rare])[:attributes]
    common = _LOADING * generator.standard_normal((users, 1))
    pull = common + generator.standard_normal((users, attributes))
    return np.asarray(pull > np.sqrt(1 + _LOADING**2) * _normal().isf(shares), np.int64)


def tree_like(users: int, seed: int = 0) -> Ints:
    """Return ten attributes in a tree: each copies its parent, or is a fair coin."""
    generator = np.random.default_rng(seed)
    columns: list[Ints] = []
    for parent, strength in zip(PARENTS, COPIED, strict=True):
        coins = generator.integers(0, 2, users)
        if parent is None:
            columns.append(coins)
        else:
            copies = generator.random(users) < strength
            columns.append(np.where(copies, columns[parent], coins))
    return np.stack(columns, axis=1)


def three_levels(users: int, attributes: int = 8, seed: int = 0) -> Ints:
    """Return answers of low, middle or high: one opinion is behind all, and no level is rare."""
    generator = np.random.default_rng(seed)
    common = 2 * generator.standard_normal((users, 1))
    opinion = common + generator.standard_normal((users, attributes))
    return np.digitize(opinion, [-0.9, 0.9])


def applicants(users: int, seed: int = 0) -> Ints:
    """Return fifteen yes-or-no attributes.

    The last is granted to most of those who have four of the first five.
    """
    generator = np.random.default_rng(seed)
    common = generator.standard_normal((users, 1))
    wealth = common + generator.standard_normal((users, 14))
    records = (wealth > np.linspace(0.5, 1.4, 14)).astype(np.int64)
    chances = np.where(records[:, :5].sum(axis=1) >= 4, 0.7, 0.115)
    granted = generator.random(users) < chances
    return np.column_stack([records, granted]).astype(np.int8)


def marginal_applicants(users: int, seed: int = 0) -> Ints:
    """Return the same with one combination of the five that decides, granted 58 times in 100."""
    generator = np.random.default_rng(seed)
    common = generator.standard_normal((users, 1))
    wealth = common + generator.standard_normal((users, 14))
    records = (wealth > np.linspace(-0.8, 0.8, 14)).astype(np.int64)
    pull = records[:, :5] @ np.array([1.0, 1.0, 1.4, 1.4, 1.8])
    granted = generator.random(users) < 1 / (1 + np.exp(-1.6 * (pull - 6.4)))
    return np.column_stack([records, granted]).astype(np.int8)


def one_factor_joint(thresholds: Sequence[float] | Floats, loading: float = 1.0) -> Floats:
    """Return the distribution of bits that are 1 above a threshold.

    What must exceed the threshold is a common factor plus noise of each bit's own.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(81)
    chances = _normal().sf(np.asarray(thresholds)[:, None], loading * nodes)
    joint: Floats = weights / weights.sum()
    for chance in chances:
        joint = joint[..., None, :] * np.stack([1 - chance, chance])
    return np.asarray(joint.sum(axis=-1))


def movielens_joint(attributes: int) -> Floats:
    """Return the distribution behind ``movielens_like``."""
    return one_factor_joint(np.linspace(-1.2, 1.2, attributes))


def kosarak_joint(attributes: int = 8) -> Floats:
    """Return the distribution behind ``kosarak_like``, of up to sixteen attributes."""
    thresholds = np.sqrt(1 + _LOADING**2) * _normal().isf(CLICKED[:attributes])
    return one_factor_joint(thresholds, _LOADING)


def taxi_joint() -> Floats:
    """Return the distribution behind ``taxi_like``, of its eight attributes."""
    card_tip = np.array([[0.45 * 0.95, 0.45 * 0.05], [0.55 * 0.5, 0.55 * 0.5]])
    toll_far = np.array([[0.9 * 0.97, 0.1 * 0.4], [0.9 * 0.03, 0.1 * 0.6]])
    nights = np.array([[0.7 * 0.95, 0.7 * 0.05], [0.3 * 0.45, 0.3 * 0.55]])
    manhattan = np.array([[0.2, 0.1], [0.15, 0.55]])
    pairs = (card_tip, toll_far, nights, manhattan)
    return np.asarray(np.einsum("ah,bc,de,fg->abcdefgh", *pairs))


def tree_joint() -> Floats:
    """Return the distribution behind ``tree_like``."""
    shape = (2,) * len(PARENTS)
    joint = np.full(shape, 0.5)
    grid = np.indices(shape)
    for attribute in range(1, len(PARENTS)):
        equal = grid[attribute] == grid[PARENTS[attribute] or 0]
        copied = COPIED[attribute]
        joint = joint * ((1 - copied) / 2 + copied * equal)
    return joint


def _normal() -> Any:
    """Return the normal distribution of SciPy."""
    return optional("scipy.stats", "server").norm
