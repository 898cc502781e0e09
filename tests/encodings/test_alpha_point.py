"""Rounding by a device's own offset: right on average over all offsets, still while a counter wiggles."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest

from sottovoce.client.client import Client
from sottovoce.core.rng import KeyedRng
from sottovoce.domains.base import Buckets, Categories, Integers, Numbers
from sottovoce.encodings.alpha_point import AlphaPoint
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng, ScriptedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.task import Question, Round
from sottovoce.wire import codec

SMALL = [AlphaPoint(points, size) for points, size in ((2, 2), (2, 7), (3, 7), (4, 7), (5, 23), (7, 7), (10, 64))]


def levels(encoding, offset):
    """The level of every index under one offset."""
    drawn = ScriptedRng(integers=[offset] * encoding.size)
    return encoding(np.arange(encoding.size), drawn)


@pytest.mark.parametrize("encoding", SMALL, ids=str)
def test_over_all_offsets_the_level_is_exactly_right_on_average(encoding):
    offsets = range(encoding.size - 1)
    totals = sum(levels(encoding, offset) for offset in offsets)
    for index, total in enumerate(totals.tolist()):
        assert Fraction(total, len(offsets) * (encoding.points - 1)) == Fraction(index, encoding.size - 1)


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
    assert encoding(np.array([(1 << 31) - 1]), ScriptedRng(integers=[0])).tolist() == [(1 << 31) - 1]


@pytest.mark.parametrize(("points", "size"), [(1, 7), (8, 7), (2, 1), (2, (1 << 31) + 1), (True, 7), (2.0, 7)])
def test_impossible_settings_are_refused(points, size):
    with pytest.raises(ParameterError):
        AlphaPoint(points, size)


@pytest.mark.parametrize("domain", [Integers(1, 7), Numbers(0.0, 1.0, 7), Buckets(0.0, 1.0, 7)], ids=str)
def test_numbers_of_its_size_have_as_many_outputs_as_levels(domain):
    assert AlphaPoint(3, 7).outputs(domain) == 3


@pytest.mark.parametrize("domain", [Integers(1, 8), Categories(("a", "b", "c"))], ids=str)
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError):
        AlphaPoint(3, 7).outputs(domain)


def test_a_question_with_it_costs_no_more_than_its_mechanism_and_survives_its_document():
    asked = Round(0, Question(GRR(1.0, 3), AlphaPoint(3, 7)))
    assert asked.epsilon == 1.0
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked


def counting():
    """What a device reads of a longitudinal task that rounds a counter to five levels and pays for all of them."""
    return codec.notice(
        {
            "kind": "task",
            "version": 1,
            "name": "minutes of use",
            "description": "",
            "declares": [],
            "epsilon": "5.0",
            "distinct": 5,
            "domain": codec.document(Integers(0, 1000)),
            "plan": {"kind": "counter"},
            "opening": codec.document(Round(0, Question(GRR(1.0, 5), AlphaPoint(5, 1001)))),
        }
    )


def test_a_counter_that_wiggles_inside_an_interval_has_one_response(tmp_path):
    """Every step from 20 below a boundary to 19 above it: one response before the boundary, two after."""
    notice = counting()
    client = Client(notice, tmp_path / "ledger")
    keyed = KeyedRng(client.ledger.secret(notice.digest), codec.digest_to_bytes(notice.digest) + bytes(6))
    crossings = np.flatnonzero(np.diff(levels(AlphaPoint(5, 1001), int(keyed.integers(1000, 1)[0])))) + 1
    boundary = int(next(crossing for crossing in crossings if crossing >= 20))
    memos = []
    for number, value in enumerate(range(boundary - 20, boundary + 20)):
        client.answer(value, asked=Round(number, notice.opening.ask))
        with closing(sqlite3.connect(tmp_path / "ledger")) as book:
            memos.append(len(book.execute("select 1 from memo").fetchall()))
    assert memos == [1] * 20 + [2] * 20
    assert client.ledger.spent == 5.0
