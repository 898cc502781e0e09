"""What every engine shares: driving a plan, sorting reports by address, estimating candidates."""

from collections.abc import Callable
from typing import TypeVar

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Reports, Values, grouped
from sottovoce.core.estimate import Estimate
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

Gathered = TypeVar("Gathered", bound=Collected)

_SLOT_BITS = 16  # of the number that stands for a member and a slot


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
            return stepped.named(task.name)
        collected = gather(collected, stepped)


def by_address(round_number: int, members: Ints, slots: Ints) -> list[tuple[Address, Ints]]:
    """Return the addresses of a round's reports in order, each with the indices of its reports."""
    keys = members.astype("int64") << _SLOT_BITS | slots
    addressed = []
    for key, indices in grouped(keys):
        member, slot = divmod(key, 1 << _SLOT_BITS)
        addressed.append((Address(round_number, member, slot), indices))
    return addressed


def estimate_candidates(mechanism: Mechanism, reports: Reports, among: Values | Blocks) -> Estimate:
    """Return the estimate of some candidates from reports of a pure mechanism."""
    if isinstance(among, Blocks):
        return mechanism.pure().estimate_blocks(reports, among.prefixes, among.extension)
    return mechanism.pure().estimate_among(reports, among)
