"""Collected reports of a task, where reports that cannot be honest are removed or weigh less.

``defended`` reads the tests of a round and wraps the collected reports, so that any plan that asks
once gives a corrected outcome.  If no test alarms, it returns the collected reports unchanged.

A correction needs some hundred bytes of memory for every report.  ``defended_sample`` is for more
reports than fit into memory: it tests all of them and corrects a sample.  Its estimates are scaled
to all people and include the sampling error (``core/estimate.py``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import Bools, Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.rng import KeyedRng
from sottovoce.core.tally import Tally
from sottovoce.engine.base import estimate_candidates, estimate_people
from sottovoce.engine.kept_tallies import KeptTallies
from sottovoce.engine.memory import MemoryCollected, ReportBatch, names
from sottovoce.engine.sealed import SealedCollected
from sottovoce.errors import NoDataError, ParameterError, UnavailableError
from sottovoce.integrity import defence as defences
from sottovoce.integrity.corrected_estimate import Corrected, corrected
from sottovoce.integrity.correction_errors import REPLICATES, with_errors
from sottovoce.integrity.defence import SeedFilter
from sottovoce.integrity.examine import tested
from sottovoce.integrity.likely_suspects import Suspected
from sottovoce.integrity.round_tests import RoundTests
from sottovoce.integrity.sampling import every
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

if TYPE_CHECKING:
    from sottovoce.engine.duckdb import ReportsByPerson

CORRECTION_BYTES = 512  # memory that the correction of one report may take


def defended(
    collected: MemoryCollected,
    round_tests: RoundTests | None = None,
    replicates: int = REPLICATES,
) -> Collected:
    """Return the collected reports with the corrections that the alarms of their tests require.

    ``round_tests`` are the tests of the round, if they exist already.  The errors of corrected
    estimates come from ``replicates`` repetitions of the correction.  With 0 replicates they are
    the errors of the mechanism alone, without those of the correction.
    """
    _check(collected)
    if round_tests is None:
        round_tests = tested(collected.task.plan, collected, 0)
    return _corrected_by(round_tests, collected, collected, replicates)


def defended_sample(
    collected: SealedCollected, max_reports: int, replicates: int = REPLICATES
) -> Collected:
    """Return what ``defended`` returns, for a log larger than memory.

    A sample of at most about ``max_reports`` reports is corrected.
    """
    _check(collected)
    if collected.task.fakes or "subject" in collected.task.declares:
        raise _too_many(collected)
    round_tests = tested(collected.task.plan, collected, 0)
    return _corrected_by(round_tests, collected, _sampled(collected, max_reports), replicates)


def _check(collected: MemoryCollected | SealedCollected) -> None:
    """Refuse tasks that cannot be corrected: several rounds, or erased reports."""
    if len(collected.rounds) != 1:
        raise ParameterError(
            "`defence` applies to tasks that ask everybody in one round:"
            " later rounds of this task rest on earlier answers"
        )
    if collected.sums:
        raise NoDataError("the reports of this task have been erased; a defence needs them")


def _too_many(collected: Collected) -> UnavailableError:
    """Return the error for a task whose correction needs all reports, and not a sample."""
    count = sum(collected.report_counts(0).values())
    megabytes = -(-count * CORRECTION_BYTES // 10**6)
    return UnavailableError(
        "`defence` needs all reports of this task at once, and these are more than the memory of"
        f" this collector allows: start it with --memory {megabytes}MB"
    )


def _sampled(collected: SealedCollected, max_reports: int) -> MemoryCollected:
    """Return a sample: every n-th report of each address, with the same n for all."""
    counts = collected.report_counts(0)
    step = -(-sum(counts.values()) // max_reports)
    batches = {address: ReportBatch(every(collected.reports(address), step)) for address in counts}
    return MemoryCollected(collected.task).after(collected.rounds[0], batches)


def _corrected_by(
    round_tests: RoundTests, collected: Collected, sample: MemoryCollected, replicates: int
) -> Collected:
    """Return collected reports with the corrections that tests require, made on a sample."""
    seed_filter = defences.seed_filter(sample, 0, round_tests)
    if seed_filter is None:
        kept = sample
        suspects = defences.suspected(kept, round_tests)
    else:
        kept = _kept(sample, seed_filter)
        kept_tests = tested(sample.task.plan, kept, 0)
        suspects = defences.suspected(kept, round_tests, kept_tests)
    if seed_filter is None and not suspects:
        return collected
    return DefendedCollected(collected, sample, kept, seed_filter, suspects, replicates)


def _kept(collected: MemoryCollected, seed_filter: SeedFilter) -> MemoryCollected:
    """Return the reports that a filter keeps; if one report of a person is removed, all are."""
    kept: dict[Address, Bools] = dict(seed_filter.kept)
    subjects = {
        address: names(batch.subjects)
        for address, batch in collected.batches.items()
        if batch.subjects is not None
    }
    if subjects:
        lost = {
            name for address, flags in kept.items() for name in subjects[address][~flags].tolist()
        }
        kept = {
            address: np.array([name not in lost for name in people.tolist()], bool)
            for address, people in subjects.items()
        }
    batches = {
        address: _chosen(batch, kept[address]) if address in kept else batch
        for address, batch in collected.batches.items()
    }
    return replace(collected, batches=batches, tallied=KeptTallies(), persons={})


def _chosen(batch: ReportBatch, kept: Bools) -> ReportBatch:
    return ReportBatch(
        batch.reports[kept],
        None if batch.subjects is None else batch.subjects[kept],
        None if batch.public is None else batch.public[kept],
    )


@dataclass(frozen=True, eq=False)
class DefendedCollected:
    """The reports that are kept, and estimates that weight them where loads are suspicious.

    ``sample`` is ``raw``, or of very many reports those that were corrected.
    """

    raw: Collected
    sample: MemoryCollected
    kept: MemoryCollected
    seed_filter: SeedFilter | None
    suspects: Mapping[Address, Suspected]
    replicates: int
    estimated: dict[Address, Corrected] = field(default_factory=dict)

    @property
    def epsilon(self) -> float:
        return self.kept.epsilon

    @property
    def seed(self) -> bytes:
        return self.kept.seed

    @property
    def coins_checked(self) -> bool:
        return self.kept.coins_checked

    @property
    def rounds(self) -> tuple[Round, ...]:
        return self.kept.rounds

    def users(self, round_number: int) -> int:
        share_kept = self.kept.users(round_number) / self.sample.users(round_number)
        return round(self.raw.users(round_number) * share_kept)

    def fakes(self, round_number: int) -> int:
        return self.kept.fakes(round_number)

    def tally(self, address: Address) -> Tally:
        return self._all_kept.tally(address)

    def tallies(self, round_number: int) -> Mapping[Address, Tally]:
        return self._all_kept.tallies(round_number)

    def report_counts(self, round_number: int) -> Mapping[Address, int]:
        return self._all_kept.report_counts(round_number)

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        return self._all_kept.scores(address, target)

    def reports(self, address: Address) -> Iterator[Reports]:
        return self._all_kept.reports(address)

    def relations(self, round_number: int) -> "ReportsByPerson":
        return self._all_kept.relations(round_number)

    @property
    def _all_kept(self) -> MemoryCollected:
        """Return the kept reports, for plans that read every report."""
        if self.sample is not self.raw:
            raise _too_many(self.raw)
        return self.kept

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        """Return the corrected estimate, with the raw one beside it and the steps named."""
        raw = self.raw.estimate(address, among)
        steps = self._steps_of_all()
        suspected = self.suspects.get(address)
        if suspected is None:
            estimate = self.kept.estimate(address, among)
            people = self.users(address.round)
            estimate = estimate.of(people, coins_checked=self.coins_checked)
        else:
            correction = self._corrected(address, suspected, among)
            estimate = estimate_people(self, address, correction.estimate)
            count = np.count_nonzero(suspected.suspects)
            steps.append(f"load EMF: {count} values, {100 * correction.share:.1f} % of reports")
        if not steps:
            return estimate
        return replace(estimate, raw=raw, steps=(*estimate.steps, *steps))

    def _steps_of_all(self) -> list[str]:
        """Return the steps that were applied at every address."""
        steps = []
        if self.sample is not self.raw:
            sampled, count = (
                sum(collected.report_counts(0).values()) for collected in (self.sample, self.raw)
            )
            steps.append(f"sample: {sampled:,} of {count:,} reports")
        if self.seed_filter is not None:
            steps.append(self.seed_filter.step)
        return steps

    def _corrected(
        self, address: Address, suspected: Suspected, among: Values | Blocks | None
    ) -> Corrected:
        if among is None and address in self.estimated:
            return self.estimated[address]
        mechanism = self.rounds[address.round].question(address).mechanism

        def decode(part: Reports) -> Estimate:
            if among is None:
                return mechanism.estimate(mechanism.tally(part))
            return estimate_candidates(mechanism, part, among)

        reports = np.concatenate(list(self.kept.reports(address)))
        correction = corrected(suspected, reports, decode)
        if self.replicates:
            context = f"halves {address.round} {address.member} {address.slot}".encode()
            rng = KeyedRng(self.seed, context)
            estimate = with_errors(correction, reports, decode, rng, self.replicates)
            correction = replace(correction, estimate=estimate)
        if among is None:
            self.estimated[address] = correction
        return correction
