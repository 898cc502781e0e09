"""Correction of a round on request: leave out implausible seeds, then weight reports by loads.

A defence only ever answers an alarm.  If no test alarms there is nothing to defend against, and the
answer is the raw one.  What was done stands in the steps of every estimate, and the raw estimate
stays with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Reports, Values
from sottovoce.core.rng import KeyedRng
from sottovoce.integrity import seeds
from sottovoce.integrity.candidates import Candidates, gather, largest
from sottovoce.integrity.round_tests import Examined, RoundTests
from sottovoce.maths import hashing
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address


@dataclass(frozen=True, eq=False)
class SeedFilter:
    """Which reports of each address are kept, in the order of the reports."""

    kept: Mapping[Address, Bools]

    @property
    def left_out(self) -> int:
        """Return how many reports are left out."""
        return sum(int(np.count_nonzero(~kept)) for kept in self.kept.values())

    @property
    def step(self) -> str:
        """Return what was done, for the steps of an estimate."""
        return f"seed filter: {self.left_out:,} reports left out"


def seed_filter(
    collected: Collected,
    round_number: int,
    found: RoundTests,
    fresh: dict[Address, Reports] | None = None,
) -> SeedFilter | None:
    """Return which reports to keep by their seeds; None if they leave out none.

    ``fresh`` keeps the honest seeds that were drawn for every address, for the next time.
    """
    fresh = {} if fresh is None else fresh
    alarming = {
        key: pool
        for key, pool in found.pools.items()
        if any(test.alarm and test.name == seeds.SPECTRUM for test in pool.tests(0))
    }
    if not alarming:
        return None
    asked = collected.rounds[round_number]
    kept = {}
    for address in collected.report_counts(round_number):
        mechanism = asked.question(address).mechanism
        reports = np.concatenate(list(collected.reports(address)))
        pool = alarming.get(mechanism.evidence(reports[:0]).key)
        if pool is None:
            continue
        if address not in fresh:
            context = f"seed filter {address.round} {address.member} {address.slot}".encode()
            rng = KeyedRng(collected.seed, context)
            fresh[address] = seeds.fresh_reports(pool.mechanism, rng)
        kept[address] = seeds.plausible_seeds(pool, reports, fresh[address])
    found_filter = SeedFilter(kept)
    return found_filter if found_filter.left_out else None


@dataclass(frozen=True, eq=False)
class Suspected:
    """The candidates of the reports that are kept at an address, and which of them to suspect."""

    candidates: Candidates
    suspects: Bools


def suspected(collected: Collected, found: RoundTests) -> dict[Address, Suspected]:
    """Return the addresses whose reports can be weighted by loads, with whom to suspect there.

    ``collected`` has the reports that are kept.  Suspects were found among all reports, because a
    filter may leave false reports that are too few to be seen again.
    """
    suspects = {}
    for examined in found.examined:
        mechanism = examined.candidates.mechanism
        if not len(examined.members) or examined.candidates.hashed is None:
            continue
        reports = np.concatenate(list(collected.reports(examined.address)))
        values = _with_suspects(collected, examined)
        candidates = gather(mechanism, reports, values)
        members = np.asarray(examined.candidates.values)[examined.members]
        suspects[examined.address] = Suspected(candidates, _among(values, members))
    return suspects


def _with_suspects(collected: Collected, examined: Examined) -> Values:
    """Return the largest estimates of the reports that are kept, and the suspects."""
    mechanism = examined.candidates.mechanism
    values = np.asarray(examined.candidates.values)
    if not mechanism.has_tally:
        return values
    kept = largest(mechanism.estimate(collected.tally(examined.address)).votes)
    return np.union1d(kept, values[examined.members])


def _among(values: Values, members: Values) -> Bools:
    chosen = set(hashing.numbers_of(members))
    return np.array([number in chosen for number in hashing.numbers_of(values)], bool)
