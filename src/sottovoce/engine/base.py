"""Functions of every engine: driving a plan, sorting reports by address, estimating candidates."""

from collections.abc import Callable
from typing import TypeVar

from sottovoce.answers.guarantee import ShuffledReports
from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Reports, Values, grouped
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.errors import NoDataError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

Gathered = TypeVar("Gathered", bound=Collected)

_SLOT_BITS = 16  # bits of the slot in a number that encodes a member and a slot


class TaskCollected:
    """The properties of a collection that engines know without reading reports."""

    task: Task
    rounds: tuple[Round, ...]

    @property
    def epsilon(self) -> float:
        return self.task.response_epsilon

    @property
    def seed(self) -> bytes:
        return codec.seed(self.task)

    @property
    def coins_checked(self) -> bool:
        return self.task.coins_checked

    def fakes(self, round_number: int) -> int:
        return self.task.fakes

    def _question(self, address: Address) -> Question:
        return self.rounds[address.round].question(address)


def drive(
    task: Task, collected: Gathered, gather: Callable[[Gathered, Round], Gathered]
) -> Outcome:
    """Return the outcome of a task's plan.

    The plan is asked for its next step until it answers; ``gather`` adds the reports of one round
    to what was collected.
    """
    while True:
        stepped = task.plan.step(collected)
        if not isinstance(stepped, Round):
            return finished(task, collected, stepped)
        collected = gather(collected, stepped)


def finished(task: Task, collected: Collected, outcome: Outcome) -> Outcome:
    """Return the outcome of a task under its name, with the guarantee of shuffling."""
    named = outcome.named(task.name)
    if task.shuffle is None:
        return named
    rounds = collected.rounds
    shuffled = ShuffledReports(
        hops=len(task.shuffle.hops),
        fakes=task.shuffle.fakes,
        delta=task.shuffle.delta,
        blankets=tuple(asked.ask.blanket for asked in rounds),
        users=tuple(collected.users(asked.number) for asked in rounds),
    )
    return named.after_shuffling(shuffled)


def corrected_outcome(
    task: Task, collected: Collected, kept: Collected, outcome: Outcome
) -> Outcome:
    """Return the outcome from the reports that a correction keeps.

    ``outcome`` is that of all reports, which stays if the correction corrects nothing.
    """
    if kept is collected:
        return outcome
    stepped = task.plan.step(kept)
    if isinstance(stepped, Round):
        raise NoDataError("too few reports remain after the correction for the plan of this task")
    return finished(task, kept, stepped)


def by_address(round_number: int, members: Ints, slots: Ints) -> list[tuple[Address, Ints]]:
    """Return the addresses of a round's reports in order, each with the indices of its reports."""
    keys = members.astype("int64") << _SLOT_BITS | slots
    addressed = []
    for key, indices in grouped(keys):
        member, slot = divmod(key, 1 << _SLOT_BITS)
        addressed.append((Address(round_number, member, slot), indices))
    return addressed


def people_among(messages: int, fakes: int) -> int:
    """Return how many of the messages of a round come from people."""
    if messages and messages <= fakes:
        raise NoDataError(
            f"a round has {messages} messages, and the shufflers of its task add {fakes} fakes"
        )
    return messages - fakes if messages else 0


def estimate_people(collected: Collected, address: Address, estimate: Estimate) -> Estimate:
    """Return an estimate of the reports at an address as one of all people of the round.

    The expected votes of fakes are subtracted.
    """
    people = collected.users(address.round)
    fakes = collected.fakes(address.round)
    if fakes:
        asked = collected.rounds[address.round]
        count = fakes_among(asked, address, estimate.users, people, fakes)
        mechanism = asked.question(address).mechanism.pure()
        estimate = mechanism.fake_votes(count).removed_from(estimate)
    return estimate.of(people, coins_checked=collected.coins_checked)


def fakes_among(asked: Round, address: Address, reports: int, people: int, fakes: int) -> FakeCount:
    """Return how many of the reports at an address are fakes, of all that were added."""
    of_people = asked.ask.coin_share(address.member, address.slot)
    of_fakes = asked.ask.fake_share(address.member, address.slot)
    odds = 1.0
    if of_people != of_fakes:
        odds = of_fakes * (1 - of_people) / (of_people * (1 - of_fakes))
    return FakeCount.among(reports, people, fakes, odds)


def estimate_candidates(mechanism: Mechanism, reports: Reports, among: Values | Blocks) -> Estimate:
    """Return the estimate of some candidates from reports of a pure mechanism."""
    if isinstance(among, Blocks):
        return mechanism.pure().estimate_blocks(reports, among.prefixes, among.extension)
    return mechanism.pure().estimate_among(reports, among)
