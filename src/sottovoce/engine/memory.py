"""Reports in the memory of one machine, tallied by the compiled kernels."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine import base
from sottovoce.engine.base import (
    TaskCollected,
    by_address,
    estimate_candidates,
    estimate_people,
    people_among,
)
from sottovoce.engine.kept_tallies import KeptTallies
from sottovoce.errors import CodecError, MismatchError, NoDataError, ParameterError
from sottovoce.integrity.choices import checked_defence
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec, envelope
from sottovoce.wire.envelope import Envelopes

if TYPE_CHECKING:
    from sottovoce.engine.duckdb import ReportsByPerson


@dataclass(frozen=True, eq=False)
class ReportBatch:
    """The reports at one address, and whose they are where the task declares subjects."""

    reports: Reports
    subjects: Values | None = None  # rows of bytes, or numbers
    public: Values | None = None  # JSON texts


@dataclass(frozen=True, eq=False)
class MemoryCollected(TaskCollected):
    """The collected reports of a task in memory, or the tallies of erased reports."""

    task: Task
    rounds: tuple[Round, ...] = ()
    batches: Mapping[Address, ReportBatch] = field(default_factory=dict)
    sums: Mapping[Address, Tally] = field(default_factory=dict)
    # What has been computed already: tallies by address, and reports by person by round.
    tallied: KeptTallies = field(default_factory=KeptTallies, repr=False)
    persons: "dict[int, ReportsByPerson]" = field(default_factory=dict, repr=False)

    def users(self, round_number: int) -> int:
        counts = {address: len(batch.reports) for address, batch in self.batches.items()}
        counts |= {address: tally.users for address, tally in self.sums.items()}
        first_slot = (round_number, 0)
        messages = sum(
            count
            for address, count in counts.items()
            if (address.round, address.slot) == first_slot
        )
        return people_among(messages, self.fakes(round_number))

    def tally(self, address: Address) -> Tally:
        if address in self.sums:
            return self.sums[address]
        tally = self.tallied.get(address)
        if tally is None:
            tally = self._question(address).mechanism.tally(self._batch(address).reports)
            self.tallied.keep({address: tally})
        return tally

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        mechanism = self._question(address).mechanism
        if among is None:
            estimate = mechanism.estimate(self.tally(address))
        else:
            reports = self._batch(address).reports
            estimate = estimate_candidates(mechanism, reports, among)
        return estimate_people(self, address, estimate)

    def tallies(self, round_number: int) -> dict[Address, Tally]:
        erased = [address for address in self.sums if address.round == round_number]
        others = [address for address in self._of_round(round_number) if address not in self.sums]
        return {address: self.tally(address) for address in [*erased, *others]}

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        mechanism = self._question(address).mechanism.pure()
        batch = self._batch(address)
        if batch.subjects is None:
            subjects: Values = np.arange(len(batch.reports))
        else:
            subjects = names(batch.subjects)
        return subjects, mechanism.score(batch.reports, target)

    def reports(self, address: Address) -> Iterator[Reports]:
        yield self._batch(address).reports

    def report_counts(self, round_number: int) -> dict[Address, int]:
        batches = self._of_round(round_number)
        return {address: len(batch.reports) for address, batch in batches.items()}

    def relations(self, round_number: int) -> "ReportsByPerson":
        from sottovoce.engine.duckdb import ReportsByPerson

        if round_number not in self.persons:
            batches = self._of_round(round_number)
            if not batches:
                raise NoDataError(
                    f"the reports of round {round_number} have been erased; SQL queries need them"
                )
            self.persons[round_number] = ReportsByPerson.of(batches)
        return self.persons[round_number]

    def after(self, asked: Round, batches: Mapping[Address, ReportBatch]) -> "MemoryCollected":
        """Return the collection with the reports of one more round."""
        if not any(len(batch.reports) for batch in batches.values()):
            raise NoDataError(f"round {asked.number} of task {self.task.name!r} has no reports")
        return replace(
            self,
            rounds=(*self.rounds, asked),
            batches={**self.batches, **batches},
            tallied=KeptTallies(self.tallied),
            persons={**self.persons},
        )

    def after_erasing(self, asked: Round, sums: Mapping[Address, Tally]) -> "MemoryCollected":
        """Return the collection with one more round, of which only the tallies remain."""
        return replace(self, rounds=(*self.rounds, asked), sums={**self.sums, **sums})

    def _of_round(self, round_number: int) -> dict[Address, ReportBatch]:
        return {
            address: batch
            for address, batch in self.batches.items()
            if address.round == round_number
        }

    def _batch(self, address: Address) -> ReportBatch:
        if address in self.sums:
            raise NoDataError(
                f"the reports of round {address.round} have been erased; their sums remain"
            )
        if address not in self.batches:
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")
        return self.batches[address]


def drive(
    task: Task,
    gather: Callable[[Round], Mapping[Address, ReportBatch]],
    *,
    defence: str = "none",
) -> Outcome:
    """Return the outcome of a task's plan; ``gather`` returns the reports of a round."""
    checked_defence(defence)
    gathered = MemoryCollected(task)

    def add_round(collected: MemoryCollected, asked: Round) -> MemoryCollected:
        nonlocal gathered
        gathered = collected.after(asked, gather(asked))
        return gathered

    outcome = base.drive(task, gathered, add_round)
    return outcome if defence == "none" else defended_outcome(gathered, outcome)


