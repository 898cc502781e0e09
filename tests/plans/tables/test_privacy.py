"""What all reports of one person tell together: exactly epsilon, over every person, every layer and
every report.

Sources: Xu 2020, lemma 6; Wang 2021, section 7.4.
"""

from functools import cache, reduce

import numpy as np
import pytest

from plans.tables.laws import everybody, holding, law, laws, worst_log_ratio
from plans.tables.plans import METHODS, SINGLE
from plans.tables.plans import layout as layout_by
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.layout import Layout

TOYS = [(1.0, 1, 2), (1.0, 2, 2), (0.4, 1, 3)]  # epsilon, reported records, most records
TWO = Records(("a",), (Categories(("no", "yes")),))
RECORD = Tables(("t",), (Records(("a", "b"), (Integers(0, 1), Integers(0, 2))),))
LISTS = Tables(("t",), (Lists(Records(("a", "b"), (Integers(0, 1), Integers(0, 2))), 2),))


def two_tables(most):
    return Tables(("people", "visits"), (TWO, Lists(TWO, most)))


def toy(epsilon, rows, most, *, published):
    return layout_by(
        two_tables(most), (1, rows), "hio", fanout=5, published=published, epsilon=epsilon
    )


@cache
def told(layout):
    return worst_log_ratio(laws(layout, everybody(layout)))


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize(("epsilon", "rows", "most"), TOYS)
def test_a_person_tells_epsilon_whatever_records_they_have_and_whether_they_have_any(
    epsilon, rows, most, published
):
    """AT-6: reached, and not exceeded; over all pairs of people, those with more records than count
    too.
    """
    assert told(toy(epsilon, rows, most, published=published)) == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("published", [True, False])
def test_that_somebody_has_no_records_at_all_is_protected_by_exactly_epsilon(published):
    layout = toy(1.0, 2, 2, published=published)
    pair = [holding((0,), []), holding((1,), [(1,), (1,)])]
    assert worst_log_ratio(laws(layout, pair)) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_tells_epsilon_about_a_record(method, published):
    """Q01.  The published split over all layers wastes the part of the one whose count everybody
    knows.
    """
    layout = layout_by(RECORD, (1,), method, fanout=2, published=published, epsilon=1.0)
    reached = 5 / 6 if method == "hi" and published else 1.0
    assert told(layout) == pytest.approx(reached, abs=1e-9)
    assert told(layout) <= 1.0 + 1e-12


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("method", [method for method in METHODS if method not in SINGLE])
def test_every_method_for_lists_tells_epsilon(method, rows, published):
    layout = layout_by(LISTS, (rows,), method, fanout=2, published=published, epsilon=1.5)
    assert told(layout) == pytest.approx(1.5, abs=1e-9)


@pytest.mark.parametrize("published", [True, False])
def test_the_worst_ratio_of_all_reports_is_that_of_their_joint_law(published):
    """Adding up the slots is no short cut: the same as listing all combinations of reports."""
    layout = toy(1.0, 2, 2, published=published)
    people = everybody(layout)
    apart = [one / one.sum(axis=1, keepdims=True) for one in laws(layout, people)]
    if published:
        apart = [np.unique(one.round(12), axis=1) for one in apart]
    joint = reduce(
        lambda one, other: (one[:, :, None] * other[:, None, :]).reshape(len(people), -1), apart
    )
    assert worst_log_ratio([joint]) == pytest.approx(told(layout), abs=1e-9)


class ByTheQuery(Layout):
    """Broken: the budget split by the tables of one question."""

    @property
    def record_epsilon(self):
        return self.epsilon


class ByTheTables(Layout):
    """Broken: the budget split by the tables, though people report two records of one of them."""

    @property
    def record_epsilon(self):
        return self.epsilon / len(self.rows)


@pytest.mark.parametrize(("kind", "spent"), [(ByTheQuery, 3.0), (ByTheTables, 1.5)])
def test_a_budget_that_is_split_by_less_than_all_records_is_caught(kind, spent):
    broken = kind(two_tables(2), (1, 2), 5, 1.0)
    assert told(broken) == pytest.approx(spent, abs=1e-9)
    assert told(broken) > 1.0 + 1e-9


def silent(reports, people):
    """Broken: somebody without records sends nothing; one more thing that can be seen."""
    has = np.array([one.tables[1].sizes[0] > 0 for one in people])
    return np.column_stack([reports * has[:, None], ~has])


def test_not_to_send_reports_without_records_is_caught():
    layout = toy(1.0, 1, 2, published=False)
    people = everybody(layout)
    first, second = laws(layout, people)
    assert worst_log_ratio([first, second]) == pytest.approx(1.0, abs=1e-9)
    assert worst_log_ratio([first, silent(second, people)]) == np.inf


def test_a_weight_that_everybody_may_see_is_caught():
    """The number of records as a public factor of an estimate."""
    layout = toy(1.0, 1, 2, published=False)
    people = everybody(layout)
    sizes = np.array([one.tables[1].sizes[0] for one in people])
    seen = np.eye(sizes.max() + 1)[sizes]
    assert worst_log_ratio([*laws(layout, people), seen]) == np.inf


def z_scores(question, person, stated):
    """How far 200,000 reports of a person support every cell from what a law of the cell says,
    averaged over seeds.
    """
    mechanism, users = question.mechanism, 200_000
    mixed = np.array([float(stated.get(cell, 0)) for cell in range(mechanism.size)])
    expected = mechanism.q + (mechanism.p - mechanism.q) * mixed
    reports = question.privatize(person[np.zeros(users, np.int64)], SeededRng(3))
    supports = mechanism.support(reports, np.arange(mechanism.size)).mean(axis=0)
    return np.abs((supports - expected) / np.sqrt(expected * (1 - expected) / users)).max()


def test_sampled_reports_follow_the_listed_law():
    """Through the randomiser itself: nobody with records, and somebody with more of them than
    count.
    """
    family = (
        layout_by(LISTS, (1,), "ahio", fanout=2, published=False, epsilon=2.0)
        .factors[0]
        .slots[0]
        .family
    )
    question = max(
        (family[member] for member in range(len(family))), key=lambda one: one.mechanism.size
    )
    none, some = holding([]), holding([(1, 2), (1, 2), (0, 1)])
    assert z_scores(question, none, law(question.encoding, none)) < 5
    assert z_scores(question, some, law(question.encoding, some)) < 5
    assert z_scores(question, some, law(question.encoding, none)) > 50
