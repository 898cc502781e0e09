"""The last step of methods by pieces: whole values are candidates, tested by reports.

Source: Wang 2021, section 4.1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import instance, whole
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

TESTER_EVERY = 10  # one user of so many tests whole values where users are partitioned


def check_search(domain: Domain, top: int, max_top: int) -> None:
    """Refuse a domain without bits, and too few or too many sought values."""
    instance("domain", domain, Bits, Strings)
    whole("top", top, 1, max_top)


def whole_value(domain: Domain, epsilon: float) -> Question:
    """Return the question about the whole value."""
    return Question(AffinePrefix(epsilon, domain.size))


def piece_mechanism(epsilon: float, size: int) -> Mechanism:
    """Return the mechanism for a piece with ``size`` values."""
    if size < AffineResponse.min_size:
        return GRR(epsilon, size)
    return AffineResponse(epsilon, size)


def with_testers(tested: Question, others: Sequence[Any]) -> Choice:
    """Return the choice in which one user of ten answers the first question, the rest others."""
    weights = (len(others), *[TESTER_EVERY - 1] * len(others))
    return Choice((tested, *others), weights)


def pooled(estimates: Iterable[Estimate]) -> Estimate:
    """Return the estimate from the reports of several groups with the same question."""

    def add(first: Estimate, second: Estimate) -> Estimate:
        return replace(first, votes=first.votes + second.votes, users=first.users + second.users)

    return reduce(add, estimates)


@dataclass(frozen=True, eq=False)
class RankedCandidates:
    """The most frequent candidates, and how many people hold each."""

    labels: tuple[str, ...]
    estimate: Estimate


def rank_candidates(
    collected: Collected,
    addresses: Iterable[Address],
    domain: Bits | Strings,
    numbers: Sequence[int],
    top: int,
) -> RankedCandidates:
    """Return the ``top`` most frequent of some values, from the reports of whole values."""
    if not numbers:
        raise NoDataError("no pieces fit together to a value")
    among = indices_of(numbers, domain.bits)
    estimate = pooled(collected.estimate(address, among) for address in addresses)
    best = np.argsort(-estimate.votes, kind="stable")[:top]
    labels = tuple(domain.shown(numbers[index]) for index in best.tolist())
    return RankedCandidates(labels, estimate.picked(best))
