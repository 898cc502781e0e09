"""``sottovoce demo``: the whole path on invented people, from a value on a device to an answer beside the truth."""

import time
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.numbers import table as numbers
from sottovoce.cli.output import as_json, coverage, print_json, progress, seed, table, warn
from sottovoce.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.answers import Answers
    from sottovoce.arrays import Floats
    from sottovoce.lab.truth import Compared
    from sottovoce.numbers.distribution import DistributionAnswer
    from sottovoce.task import Task

_DEVICES = 200
_SHOWN = 10  # rows of a table
_GUESS = 0.2  # what an onlooker believes before the report, in the example


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What happened: the task, everybody's answers beside the truth, and some devices' own messages."""

    task: "Task"
    answers: "Answers"
    compared: "tuple[Compared, ...]"
    messages: list[bytes]
    by_devices: "Answers"
    slept: "DistributionAnswer"
    hours: "Floats"
    people: int
    seconds: float

    @property
    def odds(self) -> float:
        """Return the factor by which a report can shift anybody's odds, at the most."""
        return exp(self.task.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            "people": self.people,
            "epsilon": self.task.epsilon,
            "odds_factor": self.odds,
            "seconds": round(self.seconds, 3),
            "covered": sum(one.covered for one in self.compared),
            "intervals": sum(len(one.truth) for one in self.compared),
            "report_bytes": self.task.opening.width,
            "message_bytes": len(self.messages[0]),
            "example_message": self.messages[0].hex(),
            "devices": {
                "count": len(self.messages),
                "users": {n: a.estimate.users for n, a in self.by_devices.items()},
            },
            "questions": [one.to_dict() for one in self.compared],
            "numbers": self.figures(),
        }

    def figures(self) -> list[dict[str, Any]]:
        """Return mean, variance and quantiles of the number beside the truth."""
        from sottovoce.lab.figures import beside

        return beside(self.slept.measures(), self.hours)


@click.command("demo")
@click.option("--people", type=click.IntRange(min=1), default=200_000, help="How many people are invented.")
@click.option("--epsilon", type=float, default=1.0, help="What one answer may reveal.")
@seed
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="demo", help="Where files go.")
@as_json
def command(people: int, epsilon: float, seed: int | None, out: Path, *, as_json: bool) -> None:
    """Survey invented people; truth beside estimate."""
    from rich.console import Console

    shown = _demonstrate(people, epsilon, seed, visible=not as_json)
    written = _write(shown, out)
    if as_json:
        print_json({**shown.to_dict(), "files": [str(path) for path in written]})
    else:
        _tell(Console(highlight=False), shown, written)


def _demonstrate(people: int, epsilon: float, seed: int | None, *, visible: bool) -> Demonstration:
    from sottovoce.answers import Answers
    from sottovoce.frequencies.survey import Survey
    from sottovoce.lab import populations
    from sottovoce.lab.simulate import simulate
    from sottovoce.lab.truth import compare
    from sottovoce.task import Task

    task = Task("survey", Survey(populations.QUESTIONS), epsilon, description="A demonstration with invented people.")
    held = populations.people(people, seed=seed or 0)
    started = time.perf_counter()
    with progress(people, visible=visible) as told:
        answers = simulate(task, held, seed=seed, progress=told)
    seconds = time.perf_counter() - started
    assert isinstance(answers, Answers)
    slept, hours = _slept(people, epsilon, seed)
    compared = compare(task, held, answers)
    return Demonstration(task, answers, compared, *_devices(task, held), slept, hours, people, seconds)


def _slept(people: int, epsilon: float, seed: int | None) -> "tuple[DistributionAnswer, Floats]":
    """Return the distribution of a number, asked of the same people in a task of its own, and the truth."""
    from sottovoce.lab import populations
    from sottovoce.lab.simulate import simulate
    from sottovoce.numbers.distribution import Distribution, DistributionAnswer
    from sottovoce.task import Task

    hours = populations.sleep(people, seed=seed or 0)
    task = Task("hours of sleep", Distribution(*populations.HOURS, 240), epsilon)
    answer = simulate(task, hours, seed=seed)
    assert isinstance(answer, DistributionAnswer)
    return answer, hours


