"""The contract of experiments: rows, claims and the verdict that follows from them."""

from typing import ClassVar

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureEvidence,
    FigureRow,
    FigureVerdict,
    experiment,
    experiments,
    is_below,
    named,
    series_of,
    steps,
    values_of,
)


class Squares(Experiment):
    """A toy: the squares, with one printed value."""

    name = "toy-squares"
    title = "Squares"
    paper = "Nobody 2000"
    reproduces = ("nobody-figure-1",)
    axes = Axes("number", "square")
    tolerance = 0.01
    printed = 9.0

    def run(self, size, progress):
        numbers = range(1, 4 if size == "quick" else 10)
        return [
            FigureRow("square", number, number**2.0, self.printed if number == 3 else None)
            for number in steps(numbers, progress)
        ]

    def claims(self, rows):
        squares = values_of(rows, "square")
        return [Claim("squares grow", squares == sorted(squares))]


class Powers(Curves):
    """A toy: powers of numbers, the power being what a curve is about."""

    name = "toy-powers"
    title = "Powers"
    paper = "Nobody 2000"
    reproduces = ("nobody-figure-2",)
    axes = Axes("number", "power")
    schemes: ClassVar[dict[str, int]] = {"square": 2, "cube": 3}
    points = (1, 2)

    def number(self, scheme, point, size):
        return float(point**scheme)

    def printed(self, scheme, point, size):
        return 8.0 if (scheme, point, size) == (3, 2, "full") else None


def test_curves_have_a_number_for_every_scheme_at_every_point():
    shares = []
    assert Powers().run("full", shares.append) == [
        FigureRow("square", 1, 1.0),
        FigureRow("square", 2, 4.0),
        FigureRow("cube", 1, 1.0),
        FigureRow("cube", 2, 8.0, 8.0),
    ]
    assert shares == [0.25, 0.5, 0.75, 1.0]
    assert all(row.published is None for row in Powers().run("quick", lambda share: None))
    assert named("a", "b") == {"a": "a", "b": "b"}


def test_a_figure_whose_printed_values_and_claims_are_met_is_reproduced():
    toy = Squares()
    assert toy.judge(toy.run("quick", lambda share: None)) == FigureVerdict("reproduced")


def test_without_published_values_no_more_is_said_than_that_claims_hold():
    toy = Squares()
    rows = toy.run("quick", lambda share: None)
    drawn = [FigureRow(row.series, row.x, row.ours) for row in rows]
    assert toy.judge(drawn) == FigureVerdict("claims hold")
    assert toy.evidence(drawn) == FigureEvidence(claims=1, held=1)
    assert toy.evidence(rows).published == toy.evidence(rows).met > 0


def test_a_missed_value_is_named():
    toy = Squares()
    toy.printed = 10.0
    verdict = toy.judge(toy.run("quick", lambda share: None))
    assert verdict.word == "differs"
    assert "square, 3: 9 instead of 10" in str(verdict)


def test_a_claim_that_fails_is_named_and_a_known_difference_stands_for_it():
    toy = Squares()
    rows = toy.run("quick", lambda share: None)[::-1]
    assert str(toy.judge(rows)) == "differs, because this does not hold: squares grow"
    toy.difference = "the numbers are in another order"
    assert str(toy.judge(rows)) == "differs, because the numbers are in another order"


def test_a_figure_that_is_partial_differs_whatever_its_rows_are():
    toy = Squares()
    toy.is_partial = True
    toy.difference = "a part is left out"
    verdict = toy.judge(toy.run("quick", lambda share: None))
    assert str(verdict) == "differs, because a part is left out"


def test_progress_is_told_after_every_step():
    told = []
    assert list(steps("abcd", told.append)) == list("abcd")
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_rows_are_drawn_with_their_printed_values():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    toy = Squares()
    toy.draw(toy.run("full", lambda share: None), axes)
    line, printed = axes.get_lines()
    assert list(line.get_ydata()) == [number**2 for number in range(1, 10)]
    assert list(printed.get_xdata()) == [3]
    assert axes.get_xlabel() == "number"


def test_series_keep_their_order():
    rows = [FigureRow("b", 1, 1.0), FigureRow("a", 1, 2.0), FigureRow("b", 2, 3.0)]
    assert series_of(rows) == ["b", "a"]
    assert values_of(rows, "b") == [1.0, 3.0]


def test_a_series_lies_below_others_at_every_place():
    rows = [FigureRow("a", 1, 1.0), FigureRow("a", 2, 2.0)]
    rows += [FigureRow("b", 1, 2.5), FigureRow("b", 2, 4.5)]
    assert is_below(rows, "a", ("b",))
    assert is_below(rows, "a", ("b",), factor=2)
    assert not is_below(rows, "a", ("b",), factor=3)
    assert not is_below(rows, "b", ("a",))


def test_experiments_are_found_by_themselves_and_sorted_by_number():
    names = list(experiments())
    assert names.index("du-5-9") < names.index("du-5-10")
    assert "toy-squares" not in names
    for name, each in experiments().items():
        assert name == each.name
        assert each.title
        assert each.reproduces
        assert each.difference or not each.is_partial


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean `wang-3-1`"):
        experiment("wang-31")