def defended_outcome(collected: MemoryCollected, outcome: Outcome) -> Outcome:
    """Return the outcome after the corrections that alarms call for; without alarm as it is."""
    from sottovoce.engine.defended import defended

    return base.corrected_outcome(collected.task, collected, defended(collected), outcome)


def answer(task: Task, reports: Iterable[bytes] | bytes, *, defence: str = "none") -> Outcome:
    """Return the outcome of the messages of clients; a message that comes twice counts once.

    With the ``defence`` ``"auto"`` reports that cannot be honest are left out or get less weight,
    if a test of the reports alarms.  If none does, the outcome is the same as without.
    """
    messages = envelope.by_round([reports] if isinstance(reports, bytes) else reports)
    return drive(
        task, lambda asked: batches_of(task, asked, messages.get(asked.number, [])), defence=defence
    )


def batches_of(task: Task, asked: Round, messages: Iterable[bytes]) -> dict[Address, ReportBatch]:
    """Return the reports of a round by address; refuses messages that do not belong to it."""
    fingerprint = codec.fingerprint(codec.canonical(codec.document(task)))
    allowed_flags = envelope.flags_of_task(task.declares, asked.slots)
    batches: dict[Address, list[ReportBatch]] = {}
    version = envelope.version_of(task)
    for group in envelope.read(messages, asked.width):
        if group.version != version:
            raise MismatchError(
                f"the reports of this task have envelopes of version {version.number}"
            )
        if group.digest != version.task_digest(fingerprint):
            raise MismatchError(
                "a report belongs to another task, or to another version of this one"
            )
        if group.flags & ~allowed_flags:
            raise MismatchError("a report carries a field that its task does not declare")
        group = _without_repeats(group)
        slots = np.zeros(len(group), np.int64) if group.slots is None else group.slots
        for address, chosen in by_address(asked.number, group.members, slots):
            batches.setdefault(address, []).append(_unpack(asked, address, group, chosen))
    return {address: joined(parts) for address, parts in sorted(batches.items())}


def _without_repeats(group: Envelopes) -> Envelopes:
    """Return the envelopes, of those with one report id only the first."""
    _, first = np.unique(names(group.ids), return_index=True)
    return group if len(first) == len(group) else group.take(np.sort(first))


def names(rows: Values) -> Values:
    """Return rows of bytes as one array that sorts and compares; numbers as they are."""
    if rows.ndim == 1:
        return rows
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()


def _unpack(asked: Round, address: Address, group: Envelopes, chosen: Ints) -> ReportBatch:
    try:
        question = asked.question(address)
    except ParameterError as error:
        raise CodecError("a report names a member or slot that its round does not have") from error
    payloads = group.payloads[chosen]
    if payloads[:, question.width :].any():
        raise CodecError("the padding of a payload must be zero")
    return ReportBatch(
        reports=question.mechanism.unpack(payloads[:, : question.width].tobytes()),
        subjects=None if group.subjects is None else group.subjects[chosen],
        public=np.array(group.public, object)[chosen] if group.public else None,
    )


def joined(batches: list[ReportBatch]) -> ReportBatch:
    """Return several batches as one."""
    subjects = [batch.subjects for batch in batches if batch.subjects is not None]
    public = [batch.public for batch in batches if batch.public is not None]
    return ReportBatch(
        reports=np.concatenate([batch.reports for batch in batches]),
        subjects=np.concatenate(subjects) if subjects else None,
        public=np.concatenate(public) if public else None,
    )
