"""Intervals under attack, the small version: every case once, and one that must be caught."""

from dataclasses import asdict, replace

import pytest

from sottovoce.lab.experiments import poisoned_intervals
from sottovoce.lab.experiments.poisoned_intervals import (
    AttackCoverage,
    Bounded,
    NumberCoverage,
    covered,
    distribution,
    graded,
    histogram,
    mean,
)

RUNS = 60


@pytest.mark.parametrize("attack", ["spa", "demote", "mga", "mla"])
@pytest.mark.parametrize("kind", ["grr", "affine", "oue"])
def test_counts_keep_their_level_under_attack(kind, attack):
    coverage = covered(histogram(kind), attack, RUNS)
    print(coverage, coverage.share_attacked, coverage.lowest[0])
    assert coverage.holds


@pytest.mark.parametrize("attack", ["spa", "gba"])
def test_means_keep_their_level_and_ordinary_intervals_do_not(attack):
    """The twin: ordinary intervals, which allow for nobody."""
    coverage = covered(mean("hybrid"), attack, RUNS)
    print(coverage, coverage.share_attacked, coverage.share_ordinary)
    assert coverage.holds
    assert coverage.share_ordinary < 0.7


def test_quantiles_keep_their_level():
    coverage = covered(distribution(), "gba", 5)
    assert coverage.share_attacked == 1
    assert coverage.total("unbounded") == 0
    assert coverage.share_ordinary < 0.9


def test_bounds_that_allow_for_too_few_are_caught(monkeypatch):
    """The broken twin: 5 % attack, and the bounds allow for 0.5 %."""
    case = mean("piecewise")
    assert covered(case, "spa", RUNS).holds
    narrow = replace(case, numbers=lambda outcome: case.numbers(Narrow(outcome)))
    assert not covered(narrow, "spa", RUNS).holds


class Narrow:
    """An outcome that allows for a tenth of the share that it is asked for."""

    def __init__(self, outcome):
        self.outcome = outcome

    def at(self, level, fakes):
        return self.outcome.at(level, fakes=fakes / 10)


@pytest.mark.parametrize("case", list(poisoned_intervals.cases()), ids=lambda case: case.name)
def test_every_case_has_attacks_and_numbers(case):
    coverage = covered(case, "spa", 1)
    assert coverage.total("intervals") >= 1
    assert AttackCoverage.from_dict(asdict(coverage)) == coverage


def test_the_page_names_the_number_that_is_covered_least():
    coverage = AttackCoverage("a case", "an attack")
    for run in range(100):
        missed = Bounded("missed", 0, 1, 0, 1, truth=2 if run < 50 else 1)
        coverage.add([missed, Bounded("kept", 0, 1, 0, 1, truth=1)])
    assert not coverage.holds
    page = poisoned_intervals.written([coverage])
    assert "| 0.750 | 0.500 (missed) **below** | 0.345 | 0.750 |" in page
    assert "0 of 1 cases" in page
    assert "The least coverage that any case excludes is 0.345, from\n50 of 100" in page


def test_few_runs_exclude_little():
    """60 of 60 hits are as likely as 1 in 1000 if the coverage is 0.001^(1/60)."""
    for runs in (60, 300):
        number = NumberCoverage(intervals=runs, attacked=runs)
        assert number.excluded == pytest.approx(0.001 ** (1 / runs))
    assert NumberCoverage(intervals=60, attacked=0).excluded == 0


def test_costly_cases_have_the_runs_of_the_command(monkeypatch, capsys):
    costly, cheap = graded("distribution"), mean("duchi")
    monkeypatch.setattr(poisoned_intervals, "cases", lambda: [costly, cheap])
    measured = []

    def measure(case, attack, runs):
        measured.append((case.name, runs))
        return AttackCoverage(case.name, attack, numbers={"mean": NumberCoverage(1, 1, 1)}, runs=1)

    monkeypatch.setattr(poisoned_intervals, "covered", measure)
    assert poisoned_intervals.main(["--runs", "7"]) == 0
    assert set(measured) == {(costly.name, 7), (cheap.name, 1_000)}
    assert "12 of 12 cases" in capsys.readouterr().out


def test_bounds_of_graded_groups_hold_where_tokens_deal_the_groups():
    coverage = covered(graded("distribution"), "spa", 2)
    assert coverage.total("unbounded") == 0
    assert coverage.share_attacked == 1


@pytest.mark.papers
def test_every_attack_on_every_case_keeps_its_level():
    page = poisoned_intervals.page()
    print(page)
    assert "**below**" not in page
