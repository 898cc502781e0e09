"""Correction of a round on request: leave out implausible seeds, then weight reports by loads.

A defence only ever answers an alarm.  If no test alarms there is nothing to defend against, and the
answer is the raw one.  What was done stands in the steps of every estimate, and the raw estimate
stays with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sottovoce.arrays import Bools, Values
from sottovoce.core.rng import KeyedRng
from sottovoce.integrity import seeds
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.likely_suspects import Suspected, likeliest
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
        """Return the number of reports that are removed."""
        return sum(int(np.count_nonzero(~kept)) for kept in self.kept.values())

    @property
    def step(self) -> str:
        """Return a description of the filter, for the steps of an estimate."""
        return f"seed filter: {self.left_out:,} reports left out"


def seed_filter(
    collected: Collected, round_number: int, round_tests: RoundTests
) -> SeedFilter | None:
    """Return the filter that removes reports by their seeds; None if it removes none."""
    alarming = {key: round_tests.pools[key] for key in round_tests.searched}
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
        context = f"seed filter {address.round} {address.member} {address.slot}".encode()
        fresh = seeds.fresh_reports(pool.mechanism, KeyedRng(collected.seed, context))
        kept[address] = seeds.plausible_seeds(pool, reports, fresh)
    filtered = SeedFilter(kept)
    return filtered if filtered.left_out else None


def suspected(collected: Collected, *examinations: RoundTests) -> dict[Address, Suspected]:
    """Return the addresses whose reports can be weighted by loads, with their suspects.

    ``collected`` has the kept reports.  Guesses come from tests of all reports and of kept ones.
    Both are needed: after filtering, too few false reports may remain to be detected again, or
    others may appear that were hidden before.
    """
    guesses: dict[Address, list[Examined]] = {}
    for examined in chain.from_iterable(tests.examined for tests in examinations):
        if len(examined.members) and examined.candidates.hashed is not None:
            guesses.setdefault(examined.address, []).append(examined)
    return {address: _likeliest(collected, tests) for address, tests in guesses.items()}


def _likeliest(collected: Collected, examinations: list[Examined]) -> Suspected:
    """Return the candidates at an address, and the likeliest suspects among them."""
    guesses = [
        np.asarray(examined.candidates.values)[members]
        for examined in examinations
        for members in examined.guesses
    ]
    values = _with_suspects(collected, examinations[0], guesses)
    reports = np.concatenate(list(collected.reports(examinations[0].address)))
    candidates = gather(examinations[0].candidates.mechanism, reports, values)
    return likeliest(candidates, [_among(values, members) for members in guesses])


def _with_suspects(collected: Collected, examined: Examined, guesses: list[Values]) -> Values:
    """Return the largest estimates of the reports that are kept, and all suspects."""
    mechanism = examined.candidates.mechanism
    if not mechanism.has_tally:
        return np.asarray(examined.candidates.values)
    kept = largest(mechanism.estimate(collected.tally(examined.address)).votes)
    return np.unique(np.concatenate([kept, *guesses]))


def _among(values: Values, members: Values) -> Bools:
    chosen = set(hashing.numbers_of(members))
    return np.array([number in chosen for number in hashing.numbers_of(values)], bool)
