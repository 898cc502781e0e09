"""A round: a share of the users, and addresses that exist or are refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import MAX_ROUNDS, Round
from tasks.toys import NARROW, WIDE


def test_a_round_asks_the_coins_of_its_share():
    half = exact.UNIT // 2
    asked = Round(1, NARROW, half, exact.UNIT)
    assert [asked.asks(coin) for coin in (0, half - 1, half, exact.UNIT - 1)] == [
        False,
        False,
        True,
        True,
    ]


@given(st.lists(st.integers(1, exact.UNIT - 1), max_size=6, unique=True), st.integers(0, 10**9))
def test_the_parts_of_all_rounds_add_up_to_the_users(cuts, users):
    bounds = [0, *sorted(cuts), exact.UNIT]
    shares = enumerate(pairwise(bounds))
    rounds = [Round(number, NARROW, low, high) for number, (low, high) in shares]
    assert sum(asked.part(users) for asked in rounds) == users


def test_price_width_and_slots_are_those_of_what_is_asked():
    asked = Round(0, Bundle((NARROW, WIDE)))
    assert (asked.epsilon, asked.width, asked.slots) == (1.5, 3, 2)


def test_addresses_that_a_round_does_not_have_are_refused():
    asked = Round(1, Choice((NARROW, Bundle((NARROW, WIDE)))))
    assert asked.question(Address(1, 0, 0)) is NARROW
    assert asked.question(Address(1, 1, 1)) is WIDE
    for wrong in (Address(0), Address(1, 2), Address(1, 1, 2), Address(1, -1), Address(1, 0, 1)):
        with pytest.raises(ParameterError):
            asked.question(wrong)


def test_addresses_carry_the_number_of_the_round():
    asked = Round(7, Bundle((NARROW, WIDE)))
    assert asked.addresses(lambda slot: 0) == [Address(7, 0, 0), Address(7, 0, 1)]
    assigned = asked.assigned(np.arange(3), SeededRng(1))
    assert [address for address, _ in assigned] == [Address(7, 0, 0), Address(7, 0, 1)]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"number": -1}, f"`number` must be a whole number from 0 to {MAX_ROUNDS - 1}, not -1"),
        ({"number": 1.0}, f"`number` must be a whole number from 0 to {MAX_ROUNDS - 1}, not 1.0"),
        ({"low": -1}, "`low` must be a whole number from 0 to 2^64 - 1, not -1"),
        ({"low": 5, "high": 5}, "`high` must be a whole number from 6 to 2^64, not 5"),
        (
            {"high": exact.UNIT + 1},
            "`high` must be a whole number from 1 to 2^64, not 18446744073709551617",
        ),
    ],
)
def test_impossible_rounds_are_refused(settings, rule):
    with pytest.raises(ParameterError) as caught:
        Round(**{"number": 0, "ask": NARROW, **settings})
    assert str(caught.value) == rule


def test_fakes_of_a_round_carry_its_number():
    drawn = Round(3, Choice((NARROW, NARROW))).draw_fakes(100, SeededRng(8))
    assert [part.address for part in drawn] == [Address(3, 0), Address(3, 1)]
    assert sum(len(part.reports) for part in drawn) == 100
    assert Round(3, NARROW).draw_fakes(0, SeededRng(8)) == []
