"""Any number of records of one person."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import MOST, Lists
from sottovoce.domains.records import Records
from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.wire import codec

TRIP = Records(("to", "hours"), (Categories(("sea", "hills")), Integers(1, 9)))
TRIPS = Lists(TRIP, 3)
trips = st.lists(
    st.fixed_dictionaries({"to": st.sampled_from(["sea", "hills"]), "hours": st.integers(1, 9)})
)


@given(st.lists(trips, max_size=5))
def test_every_record_is_kept_in_its_place_more_than_count_too(held):
    """How many count is the encoding's affair: a device that refused would tell."""
    found = TRIPS.indices(held)
    assert found.sizes.tolist() == [len(mine) for mine in held]
    flat = [record for mine in held for record in mine]
    assert found.cells.tolist() == [
        [["sea", "hills"].index(one["to"]), one["hours"] - 1] for one in flat
    ]
    assert found.cells.shape == (len(flat), 2)


def test_anything_that_can_be_gone_through_is_a_list():
    record = {"to": "sea", "hours": 1}
    assert TRIPS.indices([(record,), iter([record, record]), [], {}.values()]).sizes.tolist() == [
        1,
        2,
        0,
        0,
    ]


@pytest.mark.parametrize(
    "value",
    [
        "secret-place",
        b"secret-place",
        {"to": "sea", "hours": 1},
        5,
        None,
        ["secret-place"],
        [{"to": "secret-place", "hours": 1}],
        [{"to": "sea", "hours": 77}],
        [{"to": "sea", "hours": 1.5}],
        [{"to": "sea"}],
        [{"to": "sea", "hours": 1, "with": "secret-person"}],
        [{"to": ["secret-place"], "hours": 1}],
        [None],
    ],
)
def test_what_is_no_list_of_records_is_refused_and_never_named(value):
    with pytest.raises(DomainError) as refused:
        TRIPS.indices([value])
    assert "secret" not in str(refused.value)
    assert "77" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize("most", [0, -1, 1.0, True, MOST + 1, None])
def test_how_many_count_is_a_whole_number(most):
    with pytest.raises(ParameterError):
        Lists(TRIP, most)
    Lists(TRIP, MOST)


def test_lists_are_too_many_to_be_numbered():
    with pytest.raises(ParameterError, match="encoding"):
        assert TRIPS.size


def test_a_random_list_is_shaped_like_any_other():
    found = TRIPS.random_value(SeededRng(1))
    assert (len(found), found.cells.shape) == (1, (1, 2))
    assert (found.cells < [2, 9]).all()


def test_the_document_restores_it():
    content = codec.parse(codec.canonical(codec.document(TRIPS)))
    assert content["kind"] == "lists"
    assert codec.read(Domain, content) == TRIPS
    assert np.array_equal(codec.read(Domain, content).indices([[]]).sizes, [0])
