"""One machine: reports in memory, tallied by the compiled kernels, a plan driven to its answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.answers.answer import Answer, Answers
from sottovoce.answers.measures import Measures
from sottovoce.arrays import Floats, Ints, Reports, Values, grouped
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.errors import CodecError, MismatchError, NoDataError, ParameterError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.tasks.task import Address, Blocks, Choice, Columns, Family, Question, Round, Scored, Task
from sottovoce.wire import codec, envelope
from sottovoce.wire.envelope import Envelopes

if TYPE_CHECKING:
    from sottovoce.engine.duckdb import Persons


@dataclass(frozen=True, eq=False)
class Shelf:
    """The reports at one address, and whose they are where the task declares subjects."""

    reports: Reports
    subjects: Values | None = None  # rows of bytes, or numbers
    public: Values | None = None  # JSON texts


@dataclass(frozen=True, eq=False)
class LocalCollected:
    """What a task has collected, in memory: reports, or only the sums of those that have been erased."""

    task: Task
    rounds: tuple[Round, ...] = ()
    shelves: Mapping[Address, Shelf] = field(default_factory=dict)
    sums: Mapping[Address, Tally] = field(default_factory=dict)
    tallied: dict[Address, Tally] = field(default_factory=dict, repr=False)  # what has been added up already
    persons: "dict[int, Persons]" = field(default_factory=dict, repr=False)  # whose reports, by round

    @property
    def epsilon(self) -> float:
        return self.task.response_epsilon

    @property
    def seed(self) -> bytes:
        return codec.seed(self.task)

    def users(self, round_number: int) -> int:
        counts = {address: len(shelf.reports) for address, shelf in self.shelves.items()}
        counts |= {address: tally.users for address, tally in self.sums.items()}
        return sum(count for address, count in counts.items() if (address.round, address.slot) == (round_number, 0))

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
            estimate = mechanism.estimate_blocks(self._shelf(address).reports, among.prefixes, among.extension)
        else:
            estimate = mechanism.estimate_among(self._shelf(address).reports, among)
        return estimate.of(self.users(address.round))

    def yes(self, number: int) -> tuple[Ints, Ints]:
        family = yes_or_no(self.rounds[number])
        times, ones = np.zeros(len(family), np.int64), np.zeros(len(family), np.int64)
        for address, shelf in self.shelves.items():
            if address.round == number:
                times[address.member], ones[address.member] = len(shelf.reports), int(shelf.reports.sum())
        for address, tally in self.sums.items():
            if address.round == number:
                times[address.member], ones[address.member] = tally.users, tally["support"][1]
        return times, ones

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        mechanism, shelf = self._question(address).mechanism, self._shelf(address)
        if not isinstance(mechanism, PureMechanism):
            raise ParameterError("only a pure mechanism scores reports")
        subjects = np.arange(len(shelf.reports)) if shelf.subjects is None else names(shelf.subjects)
        return subjects, mechanism.score(shelf.reports, target)

    def reports(self, address: Address) -> Iterator[Reports]:
        yield self._shelf(address).reports

    def answered(self, number: int) -> dict[Address, int]:
        return {one: len(shelf.reports) for one, shelf in self.shelves.items() if one.round == number}

    def select(self, number: int, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any) -> Columns:
        from sottovoce.engine import duckdb

        return duckdb.select(self._persons(number), scored, public, statement)

    def single(self, number: int) -> bool:
        return self._persons(number).single

    def _persons(self, number: int) -> "Persons":
        """Return whose reports those of a round are, found out once."""
        from sottovoce.engine.duckdb import Persons

        if number not in self.persons:
            shelves = {address: shelf for address, shelf in self.shelves.items() if address.round == number}
            if not shelves:
                raise NoDataError(f"the reports of round {number} have been erased; questions in SQL need them")
            self.persons[number] = Persons.of(shelves)
        return self.persons[number]

    def after(self, asked: Round, shelves: Mapping[Address, Shelf]) -> "LocalCollected":
        """Return what is collected once a round has been answered."""
        if not any(len(shelf.reports) for shelf in shelves.values()):
            raise NoDataError(f"round {asked.number} of task {self.task.name!r} has no reports")
        whole = {**self.shelves, **shelves}
        tallied, persons = {**self.tallied}, {**self.persons}
        return replace(self, rounds=(*self.rounds, asked), shelves=whole, tallied=tallied, persons=persons)

    def after_erasing(self, asked: Round, sums: Mapping[Address, Tally]) -> "LocalCollected":
        """Return what is collected with a round of which only the sums remain."""
        return replace(self, rounds=(*self.rounds, asked), sums={**self.sums, **sums})

    def _question(self, address: Address) -> Question:
        return self.rounds[address.round].question(address)

    def _shelf(self, address: Address) -> Shelf:
        if address in self.sums:
            raise NoDataError(f"the reports of round {address.round} have been erased; their sums remain")
        if address not in self.shelves:
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")
        return self.shelves[address]


def drive(task: Task, gather: Callable[[Round], Mapping[Address, Shelf]]) -> Answer | Answers | Measures:
    """Run a task's plan to its answer; ``gather`` brings the reports of one round after another."""
    collected = LocalCollected(task)
    while True:
        stepped = task.plan.step(collected)
        if not isinstance(stepped, Round):
            return replace(stepped, name=task.name)
        collected = collected.after(stepped, gather(stepped))


