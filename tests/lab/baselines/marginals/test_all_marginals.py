"""Which mechanism asks about which table."""

import pytest

from sottovoce.lab.baselines.marginals.all_marginals import ask_marginal
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

SIZES = (2, 3, 8)


def mechanisms(order, mechanism=None):
    asked = ask_marginal(1.0, SIZES, order, mechanism).members.mechanisms
    return [(each.kind, each.size) for each in asked]


def test_a_named_mechanism_asks_about_all_tables_but_those_of_two_cells():
    assert mechanisms(1, OUE) == [("grr", 2), ("oue", 3), ("oue", 8)]
    assert mechanisms(2, OUE) == [("oue", 6), ("oue", 16), ("oue", 24)]
    assert mechanisms(2, GRR) == [("grr", 6), ("grr", 16), ("grr", 24)]


def test_without_a_name_each_number_of_cells_has_the_best_mechanism():
    assert mechanisms(2) == [("subset", 6), ("subset", 16), ("subset", 24)]


@pytest.mark.parametrize(("order", "tables"), [(1, 3), (2, 3), (3, 1)])
def test_all_tables_of_the_order_are_asked_about(order, tables):
    assert len(ask_marginal(1.0, SIZES, order).members) == tables
