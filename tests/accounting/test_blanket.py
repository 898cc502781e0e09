"""Blankets: the closed forms of every mechanism by enumeration, mixtures, and what asks return."""

from itertools import permutations
from math import exp, sqrt

import numpy as np
import pytest

import sottovoce as sv
from accounting import laws
from sottovoce.accounting.blanket import Blanket
from sottovoce.encodings.sample import Sample
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.bloom import Bloom
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.rmp import RMP
from sottovoce.plans.itemsets.padding import amplified
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.views import Views
from sottovoce.tasks.question import Question

SIGMAS = 5
SEEDS = 200_000


@pytest.mark.parametrize("mechanism", laws.MECHANISMS, ids=laws.name)
def test_share_and_overlap_are_those_of_the_listed_law(mechanism):
    supports, chances = laws.law(mechanism)
    ratio = exp(mechanism.epsilon_realised)
    if mechanism.epsilon_once is not None:
        ratio = exp(mechanism.epsilon_once)
    # P[m | x] = base(m) (E if m supports x else 1), for one base whatever x is
    bases = chances / np.where(supports, ratio, 1.0)
    assert np.allclose(bases, bases[:, :1], rtol=1e-9, atol=0)
    blanket = bases[:, 0] / bases[:, 0].sum()
    shares = blanket @ supports
    assert shares == pytest.approx(mechanism.share, rel=1e-12)
    for first, second in permutations(range(mechanism.size), 2):
        both = blanket @ (supports[:, first] & supports[:, second])
        assert both / shares[first] == pytest.approx(mechanism.overlap, rel=1e-12, abs=1e-15)
    # and the mass of the blanket follows from the share
    mass = 1 / (1 + mechanism.share * (ratio - 1))
    assert bases[:, 0].sum() == pytest.approx(mass, rel=1e-9)


def agreement(mechanism, first, second):
    """Return how often real seeds put two values into one bucket, in standard deviations."""
    reports = mechanism.privatize(np.full(SEEDS, first), SeededRng(5))
    supports = mechanism.support(reports, np.array([first, second]))
    own = supports[:, 0]
    both = (supports[:, 1] & own).sum()
    expected = own.sum() * mechanism.overlap
    return float((both - expected) / sqrt(expected * (1 - mechanism.overlap)))


@pytest.mark.parametrize("mechanism", [OLH(2.0, 50), AffineResponse(2.0, 50, 8), RMP(1.0, 50)])
@pytest.mark.parametrize("pair", [(0, 1), (3, 40)])
def test_the_real_hashes_have_the_overlap_of_their_family(mechanism, pair):
    deviation = agreement(mechanism, *pair)
    print(mechanism.kind, pair, "deviates by", deviation, "sigma")
    assert abs(deviation) < SIGMAS


def test_an_overlap_of_another_family_would_be_seen():
    """A broken twin: affine response does not collide as often as local hashing."""

    class Collided(AffineResponse, kind="affine_collided", wire=False):
        overlap = 1 / 8

    deviation = agreement(Collided(2.0, 50, 8), 0, 1)
    print("deviates by", deviation, "sigma")
    assert abs(deviation) > SIGMAS


def test_a_pool_of_rows_promises_no_overlap():
    """In a pool of 8 rows some pairs of values agree in far fewer rows than half of them."""
    pooled = RMP(1.0, 200, rows=8)
    assert pooled.overlap == 0.0
    assert pooled.share == 0.5
    signs = pooled.hash(np.arange(200), np.arange(8)[:, None].astype(np.uint32))
    agreements = (signs[:, :1] == signs[:, 1:]).mean(axis=0)
    assert agreements.min() <= 0.25


@pytest.mark.parametrize(
    "mechanism", [Bloom(1.0, 60), Duchi(1.0, 11), HCMS(1.0, 64)], ids=lambda one: one.kind
)
def test_mechanisms_without_a_closed_form_have_the_generic_blanket(mechanism):
    assert mechanism.blanket == Blanket(1.0, 0.5, 0.0, drawable=False)


