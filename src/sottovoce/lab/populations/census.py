"""An invented census: eight attributes that hang together, for trying out joint statistics.

Nobody real is described; the shares are chosen to look like a survey.
"""

import numpy as np

from sottovoce.arrays import Floats, Ints

SCHEMA: dict[str, tuple[str, ...]] = {
    "age": ("18-29", "30-44", "45-59", "60-74", "75+"),
    "sex": ("female", "male"),
    "school": ("primary", "secondary", "trade", "university"),
    "work": ("none", "part-time", "full-time", "own business"),
    "income": ("low", "middle", "high"),
    "married": ("no", "yes"),
    "children": ("0", "1", "2", "3+"),
    "commute": ("none", "walk", "bus or train", "car"),
}
_AGE = (0.19, 0.26, 0.26, 0.2, 0.09)
_SCHOOL = ((5, 50, 20, 25), (8, 36, 26, 30), (14, 36, 30, 20), (28, 34, 26, 12), (45, 30, 18, 7))
_WORK = ((25, 25, 45, 5), (12, 20, 58, 10), (14, 18, 55, 13), (70, 12, 13, 5), (96, 2, 1, 1))
_MARRIED = (0.12, 0.58, 0.66, 0.62, 0.45)
_CHILDREN = (
    (92, 6, 2, 0),
    (70, 16, 10, 4),
    (30, 26, 30, 14),
    (12, 24, 40, 24),
)  # unmarried young, old; married young, old


def census(count: int, seed: int = 0) -> dict[str, list[str]]:
    """Return one column of true values per attribute; the same seed, the same people."""
    dice = np.random.default_rng(seed)
    age = dice.choice(5, count, p=_AGE)
    sex = dice.integers(2, size=count)
    school = _drawn(np.array(_SCHOOL, float), age, dice)
    work = _drawn(np.array(_WORK, float), age, dice)
    married = (dice.random(count) < np.array(_MARRIED)[age]).astype(np.int64)
    children = _drawn(np.array(_CHILDREN, float), 2 * married + (age > 0), dice)
    rank = school / 3 + np.array([0, 0.5, 1.3, 1.4])[work] + 0.25 * sex + dice.normal(0, 0.5, count)
    income = np.digitize(rank, [0.9, 1.9])
    roads = np.array([[90, 8, 1, 1], [10, 25, 35, 30], [6, 14, 35, 45], [35, 15, 10, 40]], float)
    columns = (age, sex, school, work, income, married, children, _drawn(roads, work, dice))
    return {
        name: [SCHEMA[name][value] for value in column.tolist()]
        for name, column in zip(SCHEMA, columns, strict=True)
    }


def _drawn(weights: Floats, given: Ints, dice: np.random.Generator) -> Ints:
    bounds = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    chosen: Ints = np.minimum(
        (dice.random(len(given))[:, None] >= bounds[given]).sum(axis=1), weights.shape[1] - 1
    )
    return chosen
