"""The contract of families: representatives, and encoding many members at once."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.families.each_item import EachItem
from tasks.toys import Remainders, Sizes


def test_a_family_of_the_laboratory_has_no_wire_kind():
    assert Remainders.kind == "toy_remainders"
    with pytest.raises(ParameterError, match="unknown family kind"):
        Family.kinds["toy_remainders"]
    assert Family.kinds["each_item"] is EachItem


def test_one_member_stands_for_all_that_share_a_mechanism():
    assert list(Remainders(1.0, 9).representatives()) == [0]
    assert list(Sizes(3).representatives()) == [0, 1, 2]


def test_values_are_encoded_by_the_member_that_each_person_is_asked():
    family = Remainders(1.0, 9)
    members = np.array([0, 5, 0, 8])
    values = np.array([3, 3, 4, 4])
    expected = [
        int(family[member].encoding(values[i : i + 1], None)[0]) for i, member in enumerate(members)
    ]
    assert family.encoded(members, values, None).tolist() == expected


def test_members_without_an_encoding_pass_values_through():
    assert Sizes(3).encoded(np.array([0, 2]), np.array([1, 3]), None).tolist() == [1, 3]
