"""Padding and sampling: what one report reveals about a whole set, by enumeration.

The law of the sampled element is the code's own: every outcome of its two draws is played through
once.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sottovoce.core.rng import Rng
from sottovoce.domains.integers import Integers
from sottovoce.domains.sets import Sets
from sottovoce.encodings.sample import MAX_LENGTH, Sample
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.sue import SUE
from sottovoce.plans.itemsets.padding import amplified
from sottovoce.plans.itemsets.set_questions import ask_which
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

ITEMS = 4
AMONG = ((0,), (2,), (0, 1), (1, 2, 3))
PLAYED = 3600  # a multiple of every product of the two ranges that occur here
AUDITED = 2_000_000


class Every(Rng):
    """Plays through all pairs of outcomes of one draw ``below`` and one of ``integers``, each
    equally often.
    """

    def bytes(self, count):
        raise AssertionError("nothing else is drawn")

    def below(self, limits):
        (self.range,) = set(limits.tolist())
        return np.arange(len(limits)) % self.range

    def integers(self, limit, count):
        assert count % (self.range * limit) == 0
        return np.arange(count) // self.range % limit


@dataclass(frozen=True)
class OneDummy(Sample, kind="one_dummy"):
    """A broken twin: short sets are filled with copies of a single dummy."""

    def __call__(self, values, rng):
        return np.minimum(super().__call__(values, rng), self.candidates)


def subsets(items):
    return [held for size in range(items + 1) for held in combinations(range(items), size)]


def repeated(held, people):
    return Baskets(np.arange(people + 1) * len(held), np.tile(np.array(held, np.int64), people))


def law(encoding, held):
    """How often each element is sampled from a set, of ``PLAYED`` times."""
    drawn = encoding(repeated(held, PLAYED), Every())
    return np.bincount(drawn, minlength=encoding.candidates + encoding.length)


def chances(encoding, mechanism, held):
    """The exact chance of every report of direct response under a set."""
    keep = Fraction(mechanism.keep, exact.UNIT)
    lie = (1 - keep) / (mechanism.size - 1)
    return [lie + (keep - lie) * Fraction(int(times), PLAYED) for times in law(encoding, held)]


def worst(encoding, mechanism, sets):
    """The largest ratio of the chances of one report under two of the sets."""
    laws = [chances(encoding, mechanism, held) for held in sets]
    assert all(sum(law) == 1 for law in laws)
    return max(max(report) / min(report) for report in zip(*laws, strict=True))


@pytest.mark.parametrize("held", subsets(ITEMS), ids=str)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_element_has_the_same_chance_and_dummies_share_the_rest(length, held):
    times = law(Sample(ITEMS, length), held)
    each = Fraction(1, max(length, len(held)))
    rest = (1 - each * len(held)) / length
    expected = [each if item in held else 0 for item in range(ITEMS)] + [rest] * length
    assert [Fraction(int(count), PLAYED) for count in times] == expected


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("among", [(), AMONG], ids=["items", "itemsets"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_whole_report_spends_epsilon_and_no_more(length, among, epsilon):
    """All pairs of sets, from the integer threshold of the response, in rational numbers."""
    encoding = Sample(ITEMS, length, among)
    question = ask_which(epsilon, ITEMS, length, among)
    assert question.mechanism.kind == "grr"
    ratio = worst(encoding, question.mechanism, subsets(ITEMS))
    assert ratio == encoding.worst_ratio(question.mechanism)
    assert exact.log(ratio) <= exact.stated(epsilon)
    assert float(exact.log(ratio)) == pytest.approx(epsilon, abs=1e-9)


def test_a_single_dummy_is_caught():
    """Epsilon 1 padded to 5 really spends 2.26: an empty set says the dummy for certain."""
    encoding, mechanism = OneDummy(5, 5), GRR(amplified(1.0, 5), 10)
    assert exact.log(encoding.worst_ratio(mechanism)) <= 1 + exact.stated(
        1e-12
    )  # what it would claim
    spent = float(exact.log(worst(encoding, mechanism, subsets(5))))
    assert spent == pytest.approx(amplified(1.0, 5), abs=1e-9)
    assert round(spent, 2) == 2.26


def test_a_single_dummy_is_caught_even_where_nobody_has_nothing():
    encoding, mechanism = OneDummy(5, 5), GRR(amplified(1.0, 5), 10)
    assert round(float(exact.log(worst(encoding, mechanism, subsets(5)[1:]))), 2) == 2.06


@pytest.mark.parametrize("kind", [OLH, AffineResponse, BLH])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_hashing_gains_nothing(kind, length):
    """Some seed puts one set whole into the reported bucket and nothing of another: the response's
    own ratio.
    """
    encoding, mechanism = Sample(12, length), kind(1.0, 12 + length)
    laws = np.array([law(encoding, held) for held in combinations(range(12), length)])
    reports = mechanism.privatize(np.zeros(5000, np.int64), SeededRng(3))
    inside = mechanism.support(reports, np.arange(mechanism.size)) @ laws.T
    assert ((inside.max(axis=1) == PLAYED) & (inside.min(axis=1) == 0)).any()
    assert encoding.worst_ratio(mechanism) == mechanism.worst_ratio


@pytest.mark.parametrize("kind", [SUE, OUE])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_unary_encoding_gains_nothing(kind, length):
    encoding, mechanism = Sample(ITEMS, length), kind(1.0, ITEMS + length)
    laws = np.array([law(encoding, held) for held in subsets(ITEMS)]) / PLAYED
    likely = mechanism.likelihood(mechanism.outcomes()) @ laws.T
    assert np.log(likely.max(axis=1) / likely.min(axis=1)).max() == pytest.approx(1.0, abs=1e-9)
    assert encoding.worst_ratio(mechanism) == mechanism.worst_ratio


@pytest.mark.parametrize("kind", [OLH, AffineResponse, BLH, SUE, OUE])
def test_a_question_that_claims_a_gain_for_hashing_is_refused(kind):
    with pytest.raises(ParameterError, match="spends more"):
        Question(kind(amplified(1.0, 3), ITEMS + 3), Sample(ITEMS, 3), 1.0)


def test_a_question_that_claims_more_than_the_length_gives_is_refused():
    Question(GRR(amplified(1.0, 3) - 1e-9, 7), Sample(ITEMS, 3), 1.0)
    with pytest.raises(ParameterError, match="spends more"):
        Question(GRR(amplified(1.0, 3) + 1e-9, 7), Sample(ITEMS, 3), 1.0)
    with pytest.raises(ParameterError, match="spends more"):
        Question(GRR(amplified(1.0, 3), 6), Sample(ITEMS, 2), 1.0)


def observed(encoding, mechanism, held, seed):
    people, rng = repeated(held, AUDITED), SeededRng(seed)
    return np.bincount(mechanism.privatize(encoding(people, rng), rng), minlength=mechanism.size)


def audit(encoding, mechanism):
    """The largest observed log-ratio of a report under two sets, and its standard error."""
    counts = np.array(
        [observed(encoding, mechanism, held, seed) for seed, held in enumerate(subsets(2))]
    )
    high, low = counts.max(axis=0), counts.min(axis=0)
    report = np.argmax(high / low)
    error = np.sqrt(sum(1 / count - 1 / AUDITED for count in (high[report], low[report])))
    return np.log(high[report] / low[report]), error


def test_two_million_reports_of_every_set_show_epsilon():
    ratio, error = audit(Sample(2, 2), ask_which(1.0, 2, 2).mechanism)
    assert abs(ratio - 1.0) < 4 * error, (ratio, error)


def test_two_million_reports_of_every_set_show_a_single_dummy():
    ratio, error = audit(OneDummy(2, 2), ask_which(1.0, 2, 2).mechanism)
    assert ratio > 1.0 + 4 * error, (ratio, error)
    assert abs(ratio - amplified(1.0, 2)) < 4 * error, (ratio, error)


@pytest.mark.parametrize("encoding", [Sample(ITEMS, 3), Sample(ITEMS, 2, AMONG)])
def test_an_empty_set_yields_a_dummy(encoding):
    drawn = encoding(repeated((), 1000), SeededRng(1))
    assert set(drawn.tolist()) == set(
        range(encoding.candidates, encoding.candidates + encoding.length)
    )


def test_a_long_set_is_sampled_as_it_is():
    """Nothing is cut off by a rule: all ten of ten come up, padded to two; a sampler that cuts is
    caught.
    """
    assert unevenness(Sample(10, 2)) < 5
    assert unevenness(Cut(10, 2)) > 5


@dataclass(frozen=True)
class Cut(Sample, kind="cut"):
    """A broken twin: only the first ``length`` items of a set are looked at."""

    def __call__(self, values, rng):
        return super().__call__(repeated(range(self.length), len(values)), rng)


def unevenness(encoding):
    """The largest distance of an element of ten from its share of 5,000 draws, in sigma."""
    drawn = encoding(repeated(range(10), 5000), SeededRng(2))
    return np.abs(np.bincount(drawn, minlength=10)[:10] - 500).max() / np.sqrt(5000 * 0.1 * 0.9)


def test_only_candidates_held_whole_are_sampled():
    held = Baskets.of([2, 1, 0], [0, 1, 3])
    drawn = [Sample(ITEMS, 2, AMONG)(held, SeededRng(seed)).tolist() for seed in range(200)]
    assert {row[0] for row in drawn} == {0, 2}  # (0,) and (0, 1): two of two
    assert {row[1] for row in drawn} == {row[2] for row in drawn} == {4, 5}


def test_the_same_is_drawn_whatever_the_set():
    """Eight bytes but for a redrawn word: a stream of ones is never rejected."""
    for held in subsets(ITEMS):
        rng = RecordedRng(b"\xff" * 64)
        Sample(ITEMS, 3)(repeated(held, 1), rng)
        assert rng.consumed == 8


def test_all_outputs_need_an_answer():
    domain, encoding = Sets(range(ITEMS)), Sample(ITEMS, 3)
    assert encoding.outputs(domain) == 7
    assert Sample(ITEMS, 2, AMONG[:3]).outputs(domain) == 5
    Question(GRR(1.0, 7), encoding).check_domain(domain)
    with pytest.raises(ParameterError, match="the mechanism serves"):
        Question(GRR(1.0, 4), encoding).check_domain(domain)  # without the dummies
    for other in (Integers(0, 3), Sets(range(5))):
        with pytest.raises(ParameterError, match="the question asks about sets of 4 items"):
            encoding.outputs(other)


@pytest.mark.parametrize("length", [0, -1, 1.0, True, MAX_LENGTH + 1])
def test_an_impossible_length_is_refused(length):
    with pytest.raises(ParameterError, match="length"):
        Sample(ITEMS, length)


def test_candidates_that_are_no_sets_are_refused():
    for among in (((),), ((1, 0),), ((0,), (0,)), ((4,),)):
        with pytest.raises(ParameterError):
            Sample(ITEMS, 1, among)


@pytest.mark.parametrize(
    "question",
    [ask_which(1.0, ITEMS, 3), ask_which(0.1, 50, 2, ((0, 7), (9,))), ask_which(1.0, 5000, 2)],
)
def test_the_document_restores_the_question(question):
    asked = Round(1, question, 7, 8)
    read = codec.round_(codec.parse(codec.canonical(codec.document(asked))))
    assert read == asked
    assert read.ask.epsilon == question.epsilon


def test_whoever_promotes_a_set_never_sends_a_dummy_for_it():
    """Each candidate of the set is named about equally often; a set without one is a dummy."""
    encoding = Sample(4, 3, ((0,), (2,), (1, 3)))
    people = repeated((0, 1, 3), 2000)
    elements = encoding.promoting(people, SeededRng(1))
    counts = np.bincount(elements, minlength=6)
    print(counts)
    assert counts[[1, 3, 4, 5]].sum() == 0
    assert abs(counts[0] - 1000) < 5 * np.sqrt(500)
    honest = np.bincount(encoding(people, SeededRng(1)), minlength=6)
    assert honest[3:].sum() > 0, "an honest person draws dummies"
    assert (encoding.promoting(repeated((1,), 50), SeededRng(1)) >= 3).all()
