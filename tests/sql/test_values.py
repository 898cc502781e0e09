"""Which values a comparison means: exactly, or with a notice that says why not."""

from math import inf

import numpy as np
import pytest

from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.sql.values import SHOWN, Span, listed, spans, within

AGES = Integers(10, 19)
INCOME = Buckets(0.0, 100.0, 4)
SHARE = Numbers(0.0, 1.0, 11)


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        ("=", Span(5, 5)),
        ("<>", Span(5, 5)),
        ("<", Span(-inf, 5, open=True)),
        ("<=", Span(-inf, 5)),
        (">", Span(5, inf, open=True)),
        (">=", Span(5, inf)),
    ],
)
def test_a_comparison_is_a_span_of_numbers(sign, expected):
    assert spans(sign, 5) == expected


@pytest.mark.parametrize("sign", ["=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("number", [9, 10, 10.5, 14, 19, 20])
def test_whole_numbers_are_compared_exactly(sign, number):
    chosen, notices = within(AGES, [spans(sign, number)], "age")
    values = np.arange(10, 20)
    expected = {
        "=": values == number,
        "<": values < number,
        "<=": values <= number,
        ">": values > number,
        ">=": values >= number,
    }[sign]
    assert (chosen == expected).all()
    assert bool(notices) == (not expected.any())


def test_several_spans_are_joined():
    chosen, _ = within(AGES, [Span(10, 11), Span(18, 30)], "age")
    assert np.flatnonzero(chosen).tolist() == [0, 1, 8, 9]


def test_a_bucket_is_counted_by_its_middle_and_a_cut_is_told():
    chosen, notices = within(INCOME, [Span(25, 100)], "income")
    assert chosen.tolist() == [False, True, True, True]
    assert notices == []
    chosen, notices = within(INCOME, [Span(30, 80)], "income")
    assert chosen.tolist() == [False, True, True, False]
    assert notices == [
        "income is kept in 4 buckets: a bucket is counted if its middle meets the condition"
    ]


def test_a_decimal_number_meets_the_point_that_floats_write_differently():
    """0.1 * 3 is not 0.3 in binary."""
    chosen, _ = within(SHARE, [Span(0.3, 0.3)], "share")
    assert np.flatnonzero(chosen).tolist() == [3]


def test_labels_are_compared_in_one_normal_form_and_unknown_ones_are_told():
    kind = Categories(("caffè", "tè"))
    chosen, notices = listed(kind, ["caffe\N{COMBINING GRAVE ACCENT}"], "drink")
    assert chosen.tolist() == [True, False]
    assert notices == []
    chosen, notices = listed(kind, ["x" * 100], "drink")
    assert not chosen.any()
    assert notices == [f"drink: there is no label {'x' * SHOWN + '...'!r}"]
