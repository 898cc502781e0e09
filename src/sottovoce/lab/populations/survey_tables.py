"""Surveys with many attributes: real ones that may be shipped, and the shape of two that may not.

``adult`` and ``health`` are real; ``lab/data/README.md`` names their sources and licences.  Two
tables that papers on joint tables use cannot be shipped.  Their shape is invented here:

    disability_items   16 items of yes and no about daily life, as in the National Long-Term Care
                       Survey: all follow how ill somebody is, the last four also how alert.  An
                       item is yes if 0.8 illness + c alertness + noise exceeds a bound; c is 0.1,
                       and 0.45 for the last four.
    page_visits        which of 17 categories of pages somebody visited on the site of a newspaper,
                       as in the log of msnbc.com: about its shares of visitors, a third for the
                       front page and less than one in a hundred for some, and dependence by three
                       interests and by how much somebody reads.

Both are threshold models: every attribute is a normal number, cut where its share demands.
"""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.settings import choice
from sottovoce.maths.normal import upper_quantile

REAL = ("adult", "health")
DISABILITY_USERS = 21_574
PAGE_USERS = 100_000
# Shares of people who need help with, or cannot do, each of 16 activities.
_DISABLED = (
    0.04, 0.30, 0.24, 0.12, 0.40, 0.22, 0.25, 0.70,
    0.17, 0.18, 0.20, 0.35, 0.36, 0.22, 0.10, 0.15,
)  # fmt: skip
# Shares of visitors of 17 categories: front page, news, tech, local, opinion, ...
_VISITED = (
    0.32, 0.17, 0.12, 0.14, 0.10, 0.21, 0.08, 0.10, 0.10,
    0.09, 0.08, 0.07, 0.11, 0.07, 0.006, 0.04, 0.004,
)  # fmt: skip
_READING = 0.35  # how far all categories follow how much somebody reads
_INTEREST = 0.45


@dataclass(frozen=True, eq=False)
class SurveyTable:
    """Records of people: names and numbers of values of attributes, and (people, attributes)."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    records: Ints

    def people(self, count: int, seed: int = 0) -> "SurveyTable":
        """Return so many people, drawn without replacement."""
        chosen = np.random.default_rng(seed).permutation(len(self.records))[:count]
        return SurveyTable(self.names, self.sizes, self.records[chosen])


@cache
def survey(name: str) -> SurveyTable:
    """Return one of the real tables.

    >>> survey("health").records.shape
    (20190, 10)
    """
    choice("name", name, REAL)
    packed = files("sottovoce.lab").joinpath("data", f"{name}.tsv.gz").read_bytes()
    head, *lines = gzip.decompress(packed).decode().splitlines()
    rows = []
    counts = []
    for line in lines:
        values, _, count = line.partition("\t")
        rows.append([int(value, 36) for value in values])
        counts.append(int(count or 1))
    records = np.repeat(np.array(rows, np.int64), counts, axis=0)
    sizes = tuple(int(most) + 1 for most in records.max(axis=0))
    return SurveyTable(tuple(head.split("\t")), sizes, records)


def binary_adult() -> SurveyTable:
    """Return the census with 13 attributes of yes and no."""
    real = survey("adult")
    column = dict(zip(real.names, real.records.T, strict=True))
    bits = {
        "35 or more": column["age"] >= 2,
        "55 or more": column["age"] >= 4,
        "private employer": column["workclass"] == 4,
        "degree": np.isin(column["education"], [9, 10, 12, 14]),
        "high school": column["education"] == 11,
        "married": column["marital"] == 2,
        "never married": column["marital"] == 4,
        "professional": np.isin(column["occupation"], [4, 10, 12]),
        "husband": column["relationship"] == 0,
        "white": column["race"] == 4,
        "male": column["sex"] == 1,
        "41 hours or more": column["hours"] >= 3,
        "income above 50,000": column["income"] == 1,
    }
    records = np.stack(list(bits.values()), axis=1).astype(np.int64)
    return SurveyTable(tuple(bits), (2,) * len(bits), records)


def disability_items(users: int = DISABILITY_USERS, seed: int = 0) -> SurveyTable:
    """Return invented people like those of a survey of long-term care."""
    generator = np.random.default_rng(seed)
    items = len(_DISABLED)
    alertness = np.where(np.arange(items) < items - 4, 0.1, 0.45)
    loadings = np.stack([np.full(items, 0.8), alertness], axis=1)
    return _threshold_model("item", _DISABLED, loadings, users, generator)


def page_visits(users: int = PAGE_USERS, seed: int = 0) -> SurveyTable:
    """Return invented visitors of the site of a newspaper."""
    generator = np.random.default_rng(seed)
    categories = len(_VISITED)
    interests = np.zeros((categories, 3))
    for category in range(categories):
        interests[category, category % 3] = _INTEREST
    loadings = np.column_stack([np.full(categories, _READING), interests])
    return _threshold_model("page", _VISITED, loadings, users, generator)


def _threshold_model(
    name: str,
    shares: Sequence[float],
    loadings: Floats,
    users: int,
    generator: np.random.Generator,
) -> SurveyTable:
    """Return attributes of yes and no with these shares; ``loadings`` is (attributes, factors)."""
    common = generator.standard_normal((users, loadings.shape[1])) @ loadings.T
    own = np.sqrt(1 - (loadings**2).sum(axis=1))
    inclination = common + own * generator.standard_normal(common.shape)
    bounds = np.array([upper_quantile(share) for share in shares])
    records = (inclination > bounds).astype(np.int64)
    names = tuple(f"{name}{number}" for number in range(len(shares)))
    return SurveyTable(names, (2,) * len(shares), records)
