"""What people hold in several tables: any part of the people keeps all of theirs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.errors import ParameterError
from sottovoce.maths.ragged import Baskets

owned = st.lists(st.integers(0, 5), max_size=12)


def listed(rows):
    """Everybody's own first column."""
    return [
        rows.cells[start:end, 0].tolist()
        for start, end in zip(rows.starts, rows.starts[1:], strict=False)
    ]


def rows_of(owners, people=6):
    return Rows.of(np.array(owners, np.int64), np.arange(len(owners))[:, None], people)


@given(owned)
def test_everybody_gets_their_rows_in_the_order_given(owners):
    rows = rows_of(owners)
    assert listed(rows) == [
        [at for at, owner in enumerate(owners) if owner == person] for person in range(6)
    ]
    assert rows.sizes.tolist() == [owners.count(person) for person in range(6)]
    assert len(rows) == 6


@given(owned, st.lists(st.integers(0, 5), max_size=8))
def test_some_people_by_number_also_twice_keep_their_rows(owners, chosen):
    rows = rows_of(owners)
    assert listed(rows[np.array(chosen, np.int64)]) == [listed(rows)[person] for person in chosen]


@given(owned, st.integers(0, 6), st.integers(0, 6))
def test_slices_and_masks_agree(owners, start, stop):
    rows = rows_of(owners)
    mask = (np.arange(6) >= start) & (np.arange(6) < stop)
    assert listed(rows[start:stop]) == listed(rows[mask]) == listed(rows)[start:stop]


@pytest.mark.parametrize("owners", [[6], [-1], [0.5], ["anna"], [True], [0, 1]])
def test_rows_of_nobody_are_refused(owners):
    with pytest.raises(ParameterError) as refused:
        Rows.of(np.array(owners), np.zeros((1, 2), np.int64), 6)
    assert "anna" not in str(refused.value)


def test_no_rows_are_everybodys_empty_lists():
    assert rows_of([]).sizes.tolist() == [0] * 6
    assert len(Rows.of(np.array([]), np.zeros((0, 3)), 0)) == 0


def test_some_of_the_people_keep_their_place_in_all_tables():
    records = np.arange(12).reshape(6, 2)
    whole = PersonTables(
        (records, rows_of([3, 3, 5])), tuple(b"%d" % person for person in range(6))
    )
    for part in (whole[np.array([5, 3])], whole[[5, 3]]):
        assert part.tables[0].tolist() == [[10, 11], [6, 7]]
        assert listed(part.tables[1]) == [[2], [0, 1]]
        assert (len(part), part.public) == (2, (b"5", b"3"))
    mask = np.array([False, False, False, True, False, False])
    assert listed(whole[mask].tables[1]) == listed(whole[3:4].tables[1]) == [[0, 1]]
    assert whole[:2].public == (b"0", b"1")
    assert PersonTables((records,))[:2].public == ()


@pytest.mark.parametrize(
    ("tables", "public"),
    [
        ((np.zeros((3, 1)), np.zeros((4, 1))), ()),
        ((np.zeros((3, 1)), rows_of([])), ()),
        ((np.zeros((3, 1)),), (b"{}",)),
        ((), ()),
    ],
)
def test_tables_about_other_people_are_refused(tables, public):
    with pytest.raises(ParameterError, match="same people"):
        PersonTables(tables, public)


def test_what_people_hold_is_not_printed():
    rows = Rows.of(np.array([0, 0]), np.array([[7001], [7002]]), 1)
    held = PersonTables((np.array([[7003]]), rows), (b"7004",))
    assert "700" not in f"{held!r} {rows!r} {Baskets.of([1], [7005])!r}"
    assert "7001" in repr(rows.cells)
