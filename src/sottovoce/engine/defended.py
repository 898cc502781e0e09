"""What a task has collected, without reports that cannot be honest or with less weight for them.

``defended`` looks at the tests of a round and wraps what was collected, so that any plan that asks
once gives a corrected outcome.  If no test alarms it returns what it was given.

A correction holds some hundred bytes for every report.  ``defended_sample`` is for more reports
than memory has room for: all of them are tested, and those of a sample are corrected.  Its
estimates stand for all people, with the error of drawing the sample (``core/estimate.py``).
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

CORRECTION_BYTES = 512  # of memory that the correction of one report may take


def defended(
    collected: MemoryCollected, found: RoundTests | None = None, replicates: int = REPLICATES
) -> Collected:
    """Return what was collected with the corrections that its alarms call for.

    ``found`` are the tests of its round, if they were made before.  Errors of corrected estimates
    come from so many ``replicates`` of the correction; without any they are those of the mechanism,
    which leave out what the correction adds.
    """
    _check(collected)
    found = tested(collected.task.plan, collected, 0) if found is None else found
    return _corrected_by(found, collected, collected, replicates)


def defended_sample(
    collected: SealedCollected, max_reports: int, replicates: int = REPLICATES
) -> Collected:
    """Return the same of a log, with corrections of a sample of at most about ``max_reports``."""
    _check(collected)
    if collected.task.fakes or "subject" in collected.task.declares:
        raise _too_many(collected)
    found = tested(collected.task.plan, collected, 0)
    return _corrected_by(found, collected, _sampled(collected, max_reports), replicates)


def _check(collected: MemoryCollected | SealedCollected) -> None:
    """Refuse what has no correction."""
    if len(collected.rounds) != 1:
        raise ParameterError(
            "`defence` applies to tasks that ask everybody in one round:"
            " later rounds of this task rest on earlier answers"
        )
    if collected.sums:
        raise NoDataError("the reports of this task have been erased; a defence needs them")


def _too_many(collected: Collected) -> UnavailableError:
    """Return the error of a task that no sample can be corrected of."""
    count = sum(collected.report_counts(0).values())
    megabytes = -(-count * CORRECTION_BYTES // 10**6)
    return UnavailableError(
        "`defence` needs all reports of this task at once, and these are more than the memory of"
        f" this collector allows: start it with --memory {megabytes}MB"
    )


def _sampled(collected: SealedCollected, max_reports: int) -> MemoryCollected:
    """Return what was collected with one in so many reports, of every address alike."""
    counts = collected.report_counts(0)
    step = -(-sum(counts.values()) // max_reports)
    batches = {address: ReportBatch(every(collected.reports(address), step)) for address in counts}
    return MemoryCollected(collected.task).after(collected.rounds[0], batches)


def _corrected_by(
    found: RoundTests, collected: Collected, sample: MemoryCollected, replicates: int
) -> Collected:
    """Return what was collected with the corrections that tests call for, made on a sample."""
    seed_filter = defences.seed_filter(sample, 0, found)
    if seed_filter is None:
        kept = sample
        suspects = defences.suspected(kept, found)
    else:
        kept = _kept(sample, seed_filter)
        suspects = defences.suspected(kept, found, tested(sample.task.plan, kept, 0))
    if seed_filter is None and not suspects:
        return collected
    return DefendedCollected(collected, sample, kept, seed_filter, suspects, replicates)


def _kept(collected: MemoryCollected, seed_filter: SeedFilter) -> MemoryCollected:
    """Return what was collected without some reports; a person who loses one loses all."""
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
        """Return the reports that are kept, for plans that look at every one of them."""
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
            found = self._corrected(address, suspected, among)
            estimate = estimate_people(self, address, found.estimate)
            count = np.count_nonzero(suspected.suspects)
            steps.append(f"load EMF: {count} values, {100 * found.share:.1f} % of reports")
        if not steps:
            return estimate
        return replace(estimate, raw=raw, steps=(*estimate.steps, *steps))

    def _steps_of_all(self) -> list[str]:
        """Return what was done at every address."""
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
        found = corrected(suspected, reports, decode)
        if self.replicates:
            context = f"halves {address.round} {address.member} {address.slot}".encode()
            rng = KeyedRng(self.seed, context)
            estimate = with_errors(found, reports, decode, rng, self.replicates)
            found = replace(found, estimate=estimate)
        if among is None:
            self.estimated[address] = found
        return found
