"""Sums of products equal the truth, person by person, and are short."""

from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.sql.conditions import Both, Either, Negation, TooManyTermsError, Within, expanded
from sottovoce.sql.query import AllOf, AnyOf, Column, Compared, Listed, Monomial, Not

SIZES = {Column(0, 0): 3, Column(0, 1): 2, Column(1, 0): 4}
OS = Column(0, 0, "users.os")
SEEN = ("iOS", "Android", "other")
PEOPLE = np.array(list(product(*(range(size) for size in (*SIZES.values(), len(SEEN))))))
VALUES = dict(zip((*SIZES, OS), PEOPLE.T, strict=True))
NOBODY, EVERYBODY = np.zeros(len(PEOPLE), bool), np.ones(len(PEOPLE), bool)
PLACES = list(SIZES)


def seen(condition):
    """Whom a condition over the public column holds for."""
    match condition:
        case Compared(_, "=", value):
            return VALUES[OS] == SEEN.index(value)
        case Listed(_, values):
            return np.isin(VALUES[OS], [SEEN.index(one) for one in values])
        case Not(part):
            return ~seen(part)
        case AllOf(parts):
            return reduce(np.logical_and, map(seen, parts), EVERYBODY)
        case AnyOf(parts):
            return reduce(np.logical_or, map(seen, parts), NOBODY)


def truth(condition):
    match condition:
        case Within(column, held):
            return held[VALUES[column]]
        case Both(parts):
            return reduce(np.logical_and, map(truth, parts))
        case Either(parts):
            return reduce(np.logical_or, map(truth, parts))
        case Negation(part):
            return ~truth(part)
    return seen(condition)


def total(among, monomials):
    parts = [
        one.factor
        * seen(one.public)
        * reduce(np.multiply, [held[VALUES[column]] for column, held in one.sets.items()], 1)
        for one in monomials
    ]
    return seen(among) * sum(parts, np.zeros(len(PEOPLE)))


def is_the_truth(expand, condition):
    return np.array_equal(total(*expand(condition)), truth(condition))


def within(column, *values):
    return Within(column, np.isin(np.arange(SIZES[column]), values))


AGE, STATE, AMOUNT = within(PLACES[0], 0), within(PLACES[1], 0), within(PLACES[2], 1, 2)
IOS = Compared(OS, "=", "iOS")

privates = st.sampled_from(PLACES).flatmap(
    lambda column: st.lists(st.booleans(), min_size=SIZES[column], max_size=SIZES[column]).map(
        lambda held: Within(column, np.array(held))
    )
)
publics = st.sampled_from(SEEN).map(lambda value: Compared(OS, "=", value)) | st.lists(
    st.sampled_from(SEEN), min_size=1, max_size=2
).map(lambda values: Listed(OS, tuple(values)))
conditions = st.recursive(
    privates | publics,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Both(tuple(parts))),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Either(tuple(parts))),
        inner.map(Negation),
    ),
    max_leaves=10,
)


@settings(max_examples=400)
@given(conditions)
def test_the_sum_over_the_products_is_the_truth_for_everybody(condition):
    among, monomials = expanded(condition)
    assert np.array_equal(total(among, monomials), truth(condition))
    for one in monomials:
        assert one.factor != 0
        assert all(held.any() and not held.all() for held in one.sets.values())


def without_exclusion(condition):
    """A broken expansion: what two alternatives have in common counts twice."""
    if isinstance(condition, Either):
        return AllOf(), tuple(one for part in condition.parts for one in expanded(part)[1])
    return expanded(condition)


def test_a_sum_that_counts_twice_is_noticed():
    assert is_the_truth(expanded, Either((AGE, STATE)))
    assert not is_the_truth(without_exclusion, Either((AGE, STATE)))


