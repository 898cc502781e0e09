"""All tests of one round: those of seeds, pooled, and those of the largest estimates.

Every test alarms on an honest round with a probability of at most 1e-6, however many addresses the
round has: their thresholds share it.  A mechanism has at most five of them, so that a thousand
honest rounds raise an alarm with a probability of at most 0.005.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core.plausibility import FALSE_ALARM, PlausibilityTest, weakest
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.integrity import seeds
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.co_support import co_support
from sottovoce.integrity.false_share import false_share
from sottovoce.integrity.load import load
from sottovoce.integrity.misfit import misfit
from sottovoce.integrity.result import Integrity, Suspects
from sottovoce.integrity.round_tests import Examined, RoundTests
from sottovoce.integrity.sampling import every
from sottovoce.maths import hashing
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address

MAX_ADDRESSES = 16  # of a round whose largest estimates are tested: those with the most reports
MAX_REPORTS = 1 << 20  # of an address whose largest estimates are tested: a sample of more
MAX_BYTES = 1 << 28  # of these reports
MAX_DOMAIN = 1 << 22  # values that are estimated to find the largest


def examine(plan: Plan, collected: Collected, round_number: int) -> Integrity:
    """Return whether the reports of a round can be honest."""
    return summarise(plan, collected, round_number, tested(plan, collected, round_number))


class CandidateSource(Protocol):
    """Who knows which values at an address can become part of an outcome: a plan does."""

    def candidates(self, collected: Collected, address: Address) -> Blocks | None:
        """Return these values; None for all of the domain."""


def tested(source: CandidateSource, collected: Collected, round_number: int) -> RoundTests:
    """Return all tests of the reports of a round."""
    found = RoundTests(seeds.pooled(_batches(collected, round_number)))
    fakes = collected.fakes(round_number)
    reports = sum(pool.evidence.users for pool in found.pools.values())
    for key, pool in found.pools.items():
        part = round(fakes * pool.evidence.users / reports)
        alpha = FALSE_ALARM / len(found.pools)
        for test in pool.tests(part, alpha):
            found.add_pool_test(key, test)
        found.add_misfit(misfit(pool.mechanism, pool.evidence, alpha))
    addresses = _largest_addresses(collected, round_number)
    for address in addresses:
        examined = _examined(source, collected, address, FALSE_ALARM / len(addresses))
        if examined is None:
            continue
        found.examined.append(examined)
        found.add(None if examined.co_support is None else examined.co_support.test)
        found.add(None if examined.load is None else examined.load.test)
        found.add(_seed_pairs(examined, FALSE_ALARM / len(addresses)))
    return found


def summarise(plan: Plan, collected: Collected, round_number: int, found: RoundTests) -> Integrity:
    """Return the tests of a round as plain data."""
    suspects = [
        _suspects(plan, collected, each) for each in found.examined if each.alarming is not None
    ]
    return Integrity(
        round_number,
        sum(pool.evidence.users for pool in found.pools.values()),
        tuple(weakest(tests) for tests in found.tests.values()),
        tuple(suspects),
        false_share(found),
    )


def _batches(collected: Collected, round_number: int) -> Iterator[tuple[Mechanism, Reports]]:
    asked = collected.rounds[round_number]
    for address in collected.report_counts(round_number):
        mechanism = asked.question(address).mechanism
        for reports in collected.reports(address):
            yield mechanism, reports


def _largest_addresses(collected: Collected, round_number: int) -> list[Address]:
    counts = collected.report_counts(round_number)
    return sorted(counts, key=lambda address: (-counts[address], address))[:MAX_ADDRESSES]


def _examined(
    source: CandidateSource, collected: Collected, address: Address, alpha: float
) -> Examined | None:
    try:
        mechanism = collected.rounds[address.round].question(address).mechanism.pure()
    except ParameterError:
        return None  # reports without votes have no pairs
    values = _candidates(source, collected, address, mechanism)
    if values is None:
        return None
    candidates = gather(mechanism, _sampled(collected, address), values)
    return Examined(address, candidates, co_support(candidates, alpha), load(candidates, alpha))


def _sampled(collected: Collected, address: Address) -> Reports:
    """Return the reports at an address, of very many one in so many."""
    count = collected.report_counts(address.round)[address]
    report_bytes = max(next(collected.reports(address))[:1].nbytes, 1)
    max_count = min(MAX_REPORTS, max(1, MAX_BYTES // report_bytes))
    return every(collected.reports(address), -(-count // max_count))


def _candidates(
    source: CandidateSource, collected: Collected, address: Address, mechanism: PureMechanism
) -> Values | None:
    """Return the values with the largest estimates; None where they cannot be listed."""
    if mechanism.pair_law is None:
        return None
    try:
        among = source.candidates(collected, address)
    except NoDataError:
        return None  # nothing stands out
    if among is not None:
        votes = collected.estimate(address, among).votes
        return _indices(among, largest(votes), mechanism)
    if not mechanism.has_tally or mechanism.size > MAX_DOMAIN:
        return None
    return largest(mechanism.estimate(collected.tally(address)).votes)


def _indices(among: Blocks, chosen: Ints, mechanism: PureMechanism) -> Values:
    numbers = [among[index] for index in chosen.tolist()]
    return hashing.indices_of(numbers, (mechanism.size - 1).bit_length())


def _seed_pairs(examined: Examined, alpha: float) -> PlausibilityTest | None:
    if examined.candidates.mechanism.has_seed_spectrum:
        return None  # which looks at all pairs
    return seeds.seed_pairs(examined.candidates, alpha)


def _suspects(plan: Plan, collected: Collected, examined: Examined) -> Suspects:
    asked = collected.rounds[examined.address.round]
    members = examined.members
    scores = np.zeros((len(members), len(members)))
    if examined.co_support is not None:
        scores = examined.co_support.scores[np.ix_(members, members)]
    test = examined.alarming
    assert test is not None
    numbers = hashing.numbers_of(np.asarray(examined.candidates.values)[members])
    return Suspects(
        test=test.name,
        member=examined.address.member,
        slot=examined.address.slot,
        values=tuple(plan.cell_label(asked, examined.address, number) for number in numbers),
        scores=tuple(tuple(round(float(score), 2) for score in row) for row in scores),
    )