def answer(task: Task, reports: Iterable[bytes] | bytes) -> Answer | Answers | Measures:
    """Return the answer in the messages of clients; a message seen twice counts once."""
    messages = envelope.rounds([reports] if isinstance(reports, bytes) else reports)
    return drive(task, lambda asked: shelve(task, asked, messages.get(asked.number, [])))


def shelve(task: Task, asked: Round, messages: Iterable[bytes]) -> dict[Address, Shelf]:
    """Return the reports of a round by address; refuses what does not belong to it."""
    groups = [_unseen(_belonging(group, task, asked)) for group in envelope.read(messages, asked.width)]
    found: dict[Address, list[Shelf]] = {}
    for group in groups:
        slots = np.zeros(len(group), np.int64) if group.slots is None else group.slots
        for key, places in grouped(group.members.astype(np.int64) << 16 | slots):
            address = Address(asked.number, key >> 16, key & 0xFFFF)
            found.setdefault(address, []).append(_unpack(asked, address, group, places))
    return {address: _joined(shelves) for address, shelves in sorted(found.items())}


def _belonging(group: Envelopes, task: Task, asked: Round) -> Envelopes:
    if group.digest != codec.digest_bytes(codec.document(task)):
        raise MismatchError("a report belongs to another task, or to another version of this one")
    allowed = envelope.SUBJECT * ("subject" in task.declares) | envelope.PUBLIC * ("public" in task.declares)
    if group.flags & ~(allowed | envelope.SLOT * (asked.slots > 1)):
        raise MismatchError("a report carries a field that its task does not declare")
    return group


def _unseen(group: Envelopes) -> Envelopes:
    _, first = np.unique(names(group.ids), return_index=True)
    return group if len(first) == len(group) else group.take(np.sort(first))


def yes_or_no(asked: Round) -> Family:
    """Return the family of a round of yes-or-no questions, or refuse another round."""
    family = asked.ask.members if isinstance(asked.ask, Choice) else None
    mechanism = family[0].mechanism if isinstance(family, Family) and family.alike else None
    if not isinstance(family, Family) or mechanism is None or mechanism.kind != "grr" or mechanism.size != 2:
        raise ParameterError("only families of questions with two values are answered by yes or no")
    return family


def names(rows: Values) -> Values:
    """Return rows of bytes as one array that sorts and compares; numbers as they are."""
    if rows.ndim == 1:
        return rows
    return np.ascontiguousarray(rows).view(np.dtype((np.void, envelope.ID_BYTES))).ravel()


def _unpack(asked: Round, address: Address, group: Envelopes, chosen: Ints) -> Shelf:
    try:
        question = asked.question(address)
    except ParameterError as error:
        raise CodecError("a report names a member or slot that its round does not have") from error
    payloads = group.payloads[chosen]
    if payloads[:, question.width :].any():
        raise CodecError("the padding of a payload must be zero")
    reports = question.mechanism.unpack(payloads[:, : question.width].tobytes())
    public = np.array(group.public, object)[chosen] if group.public else None
    return Shelf(reports, None if group.subjects is None else group.subjects[chosen], public)


def _joined(shelves: list[Shelf]) -> Shelf:
    subjects = [shelf.subjects for shelf in shelves if shelf.subjects is not None]
    public = [shelf.public for shelf in shelves if shelf.public is not None]
    reports = np.concatenate([shelf.reports for shelf in shelves])
    return Shelf(reports, np.concatenate(subjects) if subjects else None, np.concatenate(public) if public else None)
