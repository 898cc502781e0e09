"""The questions that every search in sets is made of: which candidate, and how many of them.

Source: Wang 2021, section 5.3.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nextafter

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SetNoise
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.errors import ParameterError
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.itemsets.padding import MISTAKE, Reach, amplified, direct_is_better, reach
from sottovoce.postprocess.shifted_noise import ShiftedNoise
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Ask, Question
from sottovoce.tasks.round import Round

Candidates = tuple[tuple[int, ...], ...]

_LARGEST_INNER = 20.0


def which(epsilon: float, items: int, length: int, among: Candidates = (), *, paper: bool = False) -> Question:
    """Return the question for one candidate of a set padded to ``length``; the oracle adapts (Adap).

    Direct response is amplified by the sampling, so it wins over hashing for small sets of candidates.
    """
    encoding = Sample(items, length, among)
    size = encoding.candidates + length
    if direct_is_better(epsilon, length, encoding.candidates):
        return _direct(epsilon, size, encoding)
    return Question(_hashed(epsilon, size, paper=paper), encoding)


def _direct(epsilon: float, size: int, encoding: Sample) -> Question:
    inner = min(amplified(epsilon, encoding.length), _LARGEST_INNER)
    while True:
        try:
            return Question(GRR(inner, size), encoding, epsilon)
        except ParameterError:  # a rounding of the last digit too much
            inner = nextafter(inner, 0.0)


def _hashed(epsilon: float, size: int, *, paper: bool) -> PureMechanism:
    return OLH(epsilon, size) if paper or size < AffineResponse.min_size else AffineResponse(epsilon, size)


def how_many(epsilon: float, items: int, among: Candidates, *, paper: bool = False) -> Question:
    """Return the question for the number of candidates that somebody has."""
    size = len(among) + 1
    return Question(OLH(epsilon, size) if paper else choose(size, epsilon).mechanism, Size(items, among))


def share_of(number: int, ask: Ask, shares: Sequence[int]) -> Round:
    """Return the round that takes its percentage of all users, after those of the rounds before it."""
    before = sum(shares[:number])
    return Round(number, ask, UNIT * before // 100, UNIT * (before + shares[number]) // 100)


def candidates_of(asked: Round) -> Candidates:
    """Return the candidates that a round has asked about."""
    encoding = asked.question(Address(asked.number)).encoding
    assert isinstance(encoding, (Sample, Size))
    return encoding.among


def everybody(collected: Collected) -> int:
    """Return how many users all rounds had."""
    return sum(collected.users(asked.number) for asked in collected.rounds)


def sampled(collected: Collected, number: int, population: int) -> Estimate:
    """Return how many people have each candidate, from a round that asked for one of them."""
    question = collected.rounds[number].question(Address(number))
    encoding, mechanism = question.encoding, question.mechanism
    assert isinstance(encoding, Sample)
    assert isinstance(mechanism, PureMechanism)
    estimate, length = collected.estimate(Address(number)), encoding.length
    noise = SetNoise.sampled(mechanism.p, mechanism.q, length)
    votes = length * estimate.votes[: encoding.candidates]
    return Estimate(votes, noise, estimate.users, question.epsilon, population)


def padding(collected: Collected, number: int, *, paper: bool = False) -> Reach:
    """Return how far to pad, from a round that asked how many candidates people have."""
    estimate = collected.estimate(Address(number))
    counts, lengths = estimate.totals[1:], len(estimate.votes) - 1
    return reach(counts.tolist(), estimate.threshold(MISTAKE, lengths), guarded=not paper)


def corrected(estimate: Estimate, reached: Reach) -> Estimate:
    """Return the estimate with what sets beyond the padding lost given back, the raw one kept beside it."""
    # One factor is right for all items together, not for each: errors include the whole move.
    factor = reached.correction
    if factor == 1:
        return estimate
    step = f"times {factor:.4g} for sets of more than {reached.length}"
    noise = ShiftedNoise(estimate.votes, estimate.noise, whole=False)
    return replace(estimate, votes=factor * estimate.votes, noise=noise, steps=(step,), raw=estimate)


def largest(estimate: Estimate, count: int) -> Ints:
    """Return the places of the largest estimates, in descending order; of equal ones the first."""
    return np.argsort(-estimate.votes, kind="stable")[:count]
