"""Invented people with something to discover: pages they visit, words they type, songs they keep.

Nobody real is described.  Frequencies fall by rank as they do in life: a few things are common,
most are rare.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.maths.ragged import Baskets

SITES = (
    "wikipedia.org", "youtube.com", "news.example", "weather.example", "maps.example",
    "mail.example", "bank.example", "shop.example", "recipes.example", "jobs.example",
    "games.example", "films.example", "radio.example", "sport.example", "travel.example",
    "health.example",
)  # fmt: skip
PAGES = (
    "",
    "/a",
    "/en",
    "/de",
    "/top",
    "/live",
    "/new",
    "/help",
    "/login",
    "/cart",
    "/map",
    "/faq",
)

NEW_WORDS = (
    "doomscroll", "shrinkflation", "situationship", "rizz", "deepfake", "vibecoding", "quishing",
    "goblincore", "touchgrass", "nepobaby", "copium", "sleepmaxxing", "promptcraft",
    "greenhushing", "girlmath", "funemployed", "bedrotting", "softlaunch", "sidequest",
    "microretirement",
)  # fmt: skip
_SYLLABLES = (
    "ba",
    "co",
    "de",
    "fi",
    "gu",
    "ha",
    "ji",
    "ko",
    "lu",
    "me",
    "no",
    "pa",
    "ri",
    "so",
    "tu",
    "va",
    "wo",
    "za",
)

GENRES = ("Pop", "Rock", "Jazz", "Techno", "Folk", "Opera")
SONGS = tuple(f"{genre} no. {number}" for genre in GENRES for number in range(1, 51))


def visits(count: int, seed: int = 0) -> list[str]:
    """Return the page that each of so many people visits most."""
    dice = np.random.default_rng(seed)
    pages = [f"{site}{page}" for page in PAGES for site in SITES]
    return [pages[index] for index in dice.choice(len(pages), count, p=_falling(len(pages), 1.3))]


def typed_words(count: int, seed: int = 0) -> list[str]:
    """Return one word that each of so many people typed and no dictionary has.

    Some are new words, some are typing errors.
    """
    dice = np.random.default_rng(seed)
    new = dice.choice(len(NEW_WORDS), count, p=_falling(len(NEW_WORDS), 1.0))
    slips = dice.integers(len(_SYLLABLES), size=(count, 4))
    slipped = dice.random(count) < 0.4
    return [
        "".join(_SYLLABLES[index] for index in slips[person])
        if slipped[person]
        else NEW_WORDS[new[person]]
        for person in range(count)
    ]


def playlists(count: int, seed: int = 0) -> Baskets:
    """Return the songs that each of so many people keep.

    They are mostly of one genre, and mostly the well known ones.
    """
    dice = np.random.default_rng(seed)
    sizes = 1 + dice.poisson(5, count)
    favourite = np.repeat(dice.choice(len(GENRES), count, p=_falling(len(GENRES), 0.7)), sizes)
    strayed = dice.random(len(favourite)) < 0.15
    genres = np.where(strayed, dice.integers(len(GENRES), size=len(favourite)), favourite)
    each = len(SONGS) // len(GENRES)
    return Baskets.of(sizes, genres * each + dice.choice(each, len(genres), p=_falling(each, 1.1)))


def _falling(count: int, exponent: float) -> Floats:
    weights = 1.0 / np.arange(1, count + 1) ** exponent
    return np.asarray(weights / weights.sum())
