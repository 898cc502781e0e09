"""Driving a plan: ask it what to do next, gather the reports of that round, and ask again until it answers."""

from collections.abc import Callable
from typing import TypeVar

from sottovoce.answers.outcome import Outcome
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

Gathered = TypeVar("Gathered", bound=Collected)


def drive(task: Task, collected: Gathered, gather: Callable[[Gathered, Round], Gathered]) -> Outcome:
    """Return the outcome of a task's plan; ``gather`` adds the reports of one round to what was collected."""
    while True:
        stepped = task.plan.step(collected)
        if not isinstance(stepped, Round):
            return stepped.named(task.name)
        collected = gather(collected, stepped)
