"""Scores of reports: equal to brute force over all cells, and exactly unbiased over everything that
can happen.
"""

from functools import reduce
from math import prod

import numpy as np
import pytest

from plans.tables.enumeration import factor_moments, of_total, people
from plans.tables.plans import THREE, TWO, layout_of, ordinal, planned, question, truth
from sottovoce.domains.person_tables import PersonTables
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables import scoring
from sottovoce.plans.tables.coefficients import Target, coefficients
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.scoring import Scoring, layer_terms
from sottovoce.tasks.families import layers

METHODS = ("hio", "hi", "mg", "sc", "sc_sampled")
WAYS = [
    Method(method, measure)
    for method in ("add", "signed", "rdc", "gls", "blue")
    for measure in ("lin", "enum")
]
WAYS.append(Method("blue", "lin", signal=0.7))
PLANS = {  # columns, epsilon, published: every layer's reports can be listed
    "GRR": ({"a": ordinal(6), "b": THREE}, 4.0, False),
    "GRR, one column": ({"a": ordinal(7)}, 4.0, False),
    "affine": ({"a": ordinal(4), "b": TWO}, 1.0, False),
    "affine, one column": ({"a": ordinal(8)}, 1.0, False),
    "affine with padding": ({"a": ordinal(6)}, 0.5, False),
    "hashing": ({"a": ordinal(4), "b": TWO}, 0.3, True),
    "hashing, one column": ({"a": ordinal(5)}, 1.0, True),
}


def questions(layout):
    """Return conditions and a measured column: ranges, sums, conjunctions."""
    found = [([{0: [1, 2]}], None), ([{0: [0, 1, 2]}], 0), ([{}], 0)]
    if len(layout.attributes(0)) > 1:
        found += [([{0: [1, 2], 1: [0]}], None), ([{0: [1, 3], 1: [1]}], 0)]
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PLANS)
def test_every_way_is_exactly_unbiased_and_has_exactly_the_predicted_variance(name, method):
    """Over all layers, reports and seeds, for every person; the variance for people spread
    evenly.
    """
    columns, epsilon, published = PLANS[name]
    layout = layout_of(columns, method, epsilon, published=published)
    rows = people(layout)
    for where, measured in questions(layout):
        wanted = truth(layout, rows, *where, measured=measured)
        for way in WAYS if method == "hio" else WAYS[::3]:
            work = planned(layout, question(layout, *where, measured=measured), way)
            mean, variance = of_total(work, rows)
            np.testing.assert_allclose(mean, wanted, atol=1e-9)
            assert variance.mean() == pytest.approx(work.variances[0], rel=1e-9, abs=1e-9)
            assert (variance > -1e-9).all()


@pytest.mark.parametrize("kinds", [("GRR", GRR), ("affine", AffineResponse), ("hashing", OLH)])
def test_the_plans_that_are_listed_use_the_mechanism_that_they_are_named_after(kinds):
    name, kind = kinds
    columns, epsilon, published = PLANS[name]
    family = layout_of(columns, "hio", epsilon, published=published).factors[0].slots[0].family
    assert any(isinstance(one, kind) for one in family.mechanisms)


