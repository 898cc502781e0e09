"""One machine: reports in memory, tallied by the compiled kernels, a plan driven to its answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine import base
from sottovoce.engine.base import by_address
from sottovoce.errors import CodecError, MismatchError, NoDataError, ParameterError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address, Question
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
class MemoryCollected:
    """What a task has collected, in memory: reports, or only the sums of those that have been erased."""

    task: Task
    rounds: tuple[Round, ...] = ()
    batches: Mapping[Address, ReportBatch] = field(default_factory=dict)
    sums: Mapping[Address, Tally] = field(default_factory=dict)
    tallied: dict[Address, Tally] = field(
        default_factory=dict, repr=False
    )  # what has been added up already
    persons: "dict[int, ReportsByPerson]" = field(
        default_factory=dict, repr=False
    )  # whose reports, by round

    @property
    def epsilon(self) -> float:
        return self.task.response_epsilon

    @property
    def seed(self) -> bytes:
        return codec.seed(self.task)

    def users(self, round_number: int) -> int:
        counts = {address: len(batch.reports) for address, batch in self.batches.items()}
        counts |= {address: tally.users for address, tally in self.sums.items()}
        return sum(
            count
            for address, count in counts.items()
            if (address.round, address.slot) == (round_number, 0)
        )

    def tally(self, address: Address) -> Tally:
        if address in self.sums:
            return self.sums[address]
        if address not in self.tallied:
            mechanism = self._question(address).mechanism
            self.tallied[address] = reduce(add, map(mechanism.tally, self.reports(address)))
        return self.tallied[address]

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        mechanism = self._question(address).mechanism
        if among is None:
            estimate = mechanism.estimate(self.tally(address))
        elif not isinstance(mechanism, PureMechanism):
            raise ParameterError("candidates can be chosen only for a pure mechanism")
        elif isinstance(among, Blocks):
            estimate = mechanism.estimate_blocks(
                self._batch(address).reports, among.prefixes, among.extension
            )
        else:
            estimate = mechanism.estimate_among(self._batch(address).reports, among)
        return estimate.of(self.users(address.round))

    def tallies(self, round_number: int) -> dict[Address, Tally]:
        addresses = [*self.sums, *(address for address in self.batches if address not in self.sums)]
        return {
            address: self.tally(address) for address in addresses if address.round == round_number
        }

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        mechanism, batch = self._question(address).mechanism, self._batch(address)
        if not isinstance(mechanism, PureMechanism):
            raise ParameterError("only a pure mechanism scores reports")
        subjects = (
            np.arange(len(batch.reports)) if batch.subjects is None else names(batch.subjects)
        )
        return subjects, mechanism.score(batch.reports, target)

    def reports(self, address: Address) -> Iterator[Reports]:
        yield self._batch(address).reports

    def report_counts(self, round_number: int) -> dict[Address, int]:
        return {
            address: len(batch.reports)
            for address, batch in self.batches.items()
            if address.round == round_number
        }

    def relations(self, round_number: int) -> "ReportsByPerson":
        from sottovoce.engine.duckdb import ReportsByPerson

        if round_number not in self.persons:
            batches = {
                address: batch
                for address, batch in self.batches.items()
                if address.round == round_number
            }
            if not batches:
                raise NoDataError(
                    f"the reports of round {round_number} have been erased; questions in SQL need them"
                )
            self.persons[round_number] = ReportsByPerson.of(batches)
        return self.persons[round_number]

    def after(self, asked: Round, batches: Mapping[Address, ReportBatch]) -> "MemoryCollected":
        """Return what is collected once a round has been answered."""
        if not any(len(batch.reports) for batch in batches.values()):
            raise NoDataError(f"round {asked.number} of task {self.task.name!r} has no reports")
        whole = {**self.batches, **batches}
        tallied, persons = {**self.tallied}, {**self.persons}
        return replace(
            self, rounds=(*self.rounds, asked), batches=whole, tallied=tallied, persons=persons
        )

    def after_erasing(self, asked: Round, sums: Mapping[Address, Tally]) -> "MemoryCollected":
        """Return what is collected with a round of which only the sums remain."""
        return replace(self, rounds=(*self.rounds, asked), sums={**self.sums, **sums})

    def _question(self, address: Address) -> Question:
        return self.rounds[address.round].question(address)

    def _batch(self, address: Address) -> ReportBatch:
        if address in self.sums:
            raise NoDataError(
                f"the reports of round {address.round} have been erased; their sums remain"
            )
        if address not in self.batches:
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")
        return self.batches[address]


def drive(task: Task, gather: Callable[[Round], Mapping[Address, ReportBatch]]) -> Outcome:
    """Return the outcome of a task's plan; ``gather`` brings the reports of one round after another."""
    return base.drive(
        task, MemoryCollected(task), lambda collected, asked: collected.after(asked, gather(asked))
    )


def answer(task: Task, reports: Iterable[bytes] | bytes) -> Outcome:
    """Return the outcome of the messages of clients; a message seen twice counts once."""
    messages = envelope.by_round([reports] if isinstance(reports, bytes) else reports)
    return drive(task, lambda asked: batches_of(task, asked, messages.get(asked.number, [])))


def batches_of(task: Task, asked: Round, messages: Iterable[bytes]) -> dict[Address, ReportBatch]:
    """Return the reports of a round by address; refuses messages that do not belong to it."""
    fingerprint = codec.fingerprint(codec.canonical(codec.document(task)))
    allowed_flags = envelope.flags_of_task(task.declares, asked.slots)
    batches: dict[Address, list[ReportBatch]] = {}
    for group in envelope.read(messages, asked.width):
        if group.digest != group.version.task_digest(fingerprint):
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