def _devices(task: "Task", held: dict[str, Any]) -> "tuple[list[bytes], Answers]":
    """Return the messages of genuine devices, and what a collector reads in them."""
    from sottovoce import codec
    from sottovoce.answers import Answers
    from sottovoce.engine.local import answer

    notice = codec.publish(task)
    columns = {name: list(column[:_DEVICES]) for name, column in held.items()}
    records = [dict(zip(columns, record, strict=True)) for record in zip(*columns.values(), strict=True)]
    messages = [_message(notice, record) for record in records]
    answers = answer(task, messages)
    assert isinstance(answers, Answers)
    return messages, answers


def _message(notice: Any, record: dict[str, Any]) -> bytes:
    from sottovoce.client.client import Client

    device = Client(notice, ":memory:")
    message = device.answer(record)
    device.ledger.close()
    return message


def _write(shown: Demonstration, out: Path) -> list[Path]:
    from sottovoce import codec

    out.mkdir(parents=True, exist_ok=True)
    task, answer = out / "task.json", out / "answer.json"
    task.write_text(codec.canonical(codec.document(shown.task)), encoding="utf-8")
    answer.write_text(shown.answers.to_json(), encoding="utf-8")
    try:
        return [*_draw(shown, out), answer, task]
    except MissingExtraError as error:
        warn(f"no figures: {error}")
        return [answer, task]


def _draw(shown: Demonstration, out: Path) -> list[Path]:
    """Draw all answers, one of them raw and consistent together, and the density of the number."""
    import numpy as np

    from sottovoce.plot import beside, grid

    survey, consistent, sleep = out / "survey.png", out / "consistent.png", out / "sleep.png"
    truths = {one.answer.name: one.truth for one in shown.compared}
    grid(shown.answers, survey, truths)
    beside(shown.answers["favourite dish"], consistent, truths["favourite dish"])
    shown.slept.plot(sleep, truth=np.histogram(shown.hours, shown.slept.edges)[0])
    return [survey, consistent, sleep]


def _tell(console: "Console", shown: Demonstration, written: list[Path]) -> None:
    asked = f"Asked {shown.people:,} invented people one question each, at epsilon {shown.task.epsilon:g}"
    console.print(f"\n{asked}: randomised, packed and decoded in {shown.seconds:.1f} s.\n")
    for one in shown.compared:
        console.print(table(one, _SHOWN), "")
    console.print(f"{coverage(shown.compared)}.\n")
    console.print(numbers(shown.slept.measures(), shown.figures()), "")
    console.print(_byte_path(shown) + "\n")
    console.print("Look at: " + "  ".join(map(str, written)), soft_wrap=True)


def _byte_path(shown: Demonstration) -> str:
    """Return in words what left a device, and why it reveals almost nothing."""
    message, width = shown.messages[0], shown.task.opening.width
    after = _GUESS * shown.odds / (1 - _GUESS + _GUESS * shown.odds)
    first = next(iter(shown.by_devices.values()))
    top = first.top(1)[0]
    reach = (top["high"] - top["low"]) / 2 / first.estimate.population
    sentences = (
        f"{len(shown.messages)} of them answered on devices of their own, in messages of {len(message)} bytes: "
        f"a report of {width} in an envelope of {len(message) - width}. So few say little: {first.name} {top['value']} "
        f"{100 * top['share']:.0f} % ± {100 * reach:.0f} %.",
        f"One report: {message[-width:].hex()}",
        f"It was at most {shown.odds:.2f} times as likely under one answer as under any other. Whoever guessed that "
        f"person's answer at {100 * _GUESS:.0f} % before may believe it at {100 * after:.0f} % after, and no more.",
    )
    return "\n".join(sentences)