@pytest.mark.parametrize("name", ["GRR", "affine", "hashing"])
def test_the_sum_of_several_conditions_has_exactly_the_predicted_variance(name):
    """A OR B as A + B - AB becomes one target; A OR A is A."""
    columns, epsilon, published = PLANS[name]
    layout = layout_of(columns, "hio", epsilon, published=published)
    rows = people(layout)
    both = question(layout, {0: [0, 1, 2]}, {1: [0]}, {0: [0, 1, 2], 1: [0]})
    object.__setattr__(both.where[2], "factor", -1.0)
    mean, variance = of_total(planned(layout, both, Method()), rows)
    np.testing.assert_allclose(mean, (rows[:, 0] < 3) | (rows[:, 1] == 0), atol=1e-9)
    assert variance.mean() == pytest.approx(planned(layout, both, Method()).variances[0], rel=1e-9)
    twice = question(layout, {0: [1, 2]}, {0: [1, 2]}, {0: [1, 2]})
    object.__setattr__(twice.where[2], "factor", -1.0)
    once = question(layout, {0: [1, 2]})
    for one, other in zip(
        of_total(planned(layout, twice, Method()), rows),
        of_total(planned(layout, once, Method()), rows),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_layers_that_are_decoded_column_by_column_are_exactly_unbiased(monkeypatch):
    """As layers of more than 2^20 cells are; here from 2 cells on, so that their reports can be
    listed.
    """
    monkeypatch.setattr(layers, "ALIGNED_FROM", 1)
    layout = layout_of({"a": ordinal(3), "b": TWO}, "hio", 0.8)
    slot = layout.factors[0].slots[0]
    assert any(slot.family.cell(member).aligned for member in range(len(slot.family)))
    rows = people(layout)
    for where, measured in questions(layout)[:4]:
        where = [{at: [value for value in one[at] if value < 3] for at in one} for one in where]
        work = planned(layout, question(layout, *where, measured=measured), Method())
        mean, _ = of_total(work, rows)
        np.testing.assert_allclose(mean, truth(layout, rows, *where, measured=measured), atol=1e-9)


def brute(slot, member, one, reports):
    """The votes for a layer's coefficients by comparing the reports with every cell of the padded
    domain.
    """
    question, terms = slot.family[member], layer_terms(slot, member, one)
    cell, mechanism = question.encoding, question.mechanism
    order, sizes = cell.order, [1 << bits for bits in cell.bits] if cell.aligned else cell.factors
    cells = getattr(mechanism, "cells", mechanism.size)
    total = np.zeros(prod(sizes))
    for term in terms:
        filled = [
            np.append(v, np.full(size - len(v), v.mean()))
            for v, size in zip(term.factors, sizes, strict=True)
        ]
        total += term.weight * reduce(np.multiply.outer, [filled[place] for place in order]).ravel()
    spare = 0.0 if isinstance(mechanism, OLH) else total.mean()
    whole = np.append(total, np.full(cells - len(total), spare))
    raw = mechanism.support(reports, np.arange(cells)) @ whole
    return (raw - mechanism.q * whole.sum()) / (mechanism.p - mechanism.q)


def scored_and_brute(layout, where, measured=None, reports=40):
    """Yield for every layer what the product scores and what brute force does, without what belongs
    to all layers.
    """
    work = planned(layout, question(layout, where, measured=measured), Method())
    for made in work.scorings.values():
        for slot in made.factor.slots:
            base = (
                scoring.layer_means(slot, made.columns[0])
                + (slot is made.factor.slots[0]) * made.columns[0].known
            )
            for member in range(len(slot.family)):
                asked = slot.family[member]
                rows = people(layout)[np.arange(reports) % len(people(layout))]
                listed = asked.privatize(PersonTables((rows,)), SeededRng(member))
                found = made(slot.number, member, listed)[:, 0]
                mean = sum(term.mean for term in layer_terms(slot, member, made.columns[0]))
                centred = not isinstance(asked.mechanism, OLH)
                votes = brute(slot, member, made.columns[0], listed) - mean * centred
                yield found, base + votes / slot.chance(member)


BIG = {"a": ordinal(13), "b": THREE, "c": ordinal(6)}


@pytest.mark.parametrize(("epsilon", "published"), [(1.0, False), (3.0, False), (1.0, True)])
@pytest.mark.parametrize("measured", [None, 0])
def test_a_score_is_what_comparing_a_report_with_every_cell_gives(epsilon, published, measured):
    layout = layout_of(BIG, "hio", epsilon, published=published)
    for found, expected in scored_and_brute(layout, {0: [2, 3, 4, 5], 1: [0, 2]}, measured):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("measured", [None, 0])
def test_so_it_is_where_columns_are_decoded_apart(monkeypatch, measured):
    monkeypatch.setattr(layers, "ALIGNED_FROM", 3)
    layout = layout_of(BIG, "hio", 1.0)
    assert any(getattr(one, "groups", ()) for one in layout.factors[0].slots[0].family.mechanisms)
    for found, expected in scored_and_brute(layout, {0: [2, 3, 4, 5], 1: [0, 2]}, measured):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def differs(layout, measured=None):
    return any(
        not np.allclose(found, expected, rtol=1e-9, atol=1e-9)
        for found, expected in scored_and_brute(layout, {0: [2, 3, 4, 5], 1: [0, 2]}, measured)
    )


def test_padding_left_at_nought_is_caught(monkeypatch):
    layout = layout_of(BIG, "hio", 1.0)
    plain = AffineResponse.score

    def unfilled(self, reports, coefficients):
        whole = AffineResponse(self.epsilon, self.cells, self.buckets, self.groups, self.keep)
        return plain(whole, reports, np.append(coefficients, np.zeros(self.cells - self.size)))

    def listed(self, reports, target):
        return self.score(reports, target.dense(self.size))

    monkeypatch.setattr(AffineResponse, "score_terms", listed)
    assert not differs(layout)
    monkeypatch.setattr(AffineResponse, "score", unfilled)
    assert differs(layout)


def test_factors_in_the_wrong_order_are_caught(monkeypatch):
    monkeypatch.setattr(layers, "ALIGNED_FROM", 3)
    layout = layout_of(
        {"a": ordinal(8), "b": ordinal(7)}, "hio", 1.0, fanout=8
    )  # groups of equal widths
    plain = AffineResponse.score_product
    monkeypatch.setattr(
        AffineResponse,
        "score_product",
        lambda self, reports, parts: plain(self, reports, parts[::-1]),
    )
    found = list(scored_and_brute(layout, {0: [2, 3, 4], 1: [0, 2]}))
    assert any(not np.allclose(one, other) for one, other in found)


def test_what_belongs_to_all_layers_is_not_forgotten(monkeypatch):
    layout = layout_of({"a": ordinal(6), "b": THREE}, "hio", 4.0)
    rows = people(layout)
    monkeypatch.setattr(scoring, "layer_means", lambda slot, column: 0.0)
    mean, _ = of_total(planned(layout, question(layout, {0: [1, 2]}), Method()), rows)
    assert np.abs(mean - truth(layout, rows, {0: [1, 2]})).max() > 0.1


def whole(layout, way):
    """The scoring of a condition that is true of everybody."""
    factor = layout.factors[0]
    sets = {column: np.ones(layout.attributes(0)[column].size, bool) for column in factor.columns}
    return Scoring(factor, (coefficients(Target(factor, sets), way),))


@pytest.mark.parametrize("way", ["add", "signed", "gls", "blue"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_every_report_of_every_layer_scores_one_for_everything(epsilon, way):
    """What holds of everybody is answered without noise, padded domains or not."""
    layout = layout_of(BIG, "hio", epsilon)
    made = whole(layout, Method(way))
    rows = np.tile(people(layout)[:20], (2, 1))
    for slot in made.factor.slots:
        for member in range(len(slot.family)):
            reports = slot.family[member].privatize(PersonTables((rows,)), SeededRng(member))
            np.testing.assert_allclose(made(slot.number, member, reports), 1.0, atol=1e-12)


def test_published_scores_of_everything_are_one_on_average_only():
    """Local hashing does not support the same number of cells in every report."""
    layout = layout_of({"a": ordinal(4), "b": TWO}, "hio", 0.3, published=True)
    made = whole(layout, Method("blue"))
    mean, square = factor_moments(made, people(layout))
    np.testing.assert_allclose(mean, 1.0, atol=1e-9)
    assert (square > 1.1).all()


WIDE = {"a": ordinal(5), "b": ordinal(5), "c": ordinal(5), "d": ordinal(5)}


def scored_together(made, slot, groups):
    """Return whether the reports of all layers of a group score what they score layer by layer."""
    dice = np.random.default_rng(3)
    rows = dice.integers(0, 5, (12, 4))
    same = []
    for members in groups:
        batches = [
            slot.family[member].privatize(PersonTables((rows,)), SeededRng(member))
            for member in members
        ]
        apart = [
            made(slot.number, member, batch) for member, batch in zip(members, batches, strict=True)
        ]
        together = made(slot.number, np.repeat(members, len(rows)), np.concatenate(batches))
        same.append(np.allclose(together, np.concatenate(apart), rtol=1e-12, atol=1e-12))
    return all(same)


@pytest.mark.parametrize("aligned_from", [2, 20])
def test_layers_that_are_alike_are_scored_together(monkeypatch, aligned_from):
    """Layers that divide the columns nobody asks about into as many cells have the same target."""
    monkeypatch.setattr(layers, "ALIGNED_FROM", aligned_from)
    layout = layout_of(WIDE, "hio", 1.0, fanout=3)
    asked = question(layout, {0: [0, 1]}, {1: [1, 2, 3]})
    (made,) = planned(layout, asked, Method()).scorings.values()
    (slot,) = made.factor.slots
    groups = {}
    for member in range(len(slot.family)):
        groups.setdefault(made.alike(slot.number, member), []).append(member)
    print(f"{len(slot.family)} layers, {len(groups)} groups")
    assert len(groups) < 0.7 * len(slot.family)
    assert scored_together(made, slot, groups.values())
    # Layers that are not alike have other targets.
    by_mechanism = {}
    for members in groups.values():
        by_mechanism.setdefault(slot.mechanism(members[0]), []).append(members[0])
    most = max(by_mechanism.values(), key=len)
    assert len(most) > 1
    assert not scored_together(made, slot, [most])
