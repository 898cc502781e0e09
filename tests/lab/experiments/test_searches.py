"""The experiment on real texts: what it measures, in the small."""

from math import isnan

import pytest

from sottovoce.domains.bits import Bits
from sottovoce.lab.experiments import searches
from sottovoce.lab.experiments.measured_once import MeasuredOnce
from sottovoce.lab.experiments.searches import (
    SearchScore,
    ValueShape,
    drawn_value_search,
    gain,
    judged,
    number_rows,
    population,
    trie_rows,
    trie_search,
    word_shapes,
)
from sottovoce.lab.simulate import simulate
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.tasks.task import Task


def test_populations_are_texts_as_devices_cut_them():
    held = population("english words", 5_000, 6)
    assert sum(held.values()) == 5_000
    assert max(len(text.encode()) for text in held) == 6
    assert list(held.values()) == sorted(held.values(), reverse=True)


def test_the_gain_is_a_mean_with_students_interval():
    ours = [SearchScore(score, 0.0, 0.0, 0, 0) for score in (0.9, 0.8, 1.0)]
    theirs = [SearchScore(score, 0.0, 0.0, 0, 0) for score in (0.5, 0.5, 0.5)]
    mean, half_width = gain(ours, theirs)
    assert mean == pytest.approx(0.4)
    assert half_width == pytest.approx(4.30 * 0.1 / 3**0.5)


def test_a_search_that_finds_everything_is_judged_so():
    held = {"tea": 900, "oat": 600}
    plan = HeavyHitters(searches.Strings(3), 2)
    people = [text for text, count in held.items() for _ in range(count)]
    answer = simulate(Task("words", plan, 8.0), people, seed=1)
    score = judged(plan, 8.0, held, answer)
    assert (score.f1, score.ncr) == (1.0, 1.0)
    assert score.error < 100
    assert score.kept_promises == score.promised == 2
    other = judged(plan, 8.0, {"fig": 900, "rye": 600}, answer)
    assert other.f1 == 0.0
    assert isnan(other.error)


def test_the_held_out_shapes_are_most_of_them():
    assert set(searches.TUNED) < set(searches.SHAPES)
    assert len(searches.SHAPES) - len(searches.TUNED) == 7


def test_random_numbers_are_held_as_often_as_the_words():
    words, numbers = word_shapes(5_000).values()
    assert words.domain.bits == numbers.domain.bits == 48
    assert list(words.held.values()) == list(numbers.held.values())
    assert list(words.labelled) == list(words.held)
    first = next(iter(numbers.held))
    assert numbers.labelled[f"0x{first:012x}"] == numbers.held[first]


def test_values_of_all_kinds_are_judged_by_their_labels():
    held = (900, 600, 300)
    texts = ValueShape(searches.Strings(2), dict(zip(("te", "oa", "fi"), held, strict=True)))
    numbers = ValueShape(Bits(16), dict(zip((7, 65_535, 257), held, strict=True)))
    for shape in (texts, numbers):
        plan = HeavyHitters(shape.domain, 3)
        assert drawn_value_search(plan, 10.0, shape, 1).f1 == 1.0
        assert trie_search(10.0, shape, 1).f1 > 0.5


def test_searches_that_are_kept_are_not_run_again(tmp_path):
    """Every search is there already, so that only the lines are written."""

    class Kept(MeasuredOnce):
        names = ()

        def piece(self, name, measure):
            self.names = (*self.names, name)
            return {"f1": 0.5, "ncr": 0.25, "error": 10.0, "promised": 2, "kept_promises": 1}

    kept = Kept(tmp_path / "pieces.jsonl")
    rows = [*number_rows(kept, 2), *trie_rows(kept, 2)]
    assert "| random numbers | 10 | 0.50 / 0.25 | 0.50 / 0.25 | +0.00 ± 0.00 | 10 | 10 |" in rows
    assert len(rows) == 12
    assert len(set(kept.names)) == len(kept.names) == 60
