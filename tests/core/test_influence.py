"""Influence: the closed forms are the extremes over all reports, of every mechanism there is."""

from itertools import combinations, product

import numpy as np
import pytest

from accounting import laws
from sottovoce.core.influence import (
    AnySetInfluence,
    CellInfluences,
    Exposure,
    GroupInfluence,
    Influence,
    MeanInfluence,
    ScaledInfluence,
    SizedSetInfluence,
    StatedInfluence,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.mechanisms.numeric import NumericMechanism

ALL = [mechanism.kind for mechanism in Mechanism.kinds.classes()]
PURE = [kind for kind in ALL if issubclass(Mechanism.kinds[kind], PureMechanism)]
NUMERIC = [kind for kind in ALL if issubclass(Mechanism.kinds[kind], NumericMechanism)]
# Every set of reports can be listed, so that the extremes of sums are found by looking.
LISTED = ["grr", "oue", "sue", "the", "subset", "hadamard"]
# The seed is a public coin of 32 or 64 bits: the laws of sums are bounds.
HASHED = ["affine", "blh", "olh", "rmp"]

# Votes for and against one value of 1,024, to the digits of docs/evidence/influence.md.
PRINTED = {
    "grr": ("1578/1.5", "596/.58", "161/.16", "20/.02"),
    "affine": ("4.08/4.08", "3.33/1.11", "2.25/.32", "2.19/.03"),
    "olh": ("5.62/2.81", "3.33/1.11", "2.25/.32", "2.04/.04"),
    "oue": ("5.08/3.08", "3.16/1.16", "2.31/.31", "2.04/.04"),
    "sue": ("4.52/3.52", "2.54/1.54", "1.58/.58", "1.16/.16"),
    "subset": ("5.07/3.08", "3.16/1.16", "2.31/.31", "2.06/.04"),
    "hadamard": ("4.08/4.08", "2.16/2.16", "1.31/1.31", "1.04/1.04"),
    "blh": ("4.08/4.08", "2.16/2.16", "1.31/1.31", "1.04/1.04"),
    "rmp": ("4.08/4.08", "2.16/2.16", "1.31/1.31", "1.04/1.04"),
    "the": ("4.82/3.70", "2.88/1.67", "1.98/.65", "1.62/.18"),
    "duchi": ("4.08/4.08", "2.16/2.16", "1.31/1.31", "1.04/1.04"),
    "piecewise": ("8.04/8.04", "4.08/4.08", "2.16/2.16", "1.31/1.31"),
    "square_wave": ("8.04/8.04", "4.10/4.10", "2.21/2.21", "1.40/1.40"),
}


def made(kind, epsilon=1.0, size=7):
    return Mechanism.kinds[kind](epsilon=epsilon, size=size)


def agrees(number, text):
    """Return whether a printed number is this one, to its last digit."""
    half_a_digit = 0.5 * 10 ** -len(text.partition(".")[2])
    return abs(number - float(text)) <= half_a_digit * (1 + 1e-9)


def test_only_the_mechanism_without_a_linear_decoder_states_no_influence():
    assert [kind for kind in ALL if made(kind).influence is None] == ["bloom"]


@pytest.mark.parametrize("kind", sorted(PRINTED))
def test_the_printed_table_is_reproduced(kind):
    for epsilon, text in zip((0.5, 1.0, 2.0, 4.0), PRINTED[kind], strict=True):
        influence = made(kind, epsilon, 1024).influence
        up, _, down = text.partition("/")
        print(kind, epsilon, influence, text)
        assert agrees(influence.up, up)
        assert agrees(influence.down, down)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kind", [kind for kind in PURE if kind != "affine_prefix"])
def test_no_report_votes_beyond_the_influence_and_some_report_reaches_it(kind, epsilon):
    mechanism = made(kind, epsilon)
    votes = mechanism.votes(mechanism.outcomes(), np.arange(mechanism.size))
    assert votes.max(axis=0) == pytest.approx(mechanism.influence.up)
    assert votes.min(axis=0) == pytest.approx(-mechanism.influence.down)


@pytest.mark.parametrize("size", [8, 1 << 200])
def test_prefixes_have_the_influence_of_their_length(size):
    mechanism = made("affine_prefix", 1.0, size)
    assert mechanism.influence == Influence.of_support(mechanism.p, mechanism.q)
    if size == 8:
        votes = mechanism.votes(mechanism.outcomes(), np.arange(size))
        assert votes.max(axis=0) == pytest.approx(mechanism.influence.up)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("kind", NUMERIC)
def test_the_influence_on_a_mean_is_the_extreme_number(kind, epsilon):
    mechanism = made(kind, epsilon, 33)
    numbers = mechanism.numbers(mechanism.codes(mechanism.outcomes()))
    assert numbers.max() == pytest.approx(mechanism.influence.up)
    assert numbers.min() == pytest.approx(-mechanism.influence.down)


@pytest.mark.parametrize("kind", LISTED)
def test_the_law_of_sums_is_the_extreme_over_all_reports(kind):
    mechanism = made(kind, 1.0, 6)
    votes = mechanism.votes(mechanism.outcomes(), np.arange(6))
    for seed in range(20):
        coefficients = np.random.default_rng(seed).normal(size=6).round(1)
        scores = votes @ coefficients
        influence = mechanism.influence_law.of(coefficients, padded=True)
        assert scores.max() == pytest.approx(influence.up)
        assert scores.min() == pytest.approx(-influence.down)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("kind", HASHED)
def test_the_law_of_sums_bounds_every_report_of_hashing(kind, padded):
    """Five values of eight: the padding has the mean coefficient or none."""
    mechanism = made(kind, 1.0, 5)
    reports = mechanism.privatize(np.arange(20_000) % 5, SeededRng(1))
    cells = np.arange(mechanism.cells if kind == "affine" else 5)
    votes = mechanism.votes(reports, cells)
    for seed in range(5):
        coefficients = np.random.default_rng(seed).normal(size=5)
        rest = coefficients.mean() if padded else 0.0
        scores = votes @ np.append(coefficients, np.full(len(cells) - 5, rest))
        influence = mechanism.influence_law.of(coefficients, padded=padded)
        assert scores.max() <= influence.up + 1e-9
        assert scores.min() >= -influence.down - 1e-9
        for value in range(5):
            single = np.zeros(5)
            single[value] = 1.0
            alone = mechanism.influence_law.of(single)
            assert votes[:, value].max() == pytest.approx(alone.up)
            assert alone.up == pytest.approx(mechanism.influence.up)
            assert alone.down == pytest.approx(mechanism.influence.down)


def test_a_law_that_forgot_the_padding_is_caught():
    """The broken twin: a sum over 5 of 8 cells whose padding has the mean coefficient."""
    mechanism = made("affine", 1.0, 5)
    reports = mechanism.privatize(np.arange(20_000) % 5, SeededRng(1))
    coefficients = np.ones(5)
    scores = mechanism.votes(reports, np.arange(8)) @ np.ones(8)
    assert scores == pytest.approx(1.0)
    right = mechanism.influence_law.of(coefficients, padded=True)
    assert (right.up, right.down) == pytest.approx((1.0, -1.0))
    assert mechanism.influence_law.of(coefficients).up > 1.0


def subspaces(bits, rank):
    """Return every affine subspace of codimension ``rank``, each as a set of points."""
    points = range(1 << bits)
    found = set()
    for masks in combinations(range(1, 1 << bits), rank):
        buckets = {}
        for point in points:
            key = tuple((mask & point).bit_count() % 2 for mask in masks)
            buckets.setdefault(key, []).append(point)
        if len(buckets) == 1 << rank:  # the masks are independent
            found |= {frozenset(bucket) for bucket in buckets.values()}
    return found


def affinely_independent(points):
    """Return whether no point is the sum of an odd number of the others."""
    first, *others = points
    basis = []
    for point in others:
        difference = point ^ first
        for element in basis:
            difference = min(difference, difference ^ element)
        if not difference:
            return False
        basis.append(difference)
    return True


@pytest.mark.parametrize(
    ("bits", "rank"), [(bits, rank) for bits in range(2, 6) for rank in range(1, bits)]
)
def test_an_affine_report_supports_few_values_that_were_chosen_freely(bits, rank):
    """Exhaustive: no subspace holds more than m - k + 1 affinely independent points."""
    mechanism = Mechanism.kinds["affine"](epsilon=1.0, size=1 << bits, buckets=1 << rank)
    most = mechanism.max_supported
    assert most == bits - rank + 1
    spaces = subspaces(bits, rank)
    for space in spaces:
        assert len(space) == mechanism.cells // mechanism.buckets
        for points in combinations(sorted(space), most + 1):
            assert not affinely_independent(points)
    if bits == 5:
        return  # that any so many points can be supported takes too long to list
    for points in combinations(range(1 << bits), most):
        if affinely_independent(points):
            assert any(space >= set(points) for space in spaces)


@pytest.mark.parametrize(
    ("kind", "most"), [("grr", 1), ("oue", 7), ("subset", 2), ("olh", 7), ("hadamard", 7)]
)
def test_how_many_values_one_report_supports_together(kind, most):
    mechanism = made(kind)
    assert mechanism.max_supported == most
    if kind != "olh":  # whose 2^32 seeds cannot be listed
        supported = mechanism.support(mechanism.outcomes(), np.arange(7)).sum(axis=1)
        assert supported.max() == most


def test_negative_factors_exchange_up_and_down():
    assert Influence(3.0, 1.0).times(-2.0) == Influence(2.0, 6.0)
    assert Influence(3.0, 1.0).times(0.5) == Influence(1.5, 0.5)
    assert Influence(3.0, 1.0).standing_for(4.0) == Influence(12.0, 4.0, 4.0)


def test_bounds_are_those_of_the_closed_form_and_hold_for_smaller_shares():
    """f in [(f' - b up) / (1 - b), (f' + b down) / (1 - b)], for 1,000 people."""
    exposure = Exposure(Influence(3.0, 1.0), 1000)
    low, high = exposure.attacked(200.0, 300.0, 0.1)
    assert low == pytest.approx((200 - 100 * 3) / 0.9)
    assert high == pytest.approx((300 + 100 * 1) / 0.9)
    shares = np.linspace(0.001, 0.1, 20)
    bounds = [exposure.attacked(200.0, 300.0, share) for share in shares.tolist()]
    assert (np.diff([bound[0] for bound in bounds]) < 0).all()
    assert (np.diff([bound[1] for bound in bounds]) > 0).all()


def test_a_group_may_hold_nothing_but_false_reports():
    """Of 1,000 people 100 make up a group: a tenth of all could be all of it."""
    exposure = Exposure(Influence(3.0, 1.0).standing_for(10.0), 1000)
    low, high = exposure.attacked(200.0, 300.0, 0.05)
    assert low == pytest.approx((200 - 50 * 30) / 0.5)
    assert high == pytest.approx((300 + 50 * 10) / 0.5)
    assert exposure.attacked(200.0, 300.0, 0.1) is None


def test_a_mean_is_widened_around_the_middle_of_its_range():
    exposure = Exposure(Influence(0.02, 0.02), 100, origin=50.0)
    low, high = exposure.attacked(60.0, 62.0, 0.2)
    assert low == pytest.approx(50 + (10 - 20 * 0.02) / 0.8)
    assert high == pytest.approx(50 + (12 + 20 * 0.02) / 0.8)


def test_stated_influences_are_picked_added_and_dealt():
    law = StatedInfluence(np.array([6.0, 2.0]), np.array([3.0, 1.0]), np.array([3.0, 1.0]))
    assert law.of(np.array([1.0, -2.0])) == Influence(8.0, 7.0, 3.0)
    assert law.of(np.zeros(2)) == Influence(0.0, 0.0, 1.0)
    assert law.picked(np.array([1])).cells(1)[0] == Influence(2.0, 1.0, 1.0)
    assert law.dealt().cells(2)[0] == Influence(2.0, 1.0, 1.0)


def test_padding_multiplies_the_influence():
    law = ScaledInfluence(AnySetInfluence(0.5, 0.25), 4.0)
    assert law.cells(3)[2] == Influence(12.0, 4.0)
    assert law.of(np.array([1.0, 0.0])).up == pytest.approx(12.0)
    assert law.picked(np.array([0])).dealt() == law


def test_a_projection_sums_the_cells_of_a_group():
    """GRR over a 2 x 2 table: its rows have two cells each, of which a report supports one."""
    inner = SizedSetInfluence(0.4, 0.2, 1, 4)
    law = GroupInfluence(inner, np.array([0, 0, 1, 1]), people=5.0)
    up, down = (1 - 0.4) / 0.2, 0.4 / 0.2
    cells = law.cells(2)
    assert (cells[1].up, cells[1].down) == pytest.approx((5 * up, 5 * down))
    assert cells[1].stands_for == 5.0
    assert law.dealt().cells(2)[0].up == pytest.approx(up)
    uneven = GroupInfluence(inner, np.array([0, 1, 1, 1]))
    assert uneven.cells(2)[0].up == pytest.approx((1 - 0.2) / 0.2)
    assert uneven.cells(2)[1].up == pytest.approx((1 - 0.6) / 0.2)


def test_an_attacker_chooses_the_table_that_moves_a_mean_most():
    laws = tuple(
        GroupInfluence(AnySetInfluence(0.5, 0.25), np.arange(2), people=people)
        for people in (2.0, 6.0)
    )
    law = MeanInfluence(np.array([0.75, 0.25]), laws)
    assert law.cells(2)[0] == Influence(4.5, 1.5, 1.5)
    assert law.dealt().cells(2)[1] == Influence(3.0, 1.0, 1.0)


def test_the_largest_influence_is_that_of_the_worst_cell():
    cells = CellInfluences.listed([Influence(3.0, 1.0, 1.0), Influence(2.0, 4.0, 2.0)])
    assert cells.largest == Influence(3.0, 4.0, 2.0)
    assert cells.largest.to_dict() == {"up": 3.0, "down": 4.0}


def test_every_set_of_values_bounds_a_sum_of_free_seeds():
    law = AnySetInfluence(0.5, 0.25)
    sums = [sum(chosen) for chosen in product((0.0, 1.0), (0.0, 2.0), (0.0, -1.0))]
    influence = law.of(np.array([1.0, 2.0, -1.0]))
    assert influence.up == pytest.approx((max(sums) - 0.25 * 2) / 0.25)
    assert influence.down == pytest.approx((0.25 * 2 - min(sums)) / 0.25)


@pytest.mark.parametrize(
    ("bits", "rank"), [(bits, rank) for bits in range(2, 5) for rank in range(1, bits)]
)
def test_under_dealt_seeds_an_affine_report_supports_no_more_than_stated(bits, rank):
    """Exhaustive: all maps, all sets of points in general position, the best bucket of each.

    The closed form is that of independent buckets.  It is a bound, and an equality for one value.
    """
    mechanism = Mechanism.kinds["affine_prefix"](epsilon=1.0, size=1 << bits, buckets=1 << rank)
    functions = laws.hash_functions(mechanism)
    for chosen in range(1, bits + 2):
        stated = mechanism.mean_supported(chosen)
        for points in combinations(range(1 << bits), chosen):
            if not affinely_independent(points):
                continue
            loads = fullest(functions[:, list(points)], mechanism.buckets)
            assert loads.max() <= mechanism.max_supported
            assert loads.mean() <= stated + 1e-12
            if chosen == 1:
                assert loads.mean() == stated == 1
            if bits == 4:
                break  # a bijection of the maps takes every such set to every other
    assert mechanism.mean_supported(bits + 1) <= mechanism.max_supported


@pytest.mark.parametrize("buckets", [2, 3, 4])
def test_under_dealt_seeds_local_hashing_supports_what_is_stated(buckets):
    """All functions of the family, each equally likely: an equality for every set of values."""
    mechanism = Mechanism.kinds["olh"](epsilon=1.0, size=5, buckets=buckets)
    functions = laws.hash_functions(mechanism)
    for chosen in range(1, 6):
        for values in combinations(range(5), chosen):
            loads = fullest(functions[:, list(values)], buckets)
            assert loads.mean() == pytest.approx(mechanism.mean_supported(chosen), abs=1e-12)
            assert loads.max() == chosen <= mechanism.max_supported


def fullest(hashed, buckets):
    """Return how many of the values the fullest bucket of every function holds."""
    return (hashed[:, :, None] == np.arange(buckets)).sum(axis=1).max(axis=1)


@pytest.mark.parametrize("kind", ["affine", "olh"])
def test_dealt_seeds_hold_as_many_chosen_values_as_stated(kind):
    """4,000 seeds, 10 values of 1,024: the mean of the fullest bucket, 5 sigma.

    The broken twin may choose the best of 20 seeds for every report.
    """
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=1024)
    targets = np.random.default_rng(4).choice(1024, 10, replace=False)
    draws = SeededRng(5).longs(80_000)
    reports = mechanism.draw_blanket_seeded(draws, SeededRng(6))
    loads = np.zeros(len(draws), int)
    for bucket in range(mechanism.buckets):
        reports["bucket"] = bucket
        loads = np.maximum(loads, mechanism.support(reports, targets).sum(axis=1))
    dealt, chosen = loads[:4000], loads.reshape(4000, 20).max(axis=1)
    stated, error = mechanism.mean_supported(10), dealt.std() / 4000**0.5
    print(f"dealt {dealt.mean():.3f}, stated {stated:.3f} +- {5 * error:.3f}; {chosen.mean():.3f}")
    assert abs(dealt.mean() - stated) < 5 * error
    assert chosen.mean() > stated + 5 * error
    # spec: a gain of .372 for 5 % of reports that take the fullest bucket of seeds they were dealt
    gain = 0.05 * (stated - 10 * mechanism.q) / (mechanism.p - mechanism.q)
    assert gain == pytest.approx(0.372, abs=0.01)


@pytest.mark.parametrize("mechanism", laws.HASHED, ids=laws.name)
def test_the_bound_for_one_value_holds_under_every_seed_and_is_reached(mechanism):
    """A dealt seed takes nothing from what one report can do to one value, up or down."""
    functions = laws.hash_functions(mechanism)
    hashed = functions[:, 0][:, None] == np.arange(mechanism.buckets)
    votes = (hashed - mechanism.q) / (mechanism.p - mechanism.q)
    assert votes.max(axis=1) == pytest.approx(np.full(len(functions), mechanism.influence.up))
    assert votes.min(axis=1) == pytest.approx(np.full(len(functions), -mechanism.influence.down))
