"""Invented people for demonstrations: four attributes that hang together through age.

Nobody real is described; the shares are chosen to look like a survey.
"""

from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints

AGES = range(18, 100)
BROWSERS = {  # shares of the young, the middle-aged and the old
    "Chrome": (52, 47, 38),
    "Safari": (24, 18, 14),
    "Edge": (5, 12, 19),
    "Firefox": (6, 8, 13),
    "Samsung Internet": (3, 6, 8),
    "Opera": (3, 3, 2),
    "Brave": (3, 2, 1),
    "Vivaldi": (1, 1, 1),
    "DuckDuckGo": (1, 1, 1),
    "Arc": (1.2, 0.5, 0.1),
    "Internet Explorer": (0.1, 0.5, 2.4),
    "another one": (0.7, 1, 0.5),
}
DISHES = (
    "pizza", "sushi", "burger", "lasagne", "tacos", "curry", "ramen", "roast chicken", "pad thai",
    "steak", "fish and chips", "dumplings", "falafel", "paella", "risotto", "pho", "carbonara",
    "moussaka", "fried rice", "stew", "biryani", "gyoza", "kebab", "schnitzel", "goulash",
    "gnocchi", "ceviche", "bibimbap", "shakshuka", "tagine", "pierogi", "fondue", "quiche",
    "ratatouille", "chilli", "jambalaya", "couscous", "borscht", "dosa", "laksa", "arepas",
    "empanadas", "okonomiyaki", "poutine", "rendang", "haggis", "feijoada", "injera", "jollof",
    "kimchi", "meatballs", "nasi goreng", "ossobuco", "pancakes", "raclette", "satay", "souvlaki",
    "tempura", "tortilla", "waffles",
)  # fmt: skip
CONFESSION = "drove after drinking"
HOURS = (0.0, 12.0)  # of sleep

QUESTIONS: dict[str, Any] = {
    "browser": tuple(BROWSERS),
    "age": AGES,
    "favourite dish": DISHES,
    CONFESSION: ("yes", "no"),
}


def people(count: int, seed: int = 0) -> dict[str, Any]:
    """Return one column of true values per question; the same seed, the same people."""
    dice = np.random.default_rng(seed)
    ages = dice.choice(np.array(AGES), count, p=_age_shares())
    generations = np.digitize(ages, [35, 60])
    drank = dice.random(count) < np.interp(
        ages, [18, 26, 40, 65, 99], [0.19, 0.31, 0.22, 0.11, 0.03]
    )
    browsers = _drawn(np.array(list(BROWSERS.values())).T, generations, dice)
    dishes = _drawn(_dish_weights(), generations, dice)
    return {
        "browser": [QUESTIONS["browser"][index] for index in browsers],
        "age": ages,
        "favourite dish": [DISHES[index] for index in dishes],
        CONFESSION: np.where(drank, "yes", "no").tolist(),
    }


def sleep(count: int, seed: int = 0) -> Floats:
    """Return hours of sleep: most people around seven and a half, some far less."""
    dice = np.random.default_rng(seed + 1)
    short = dice.random(count) < 0.22
    hours = np.where(short, dice.normal(4.6, 0.7, count), dice.normal(7.6, 0.9, count))
    return np.asarray(hours.clip(0, HOURS[1]))


def _age_shares() -> Floats:
    heights = np.interp(AGES, [18, 30, 45, 60, 75, 99], [1.2, 1.45, 1.3, 1.4, 0.8, 0.05])
    return np.asarray(heights / heights.sum())


def _dish_weights() -> Floats:
    """Return (generations, dishes): each generation likes the dishes near its own favourite."""
    return np.array(
        [1 / (3 + np.abs(np.arange(len(DISHES)) - 2 * generation)) for generation in range(3)]
    )


def _drawn(weights: Floats, generations: Ints, dice: np.random.Generator) -> list[int]:
    """Return one index per person, drawn with the weights of their generation."""
    drawn = np.empty(len(generations), np.int64)
    for generation, row in enumerate(weights):
        members = np.flatnonzero(generations == generation)
        drawn[members] = dice.choice(len(row), len(members), p=row / row.sum())
    chosen: list[int] = drawn.tolist()
    return chosen
