"""Columns of text as the tables of people."""

import pytest

import sottovoce as sv
from sottovoce.errors import DomainError

SHOP = sv.Joint(
    {
        "users": {"columns": {"age": range(9)}, "public": {"os": ["iOS", "Android"]}},
        "txn": {"columns": {"amount": range(99)}, "most": 9},
    }
).domain
USERS = {"age": ["3", "4"], "os": ["iOS", "iOS"], "uid": ["b", "a"]}
TXN = {"amount": ["10", "20", "30"], "uid": ["a", "a", "b"]}


def test_the_files_have_all_columns_and_say_whose_a_row_is():
    assert SHOP.file_columns == {"users": ("age", "os", "uid"), "txn": ("amount", "uid")}
    assert sv.Table({"age": range(9)}).domain.file_columns == {"people": ("age",)}


def test_people_are_numbered_by_the_table_with_one_record_each():
    read = SHOP.from_columns({"users": USERS, "txn": TXN})
    assert read["users"] == {"age": [3, 4], "os": ["iOS", "iOS"]}
    assert read["txn"]["amount"] == [10, 20, 30]
    assert read["txn"]["uid"].tolist() == [1, 1, 0]
    assert len(SHOP.indices(read)) == 2


def test_a_single_table_needs_no_uid():
    assert sv.Table({"age": range(9)}).domain.from_columns({"people": {"age": ["1"]}}) == {
        "age": [1]
    }


BAD = {
    "a stranger": ({}, {"uid": ["a", "a", "c"]}, "1 rows of table 'txn' have a uid"),
    "an empty uid": ({"uid": ["b", None]}, {}, "must not have empty cells"),
    "somebody twice": ({"uid": ["b", "b"]}, {}, "must stand once in table 'users'"),
}


@pytest.mark.parametrize(("users", "txn", "rule"), BAD.values(), ids=BAD)
def test_rows_that_belong_to_nobody_are_refused(users, txn, rule):
    with pytest.raises(DomainError, match=rule):
        SHOP.from_columns({"users": {**USERS, **users}, "txn": {**TXN, **txn}})
