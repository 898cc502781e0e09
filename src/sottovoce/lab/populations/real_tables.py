"""Real counts and rows: words, surnames, packages, baskets, crashes; and search queries like real
ones.

The tables are in ``lab/data``; its README names the source and the licence of each.  A shape of the
real world has what invented populations lack: frequent words that share their beginning with nobody
famous, texts of many lengths, items that go together.

Logs of search queries may not be shipped.  ``search_queries`` makes counts of that shape: a few
names of sites are asked for by many (navigation), everything else is one to three words.
"""

import gzip
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np

from sottovoce.arrays import Values
from sottovoce.core.settings import choice, whole
from sottovoce.maths.ragged import Baskets

COUNTS = (
    "english_words",
    "german_words",
    "russian_words",
    "arabic_words",
    "japanese_words",
    "surnames",
    "packages",
)
BASKETS = ("dependencies",)
_SITE_SHARE = 0.25  # of all queries
_SITES = (
    "google", "yahoo", "ebay", "myspace", "mapquest", "amazon", "yahoo mail", "weather", "hotmail",
    "walmart", "bank of america", "craigslist", "msn", "dictionary", "lyrics", "home depot",
    "target", "wikipedia", "best buy", "southwest airlines", "american idol", "cnn", "espn",
    "white pages", "netflix", "expedia",
)  # fmt: skip


@cache
def value_counts(name: str) -> dict[str, int]:
    """Return how often each value of a table occurs, the most frequent first.

    >>> list(value_counts("english_words"))[:3]
    ['the', 'to', 'and']
    """
    choice("name", name, COUNTS)
    counts = {}
    for line in _lines(name):
        value, count = line.split("\t")
        counts[value] = int(count)
    return counts


def holders(counts: Mapping[str, int], users: int) -> dict[str, int]:
    """Return how many of so many users hold each value, in proportion to its count.

    Shares are rounded down, and the largest remainders get one more, so that they sum to ``users``.

    >>> holders({"a": 2, "b": 1}, 10)
    {'a': 7, 'b': 3}
    """
    whole("users", users, 1)
    weights = np.array(list(counts.values()), np.float64)
    shares = users * weights / weights.sum()
    people = shares.astype(np.int64)
    by_remainder = np.argsort(people - shares, kind="stable")
    people[by_remainder[: users - int(people.sum())]] += 1
    pairs = zip(counts, people.tolist(), strict=True)
    return {value: count for value, count in pairs if count}


def search_queries(queries: int, seed: int = 0) -> dict[str, int]:
    """Return how often each query is asked, the most frequent first.

    A quarter asks for a site, in proportion to 1 / rank.  The others are one, two or three English
    words with equal probability, each drawn by its own frequency among those of three letters or
    more.
    """
    generator = np.random.default_rng(seed)
    words = {word: count for word, count in value_counts("english_words").items() if len(word) > 2}
    chances = np.array(list(words.values()), np.float64)
    listed = np.array(list(words), object)
    navigation = int(generator.binomial(queries, _SITE_SHARE))
    ranks = 1 / np.arange(1, len(_SITES) + 1)
    asked = generator.multinomial(navigation, ranks / ranks.sum()).tolist()
    counts = Counter(dict(zip(_SITES, asked, strict=True)))
    lengths = generator.integers(1, 4, queries - navigation)
    drawn = generator.choice(len(listed), (len(lengths), 3), p=chances / chances.sum())
    for row, length in zip(drawn, lengths, strict=True):
        counts[" ".join(listed[row[:length]])] += 1
    return dict(counts.most_common())


@cache
def baskets(name: str) -> tuple[tuple[str, ...], Baskets]:
    """Return the names of all items, and the items of every basket of a table."""
    choice("name", name, BASKETS)
    texts = [row.split() for row in _lines(name)]
    items = tuple(sorted({item for row in texts for item in row}))
    number_of = {item: number for number, item in enumerate(items)}
    held = [[number_of[item] for item in row] for row in texts]
    sizes = [len(row) for row in held]
    return items, Baskets.of(sizes, [item for row in held for item in row])


@cache
def accidents() -> tuple[tuple[str, ...], Values]:
    """Return the names of 16 attributes, and a row of 0 and 1 for everybody: (people, 16)."""
    head, *rows = _lines("accidents")
    patterns = []
    people = []
    for row in rows:
        bits, count = row.split("\t")
        patterns.append([int(bit) for bit in bits])
        people.append(int(count))
    return tuple(head.split("\t")), np.repeat(np.array(patterns, np.int64), people, axis=0)


def _lines(name: str) -> list[str]:
    packed = files("sottovoce.lab").joinpath("data", f"{name}.tsv.gz").read_bytes()
    return gzip.decompress(packed).decode().splitlines()
