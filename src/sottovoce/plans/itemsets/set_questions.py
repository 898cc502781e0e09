"""The questions that every search in sets consists of: which candidate, and how many of them.

Candidates are sets of items; a single item is a set of one.

Source: Wang 2021, section 5.3.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nextafter

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.influence import ScaledInfluence
from sottovoce.core.noise import SetNoise
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.errors import ParameterError
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.itemsets.padded_noise import PaddedNoise
from sottovoce.plans.itemsets.padding import (
    MISTAKE,
    Padding,
    amplified,
    direct_is_better,
    fit_padding,
    pad_for_sets,
    with_highest,
)
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

Candidates = tuple[tuple[int, ...], ...]

_MAX_INNER_EPSILON = 20.0
_FEW_CANDIDATES = 8  # beyond that the largest number of them shows which mechanism counts them


def ask_which(
    epsilon: float, items: int, length: int, among: Candidates = (), *, paper: bool = False
) -> Question:
    """Return the question about one candidate of a set padded to ``length``.

    The mechanism adapts: direct response is amplified by the sampling, so it wins over hashing for
    small sets of candidates.  With ``paper``, hashing is by OLH as published.
    """
    encoding = Sample(items, length, among)
    size = encoding.candidates + length
    if direct_is_better(epsilon, length, encoding.candidates):
        return _amplified_question(epsilon, size, encoding)
    return Question(_hashing(epsilon, size, paper=paper), encoding)


def _hashing(epsilon: float, size: int, *, paper: bool) -> PureMechanism:
    if paper or size < AffineResponse.min_size:
        return OLH(epsilon, size)
    return AffineResponse(epsilon, size)


def _amplified_question(epsilon: float, size: int, encoding: Sample) -> Question:
    inner = min(amplified(epsilon, encoding.length), _MAX_INNER_EPSILON)
    while True:
        try:
            return Question(GRR(inner, size), encoding, epsilon)
        except ParameterError:  # rounding made the last digit too large
            inner = nextafter(inner, 0.0)


def ask_how_many(epsilon: float, items: int, among: Candidates, *, paper: bool = False) -> Question:
    """Return the question about the number of candidates that a person has."""
    size = len(among) + 1
    mechanism = OLH(epsilon, size) if paper else choose(size, epsilon, UNSTATED_RULE).mechanism
    return Question(mechanism, Size(items, among))


def later_asks(
    epsilon: float, items: int, max_candidates: int, *, paper: bool = False
) -> list[Ask]:
    """Return questions that stand for all about so many candidates: the widest of every kind."""
    candidates = tuple((item,) for item in range(min(max_candidates, items)))
    shortest, longest = (Sample(items, length, candidates) for length in (1, len(candidates)))
    asks: list[Ask] = [_amplified_question(epsilon, 2 * len(candidates), longest)]
    for encoding in (shortest, longest):
        size = encoding.candidates + encoding.length
        asks.append(Question(_hashing(epsilon, size, paper=paper), encoding))
    counts = {*range(1, min(len(candidates), _FEW_CANDIDATES) + 1), len(candidates)}
    asks += [
        ask_how_many(epsilon, items, candidates[:count], paper=paper) for count in sorted(counts)
    ]
    return asks


def round_with_share(number: int, ask: Ask, percentages: Sequence[int]) -> Round:
    """Return the round that asks its percentage of all users, after those of earlier rounds."""
    before = sum(percentages[:number])
    after = before + percentages[number]
    return Round(number, ask, UNIT * before // 100, UNIT * after // 100)


def candidates_of(asked: Round) -> Candidates:
    """Return the candidates that a round asked about."""
    encoding = asked.question(Address(asked.number)).encoding
    assert isinstance(encoding, (Sample, Size))
    return encoding.among


def total_users(collected: Collected) -> int:
    """Return how many users all rounds had."""
    return sum(collected.users(asked.number) for asked in collected.rounds)


def estimate_sampled(collected: Collected, number: int, population: int) -> Estimate:
    """Return how many people have each candidate, from a round that asked for one of them."""
    question = collected.rounds[number].question(Address(number))
    encoding = question.encoding
    mechanism = question.mechanism
    assert isinstance(encoding, Sample)
    assert isinstance(mechanism, PureMechanism)
    estimate = collected.estimate(Address(number))
    length = encoding.length
    sampling = SetNoise.sampled(mechanism.p, mechanism.q, length)
    noise = estimate.noise.for_people(sampling, length)
    votes = length * estimate.votes[: encoding.candidates]
    law = ScaledInfluence(mechanism.influence_law, length)
    sampled = Estimate(votes, noise, estimate.users, question.epsilon, law=law)
    return sampled.of(population, coins_checked=collected.coins_checked)


def estimate_padding(collected: Collected, number: int, *, paper: bool = False) -> Padding:
    """Return how far to pad, from a round that asked how many candidates people have."""
    estimate = collected.estimate(Address(number))
    candidates = candidates_of(collected.rounds[number])
    if not paper and any(len(candidate) > 1 for candidate in candidates):
        return pad_for_sets(estimate)
    counts = estimate.totals[1:]
    threshold = estimate.threshold(MISTAKE, len(counts))
    padding = fit_padding(counts.tolist(), threshold, guarded=not paper)
    return padding if paper else with_highest(padding, estimate)


def correct_for_padding(estimate: Estimate, padding: Padding) -> Estimate:
    """Return the estimate times the correction of the padding; the raw one is kept beside it.

    The influence of one report is that under this padding.  The influence of false reports on the
    padding itself is not included.
    """
    # One factor is right for all items together, not for each: errors include the whole move.
    factor = padding.correction
    highest = max(factor, padding.highest)
    if highest == 1:
        return estimate
    noise = PaddedNoise(estimate.votes, estimate.noise, whole=False, highest=highest)
    if factor == 1:
        return replace(estimate, noise=noise)
    step = f"times {factor:.4g} for sets of more than {padding.length}"
    votes = factor * estimate.votes
    law = estimate.law and ScaledInfluence(estimate.law, factor)
    return replace(estimate, votes=votes, noise=noise, steps=(step,), raw=estimate, law=law)


def largest(estimate: Estimate, count: int) -> Ints:
    """Return the indices of the largest estimates, in descending order; of equal ones the first."""
    return np.argsort(-estimate.votes, kind="stable")[:count]