def test_every_mechanism_kind_has_a_blanket():
    for kind in ("grr", "oue", "sue", "the", "olh", "blh", "affine", "affine_prefix", "hadamard"):
        mechanism = Mechanism.kinds[kind](epsilon=1.0, size=16)
        assert mechanism.blanket.drawable
        assert mechanism.blanket.epsilon_local == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0.0, 0.5), "`epsilon_local` must be a number above 0"),
        ((1.0, 0.0), "`share` must be a number above 0 and below 1"),
        ((1.0, 0.5, 1.5), "`overlap` must be a number from 0 to 1"),
        ((1.0, 0.75, 0.5), "`overlap` must be at least 2 - 1 / `share`"),
        ((1.0, 0.5, 0.0, 1), "`drawable` must be true or false"),
    ],
)
def test_laws_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Blanket(*settings)


def test_fakes_that_cannot_be_drawn_count_as_users():
    assert Blanket.generic(1.0).batch(100, 20).users == 120
    assert Blanket(1.0, 0.25).batch(100, 20).fakes == 20


def mixed_law(parts):
    """Return the law of (member, report) for values that differ in every member."""
    supports = []
    bases = []
    total = sum(weight for weight, _ in parts)
    for weight, mechanism in parts:
        held, chances = laws.law(mechanism)
        ratio = exp(mechanism.epsilon_realised)
        supports.append(held[:, :2])
        bases.append(weight / total * chances[:, 0] / np.where(held[:, 0], ratio, 1.0))
    return np.concatenate(supports), np.concatenate(bases)


@pytest.mark.parametrize(
    "parts",
    [
        [(1, GRR(1.0, 2)), (1, GRR(1.0, 4))],
        [(3, GRR(2.0, 4)), (2, laws.OUE(2.0, 3)), (1, laws.OLH(2.0, 3, 3))],
    ],
)
def test_a_secret_coin_mixes_blankets(parts):
    supports, bases = mixed_law(parts)
    law = bases / bases.sum()
    mixed = Blanket.mixture([(weight, mechanism.blanket) for weight, mechanism in parts])
    assert mixed.share == pytest.approx(law @ supports[:, 0], rel=1e-9)
    both = law @ (supports[:, 0] & supports[:, 1])
    assert mixed.share * mixed.overlap == pytest.approx(both, rel=1e-9)
    assert mixed.mass == pytest.approx(bases.sum(), rel=1e-9)
    assert mixed.drawable


def test_a_choice_of_equal_questions_is_hidden_like_one():
    question = Question(GRR(1.0, 4))
    blanket = Choice((question, question)).blanket
    assert (blanket.share, blanket.overlap) == (0.25, 0.0)


def test_a_choice_counts_the_weights_of_its_members():
    one = Question(GRR(1.0, 2))
    other = Question(GRR(1.0, 8))
    expected = Blanket.mixture([(5, one.mechanism.blanket), (1, other.mechanism.blanket)])
    assert Choice((one, other), (5, 1)).blanket == expected


def test_a_choice_of_views_mixes_the_mechanisms_of_its_views():
    views = Views((2, 3, 4), ((0, 1), (0, 2), (1, 2)), (GRR(1.0, 6), GRR(1.0, 8), GRR(1.0, 12)))
    expected = Blanket.mixture([(1, GRR(1.0, size).blanket) for size in (6, 8, 12)])
    assert Choice(views).blanket == expected


def test_a_member_that_is_only_known_by_its_epsilon_makes_fakes_users():
    asked = Choice((Question(GRR(1.0, 4)), Question(Bloom(1.0, 60))))
    assert not asked.blanket.drawable


def test_a_bundle_is_known_by_the_sum_of_its_epsilons():
    asked = Bundle((Question(GRR(1.0, 4)), Question(GRR(0.5, 8))))
    assert asked.blanket == Blanket.generic(1.5)


def test_a_question_whose_encoding_hides_is_known_by_its_own_epsilon():
    inner = amplified(1.5, 4) - 1e-9
    question = Question(GRR(inner, 12), Sample(8, 4), 1.5)
    assert question.blanket == Blanket.generic(1.5)
    assert Question(GRR(1.0, 12), None, 2.0).blanket == GRR(1.0, 12).blanket


def test_every_plan_of_the_front_door_has_a_blanket():
    task = sv.Task("pets", sv.Histogram([str(n) for n in range(500)]), epsilon=1.0)
    assert task.opening.ask.blanket.epsilon_local == 1.0