@settings(max_examples=100)
@given(conditions)
def test_products_differ_from_each_other(condition):
    keys = [
        (tuple(sorted((column, held.tobytes()) for column, held in one.sets.items())), one.public)
        for one in expanded(condition)[1]
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("condition", "terms"),
    [
        (AGE, 1),
        (Negation(AGE), 1),
        (Both((AGE, STATE, AMOUNT)), 1),
        (Either((AGE, STATE)), 2),
        (Either((AGE, STATE, AMOUNT)), 2),
        (Negation(Both((AGE, STATE))), 2),
        (Either((AGE, AGE)), 1),
        (Either((AGE, within(PLACES[0], 1))), 1),
        (Either((AGE, STATE, within(PLACES[0], 1))), 2),
        (Either((Both((AGE, STATE)), Both((AGE, AMOUNT)))), 2),
        (Both((Either((AGE, STATE)), Either((AGE, AMOUNT)))), 2),
        (Either((Both((AGE, STATE)), Both((Negation(AGE), AMOUNT)))), 2),
        (Either((Both((AGE, STATE)), Both((Negation(AGE), STATE)))), 1),
        (Either((AGE, IOS)), 2),
        (Either((AGE, Both((IOS, STATE)))), 2),
    ],
)
def test_few_products_are_needed(condition, terms):
    assert is_the_truth(expanded, condition)
    assert len(expanded(condition)[1]) == terms


@pytest.mark.parametrize(
    "condition",
    [
        Both((AGE, within(PLACES[0], 1))),
        Both((AGE, Negation(AGE))),
        within(PLACES[0]),
        Both((Either((AGE, STATE)), Negation(AGE), Negation(STATE))),
        Both(
            (
                Both((AGE, Either((IOS, STATE)))),
                Both((Negation(STATE), Either((Negation(IOS), within(PLACES[0]))))),
            ),
        ),
    ],
)
def test_a_contradiction_is_no_product_at_all(condition):
    assert expanded(condition)[1] == ()


def test_what_always_holds_is_one():
    among, (only,) = expanded(Either((AGE, Negation(AGE))))
    assert (among, only.factor, dict(only.sets), only.public) == (AllOf(), 1.0, {}, AllOf())


def test_public_conditions_that_always_apply_say_whom_it_is_about():
    android = Compared(OS, "=", "Android")
    among, (only,) = expanded(Both((IOS, Both((AGE, Negation(android))))))
    assert among == AllOf((IOS, Not(android)))
    assert only.public == AllOf()
    assert list(only.sets) == [PLACES[0]]
    assert expanded(Both((IOS, AGE)))[0] == IOS
    among, (only,) = expanded(Either((IOS, android)))
    assert among == AnyOf((IOS, android))
    assert (only.factor, only.sets) == (1.0, {})


def test_public_conditions_beside_private_ones_stay_in_the_products():
    among, monomials = expanded(Either((AGE, IOS)))
    assert among == AllOf()
    assert {one.public for one in monomials} == {AllOf(), Not(IOS)}


def alternatives(count):
    """So many pairs of conditions on columns of their own."""
    column = [Within(Column(0, place), np.array([True, False])) for place in range(2 * count)]
    return Either(tuple(Both((column[2 * place], column[2 * place + 1])) for place in range(count)))


def test_too_many_products_are_refused():
    assert len(expanded(alternatives(8))[1]) == 255
    with pytest.raises(TooManyTermsError):
        expanded(alternatives(9))
    with pytest.raises(TooManyTermsError):
        expanded(alternatives(100))


def test_many_columns_are_no_difficulty_where_one_product_does():
    parts = tuple(Within(Column(0, place), np.array([True, False])) for place in range(200))
    assert len(expanded(Both(parts))[1]) == 1
    assert [len(one.sets) for one in expanded(Either(parts))[1]] == [0, 200]


def test_the_plainest_product_comes_first():
    assert [len(one.sets) for one in expanded(Either((AGE, STATE)))[1]] == [0, 2]
    assert isinstance(expanded(AGE)[1][0], Monomial)
