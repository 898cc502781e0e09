"""What a shuffled task promises, and the error to expect of it, for people and for programs."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.tasks.task import Task


def facts(task: "Task") -> dict[str, Any]:
    """Return promises and errors as plain data; nothing for a task that is not shuffled."""
    from sottovoce.plans.shuffled_settings import expected_errors

    shuffle = task.shuffle
    if shuffle is None:
        return {}
    errors = expected_errors(task)
    return {
        "shuffle": {
            "central": shuffle.central,
            "against_users": shuffle.against_users,
            "local": task.epsilon,
            "delta": shuffle.delta,
            "users": shuffle.users,
            "fakes": shuffle.fakes,
            "hops": [hop.url for hop in shuffle.hops],
        },
        "expected_errors": None if errors is None else asdict(errors),
    }


def lines(task: "Task") -> list[str]:
    """Return promises and errors in words; nothing for a task that is not shuffled."""
    from sottovoce.plans.shuffled_settings import expected_errors

    shuffle = task.shuffle
    if shuffle is None:
        return []
    delta = f"{shuffle.delta:g}"
    told = [
        f"Shuffled by {', '.join(hop.url for hop in shuffle.hops)}: at least {shuffle.users:,}"
        f" people in a batch, {shuffle.fakes:,} fakes of each hop.",
        f"Against the collector alone: epsilon {shuffle.central:g}, except with probability"
        f" {delta}.",
        f"Against the collector with all other users: epsilon {shuffle.against_users:g}, except"
        f" with probability {delta}.",
        f"Against everybody, the hops included: epsilon {task.epsilon:g}.",
    ]
    errors = expected_errors(task)
    if errors is not None:
        told.append(
            f"Standard error of a share with {shuffle.users:,} people: {errors.shuffled:.3g};"
            f" a trusted curator {errors.gaussian:.3g} (Gaussian) or {errors.laplace:.3g}"
            f" (Laplace); without a shuffler {errors.local:.3g}."
        )
    return told
