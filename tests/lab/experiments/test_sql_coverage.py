"""Random worlds and queries: intervals hold the truth as often as they say."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.lab.experiments import sql_coverage
from sottovoce.lab.experiments.measured_once import MeasuredOnce
from sottovoce.lab.experiments.sql_coverage import SqlCoverage, by, noisy, worlds

LEAST, MOST = 0.94, 0.97


@pytest.fixture(scope="module")
def few():
    return [each for world in worlds(3, 12) for each in world.observed(3)]


def test_a_world_is_the_same_for_the_same_seed():
    first, second = (next(worlds(1, 2)) for _ in range(2))
    assert [each.text for each in first.trials(5)] == [each.text for each in second.trials(5)]
    assert (first.columns["people"]["age"] == second.columns["people"]["age"]).all()


def test_worlds_differ_in_epsilon_tables_and_plan():
    every = list(worlds(30, 2))
    crossed = {(world.join, world.epsilon, world.kind) for world in every}
    assert len(crossed) == 30
    assert {world.kind for world in every} == set(sql_coverage.PLANS)
    assert {world.has_dates for world in every} == {True, False}


def test_queries_are_written_in_every_way():
    trials = [trial for world in worlds(12, 2) for trial in world.trials(20)]
    forms = {"plain", "WITH", "inner query", "LEFT JOIN of people", "LEFT JOIN of a list", "HAVING"}
    assert {trial.form for trial in trials} == forms
    asked = {number.kind for trial in trials for number in trial.measured}
    assert {"MIN", "MAX", "range", "dates", "CASE", "public MEDIAN", "formula"} <= asked


def narrowed(each):
    """Return a number with an interval of less than half the length."""
    low, high = (each.value + 0.45 * (end - each.value) for end in (each.low, each.high))
    return each if each.unstable else replace(each, low=low, high=high)


def test_a_few_worlds_are_covered_and_narrower_intervals_are_caught(few):
    """Numbers of one query depend on each other, so the window is calibrated, not derived."""
    found = [each for each in noisy(few) if each.aggregate not in sql_coverage.DISCRETE]
    overall = SqlCoverage.of(found)
    assert overall.figures > 200
    assert 0.92 < overall.covered <= 0.99
    assert SqlCoverage.of(few).certain_and_wrong == 0
    assert SqlCoverage.of(map(narrowed, found)).covered < 0.9


def test_the_bias_is_that_of_settings_without_an_unstable_run(few):
    def runs(values, *, setting, unstable=()):
        shown = replace(few[0], setting=setting, truth=10.0, error=1.0, unstable=False)
        numbers = [replace(shown, value=value) for value in values]
        return [replace(each, unstable=index in unstable) for index, each in enumerate(numbers)]

    values = 10.5 + np.tile([-1.0, 1.0], 12) * np.sqrt(23 / 24)
    found = runs(values, setting="a") + runs(values + 9, setting="b", unstable=(3,))
    fared = SqlCoverage.of(found + runs(values[:5] + 9, setting="c"))
    assert fared.bias == pytest.approx(0.5)
    assert fared.settings == 1
    assert fared.mean_z > 3


def test_a_page_has_every_number_at_every_epsilon(few, tmp_path):
    text = sql_coverage.page(few, 3)
    for kind in {each.aggregate for each in noisy(few)}:
        assert text.count(f"| {kind} |") == 2
    assert "epsilon 0.5 | epsilon 1 |" in text
    kept = MeasuredOnce(tmp_path / "pieces.jsonl")
    piece = kept.piece("world", lambda: sql_coverage.rows(noisy(few)[:5]))
    again = MeasuredOnce(tmp_path / "pieces.jsonl").piece("world", list)
    assert [sql_coverage.Observed(*row) for row in again] == noisy(few)[:5]
    assert len(piece) == 5


def test_numbers_about_small_crowds_have_a_table_by_their_size(few):
    def about(group, name):
        setting = f"7 0 COUNT(*) {(name,)}"
        return replace(
            few[0], aggregate="COUNT", group=group, setting=setting, truth=9.0, error=1.0
        )

    crowds = [about("public", name) for name in (*sql_coverage.CROWDS, "rest")]
    sizes = ["1", "2", "3", "5", "40", "hundreds"]
    assert [each.crowd for each in crowds] == sizes
    assert list(by(crowds, "crowd")) == sizes
    assert about("private", "solo").crowd == sql_coverage.NO_CROWD
    table = sql_coverage.page(crowds, 1).partition("people in a public group")[2]
    assert [f"| {size} |" in table for size in sizes] == [True] * len(sizes)


def test_discrete_numbers_hide_no_short_interval(few):
    """Coverage by epsilon is that of other numbers; MIN and MAX have a table without a bias."""
    plain = replace(few[0], aggregate="COUNT", epsilon=2.0, truth=9.0, value=5.0, error=1.0)
    short = replace(plain, low=4.0, high=6.0, unstable=False)
    extremes = [replace(short, aggregate="MAX", low=0.0, high=20.0)] * 9
    text = sql_coverage.page([short, *extremes], 1)
    assert "| 2.0 | 1 | 0.0 % | 0.0 % |" in text
    assert "| MAX | 9 | 100.0 % | 100.0 % |\n" in text
    assert "| settings |" in text


@pytest.mark.papers
def test_every_kind_of_number_is_covered():
    found = noisy(sql_coverage.collected(MeasuredOnce()))
    assert len(found) > 20_000
    for name in ("aggregate", "epsilon", "join", "group", "form", "plan"):
        for kind, coverage in by(found, name).items():
            slack = 4 * np.sqrt(0.05 / max(coverage.figures, 1) * 8)  # eight alike in a query
            least, most = LEAST - slack, MOST + slack
            if name != "aggregate" or kind in sql_coverage.DISCRETE:
                most = 1.0  # the interval of a whole number is too wide
            assert least < coverage.covered < most, kind
    assert not any(each.certain_and_wrong for each in found)
