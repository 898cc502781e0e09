"""The real tables can be read, are what their README says, and make populations."""

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.populations import real_tables
from sottovoce.lab.populations.real_tables import (
    BASKETS,
    COUNTS,
    accidents,
    baskets,
    holders,
    search_queries,
    value_counts,
)

FOLDER = Path(real_tables.__file__).parents[1] / "data"


def test_every_file_is_described_and_all_are_small():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    tables = sorted(FOLDER.glob("*.tsv.gz"))
    assert {path.name.removesuffix(".tsv.gz") for path in tables} == {
        *COUNTS,
        *BASKETS,
        *("accidents", "adult", "health"),
    }
    for path in tables:
        assert f"`{path.name.removesuffix('.tsv.gz')}`" in readme
    assert sum(path.stat().st_size for path in tables) < 1_000_000


@pytest.mark.parametrize("name", COUNTS)
def test_counts_fall_and_values_are_different_texts(name):
    counts = value_counts(name)
    falling = list(counts.values())
    assert len(counts) >= 4_000
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] > 0
    assert all(value.strip() == value and value.isprintable() for value in counts)


def test_some_known_values():
    assert list(value_counts("surnames"))[:2] == ["Smith", "Johnson"]
    assert next(iter(value_counts("packages"))) == "libc6"
    assert len(accidents()[1]) == 26_217


def test_holders_are_everybody_in_proportion():
    counts = value_counts("english_words")
    people = holders(counts, 100_000)
    assert sum(people.values()) == 100_000
    total = sum(counts.values())
    for value, count in people.items():
        assert abs(count - 100_000 * counts[value] / total) < 1
    assert 0 not in people.values()


@pytest.mark.parametrize("name", BASKETS)
def test_baskets_hold_listed_items(name):
    items, held = baskets(name)
    assert held.sizes.min() >= 0
    assert held.sizes.mean() > 2
    assert held.items.max() < len(items)
    assert len(set(items)) == len(items)


def test_accidents_are_a_table_of_zeros_and_ones_whose_attributes_depend_on_each_other():
    names, table = accidents()
    assert table.shape == (26_217, len(names)) == (26_217, 16)
    assert set(np.unique(table)) == {0, 1}
    younger, older = names.index("age 40 or more"), names.index("age 60 or more")
    assert (table[:, older] <= table[:, younger]).all()


def test_search_queries_have_many_words_and_few_sites():
    counts = search_queries(20_000, seed=1)
    assert sum(counts.values()) == 20_000
    assert next(iter(counts)) == "google"
    assert search_queries(20_000, seed=1) == counts
    assert any(query.count(" ") == 2 for query in counts)
    assert sum(count == 1 for count in counts.values()) > 5_000


def test_unknown_tables_are_refused():
    for read in (value_counts, baskets):
        with pytest.raises(ParameterError, match="`name`"):
            read("everything")
