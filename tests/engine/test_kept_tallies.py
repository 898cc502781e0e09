"""Tallies are kept up to a number of cells, and made again where they were forgotten."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.tally import Tally
from sottovoce.engine import kept_tallies
from sottovoce.engine.kept_tallies import KeptTallies
from sottovoce.tasks.question import Address


def tally_of(cells):
    return Tally("a mechanism", 1, {"support": np.zeros(cells, np.int64)})


def cells_of(kept):
    return sum(array.size for tally in kept.values() for array in tally.counts.values())


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(kept_tallies, "MAX_CELLS", 100)


def test_tallies_are_kept_as_long_as_they_fit(few):
    kept = KeptTallies()
    for member in range(10):
        kept.keep({Address(0, member): tally_of(10)})
    assert len(kept) == 10
    kept.keep({Address(0, 10): tally_of(10)})
    assert list(kept) == [Address(0, 10)]
    assert list(KeptTallies(kept)) == [Address(0, 10)]


def test_tallies_that_were_made_together_are_kept_together_however_many(few):
    kept = KeptTallies()
    kept.keep({Address(0, member): tally_of(60) for member in range(3)})
    assert len(kept) == 3
    kept.keep({Address(0, 3): tally_of(1)})
    assert list(kept) == [Address(0, 3)]


def test_answers_are_equal_and_tallies_bounded_where_few_are_kept(monkeypatch):
    """A table of many layers, counted column by column."""
    dice = np.random.default_rng(2)
    plan = sv.Table({"a": range(16), "b": range(16), "c": range(16)}, fanout=4)
    held = {name: dice.integers(0, 16, 3_000) for name in "abc"}
    names = [f"people.{name}" for name in "abc"]
    task = sv.Task("t", plan, 3.0)

    wanted = sv.simulate(task, held, seed=4)
    totals = [wanted[name].estimate.totals for name in names]
    errors = [wanted[name].estimate.errors for name in names]
    all_cells = cells_of(wanted.collected.tallied)

    most = 16**3 + 100  # the layer of all three columns, and a little
    assert most < all_cells / 2
    monkeypatch.setattr(kept_tallies, "MAX_CELLS", most)
    found = sv.simulate(task, held, seed=4)
    sizes = []
    plain = KeptTallies.keep

    def noted(self, tallies):
        plain(self, tallies)
        sizes.append(cells_of(self))

    monkeypatch.setattr(KeptTallies, "keep", noted)
    for name, total, error in zip(names, totals, errors, strict=True):
        assert np.array_equal(found[name].estimate.totals, total)
        assert np.array_equal(found[name].estimate.errors, error)
    assert 16**3 <= max(sizes) <= most
    assert len(sizes) > len(wanted.collected.tallied), "some are tallied again"
