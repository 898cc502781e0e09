"""One question for every Hadamard coefficient."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from sottovoce.encodings.parities import Parities
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.task import Address, Choice, Round
from sottovoce.wire import codec

RR = GRR(1.0, 2)
MIXED = (2, 5, 3)


@pytest.mark.parametrize(
    ("sizes", "order", "count"),
    [((2,) * 8, 2, 36), ((2,) * 8, 3, 92), ((2,) * 16, 3, 696), ((3,) * 8, 3, 1788), ((2,) * 3, 3, 7), (MIXED, 1, 11)],
)
def test_only_coefficients_of_at_most_so_many_attributes_are_asked(sizes, order, count):
    """Cormode 2018, section 4.3, and for attributes of three values 1,788 instead of the published 14,892."""
    assert len(Parities(RR, sizes, order)) == count


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_coefficient_is_listed_and_the_known_one_never(order, within):
    family = Parities(RR, MIXED, order, within)
    found = [family.coefficient(place) for place in range(len(family))]
    assert all(columns and all(masks) for columns, masks in found)
    wanted = {
        tuple((column, mask) for column, mask in enumerate(masks) if mask)
        for masks in product(range(2), range(8), range(4))
        if 0 < sum(map(bool, masks)) <= order
    }
    listed = [tuple(zip(*one, strict=True)) for one in found]
    assert set(listed) == wanted
    if not within:
        assert len(listed) == len(wanted)


def test_within_sets_of_attributes_the_coefficients_of_fewer_come_once_for_every_set():
    family = Parities(RR, (2,) * 5, 2, within=True)
    assert len(family) == comb(5, 2) * 3
    singles = [family.coefficient(place)[0] for place in range(len(family)) if len(family.coefficient(place)[0]) == 1]
    assert all(singles.count((one,)) == 4 for one in range(5))


def test_a_set_starts_where_its_first_coefficient_stands():
    family = Parities(RR, MIXED, 2, within=True)
    ends = [family.start(pair) for pair in combinations(range(3), 2)] + [len(family)]
    assert ends == [0, 15, 22, 53]
    for pair, start, end in zip(combinations(range(3), 2), ends[:-1], ends[1:], strict=True):
        assert all(set(family.coefficient(place)[0]) <= set(pair) for place in range(start, end))


@pytest.mark.parametrize("within", [False, True])
def test_many_people_at_once_are_encoded_as_one_by_one(within):
    family = Parities(RR, MIXED, 2, within)
    dice = np.random.default_rng(1)
    records = np.stack([dice.integers(0, size, 500) for size in MIXED], axis=1)
    members = dice.integers(0, len(family), 500)
    rng = RecordedRng(b"")
    one_by_one = [family[int(place)].encoding(row[None], rng)[0] for place, row in zip(members, records, strict=True)]
    assert family.encoded(members, records, rng).tolist() == one_by_one


def test_a_coefficient_costs_what_one_question_costs():
    assert Choice(Parities(RR, (2,) * 16, 3)).epsilon == 1.0
    assert Choice(Parities(RR, (2,) * 16, 3)).width == 1


@pytest.mark.parametrize("place", [-1, 36])
def test_a_coefficient_that_there_is_not_is_refused(place):
    family = Parities(RR, (2,) * 8, 2)
    with pytest.raises(ParameterError):
        family.coefficient(place)
    with pytest.raises(ParameterError):
        Round(0, Choice(family)).question(Address(0, 36))


@pytest.mark.parametrize(
    ("mechanism", "sizes", "order"),
    [(GRR(1.0, 3), (2, 2), 1), (RR, (2, 2), 0), (RR, (2, 2), 3), (RR, (2, 1), 1), (RR, (), 1), (RR, (2,) * 200, 50)],
)
def test_an_impossible_family_is_refused(mechanism, sizes, order):
    with pytest.raises(ParameterError):
        Parities(mechanism, sizes, order)


def test_the_document_restores_it():
    for within in (False, True):
        asked = Round(0, Choice(Parities(RR, MIXED, 2, within)))
        assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
