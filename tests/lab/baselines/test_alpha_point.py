"""Rounding by a device's own offset: right on average over all offsets, still while a counter
wiggles.
"""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.core.rng import KeyedRng
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.alpha_point import AlphaPoint
from sottovoce.lab.checks import RecordedRng, ScriptedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

SMALL = [
    AlphaPoint(points, size)
    for points, size in ((2, 2), (2, 7), (3, 7), (4, 7), (5, 23), (7, 7), (10, 64))
]


def levels(encoding, offset):
    """The level of every index under one offset."""
    drawn = ScriptedRng(integers=[offset] * encoding.size)
    return encoding(np.arange(encoding.size), drawn)


@pytest.mark.parametrize("encoding", SMALL, ids=str)
def test_over_all_offsets_the_level_is_exactly_right_on_average(encoding):
    offsets = range(encoding.size - 1)
    totals = sum(levels(encoding, offset) for offset in offsets)
    for index, total in enumerate(totals.tolist()):
        assert Fraction(total, len(offsets) * (encoding.points - 1)) == Fraction(
            index, encoding.size - 1
        )


@pytest.mark.parametrize("encoding", SMALL, ids=str)
def test_under_one_offset_levels_rise_one_by_one_and_each_is_an_interval(encoding):
    for offset in range(encoding.size - 1):
        found = levels(encoding, offset)
        assert found[0] == 0
        assert found[-1] == encoding.points - 1
        assert set(np.diff(found)) <= {0, 1}


def test_one_draw_whatever_the_value():
    encoding = AlphaPoint(4, 100)
    for index in range(100):
        rng = RecordedRng(b"\x99" * 8)
        encoding(np.array([index]), rng)
        assert rng.consumed == 4


def test_the_largest_index_does_not_overflow():
    encoding = AlphaPoint(1 << 31, 1 << 31)
    assert encoding(np.array([(1 << 31) - 1]), ScriptedRng(integers=[0])).tolist() == [
        (1 << 31) - 1
    ]


@pytest.mark.parametrize(
    ("points", "size"), [(1, 7), (8, 7), (2, 1), (2, (1 << 31) + 1), (True, 7), (2.0, 7)]
)
def test_impossible_settings_are_refused(points, size):
    with pytest.raises(ParameterError):
        AlphaPoint(points, size)


@pytest.mark.parametrize(
    "domain", [Integers(1, 7), Numbers(0.0, 1.0, 7), Buckets(0.0, 1.0, 7)], ids=str
)
def test_numbers_of_its_size_have_as_many_outputs_as_levels(domain):
    assert AlphaPoint(3, 7).outputs(domain) == 3


@pytest.mark.parametrize("domain", [Integers(1, 8), Categories(("a", "b", "c"))], ids=str)
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError):
        AlphaPoint(3, 7).outputs(domain)


def test_a_question_with_it_costs_no_more_than_its_mechanism():
    assert Round(0, Question(GRR(1.0, 3), AlphaPoint(3, 7))).epsilon == 1.0


def test_no_document_can_name_it():
    asked = Round(0, Question(GRR(1.0, 3), AlphaPoint(3, 7)))
    with pytest.raises(ParameterError, match="unknown encoding kind"):
        codec.round_(codec.parse(codec.canonical(codec.document(asked))))


def test_a_counter_that_wiggles_inside_an_interval_has_one_level():
    """Every step from 20 below a boundary to 19 above it, under the keyed stream of one device."""
    encoding = AlphaPoint(5, 1001)

    def level(value):
        return int(encoding(np.array([value]), KeyedRng(bytes(32), b"minutes of use"))[0])

    offset = int(KeyedRng(bytes(32), b"minutes of use").integers(1000, 1)[0])
    crossings = np.flatnonzero(np.diff(levels(encoding, offset))) + 1
    boundary = int(next(crossing for crossing in crossings if crossing >= 20))
    seen = [level(value) for value in range(boundary - 20, boundary + 20)]
    assert seen == [seen[0]] * 20 + [seen[0] + 1] * 20
