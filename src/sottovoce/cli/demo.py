"""``sottovoce demo``: a whole collection over HTTP with invented people."""

import os
import shutil
import sys
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, coverage, print_json, seed, stages, table, warn
from sottovoce.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.lab.demonstration import Demonstration, Hosted
    from sottovoce.lab.shuffled_demonstration import ShuffledDemonstration

_SHOWN = 10  # rows of a table
_GUESS = 0.2  # the chance that an observer gives an answer before the report, in the example


@dataclass(frozen=True)
class DemoOptions:
    """The options of the demonstration."""

    OPTIONS: ClassVar = (
        click.option(
            "--people",
            type=click.IntRange(min=100),
            default=200_000,
            help="How many people to invent.",
        ),
        click.option(
            "--epsilon", type=float, default=1.0, help="What one answer may reveal at most."
        ),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            default="demo",
            help="The folder for figures, answers and the collector: new, empty, or that of an "
            "earlier demonstration.",
        ),
        click.option(
            "--stay/--leave",
            default=None,
            help="Keep the dashboard open at the end.  [default: stay on a terminal]",
        ),
    )

    people: int
    epsilon: float
    out: Path
    stay: bool | None


@click.command("demo")
@options_of(DemoOptions)
@seed
@as_json
def command(seed: int | None, *, as_json: bool, **options: Any) -> None:
    """Let invented people answer a collector over HTTP; print truth and estimates."""
    from sottovoce.engine.warming import start_warming
    from sottovoce.lab.demonstration import demonstrate, hosted
    from sottovoce.lab.demonstration_folder import prepare

    start_warming()
    given = group_of(DemoOptions, options)
    stay = sys.stdout.isatty() and not as_json if given.stay is None else given.stay
    with hosted(prepare(given.out)) as host:
        with stages(visible=not as_json) as seen:
            shown = demonstrate(host, given.people, given.epsilon, seed or 0, seen)
        written = _write(shown, given.out)
        if as_json:
            print_json({**_facts(shown), "files": [str(path) for path in written]})
        else:
            _tell(shown, host, written, stay=stay)
        if stay:
            _wait(host)


def _facts(shown: "Demonstration") -> dict[str, Any]:
    """Return the summary as plain data."""
    return {
        "people": shown.people,
        "epsilon": shown.survey.epsilon,
        "odds_factor": exp(shown.survey.epsilon),
        "seconds": round(shown.seconds, 3),
        "answered": {"devices": shown.devices, "page": shown.in_page, "crowd": shown.crowd},
        "note": shown.note,
        "covered": shown.compared.covered,
        "intervals": shown.compared.intervals,
        "report_bytes": shown.survey.opening.width,
        "message_bytes": len(shown.message),
        "example_message": shown.message.hex(),
        "questions": [part.to_dict() for part in shown.compared.parts],
        "numbers": shown.sleep_compared.parts[0].rows(),
        "shuffled": _shuffled_facts(shown),
    }


def _shuffled_facts(shown: "Demonstration") -> dict[str, Any] | None:
    if shown.shuffled is None:
        return None
    return {
        "people": shown.shuffled.people,
        "seconds": round(shown.shuffled.seconds, 3),
        "guarantee": shown.shuffled.answer.guarantee.to_dict(),
        "question": shown.shuffled.compared.parts[0].to_dict(),
    }


def _write(shown: "Demonstration", out: Path) -> list[Path]:
    from sottovoce.wire import codec

    task = out / "task.json"
    answer = out / "answer.json"
    task.write_text(codec.canonical(codec.document(shown.survey)), encoding="utf-8")
    answer.write_text(shown.answers.to_json(), encoding="utf-8")
    try:
        return [*_draw(shown, out), answer, task]
    except MissingExtraError as error:
        warn(f"no figures: {error}")
        return [answer, task]


def _draw(shown: "Demonstration", out: Path) -> list[Path]:
    """Draw all answers, one of them both raw and consistent, and the density of the number."""
    from sottovoce.answers.chart import beside

    survey = out / "survey.png"
    consistent = out / "consistent.png"
    sleep = out / "sleep.png"
    truths = {part.part.name: part.truth for part in shown.compared.parts}
    shown.answers.plot(survey, truth=truths)
    dish: Any = shown.answers.questions()["favourite dish"]
    beside(dish, consistent, truths["favourite dish"])
    shown.sleep.plan.draw(sleep, shown.hours, shown.slept)
    return [survey, consistent, sleep]


def _tell(shown: "Demonstration", host: "Hosted", written: list[Path], *, stay: bool) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print("\n" + _who(shown) + "\n")
    for part in shown.compared.parts:
        console.print(table(part, _SHOWN), "")
    console.print(f"{coverage(shown.compared)}.\n")
    console.print(table(shown.sleep_compared.parts[0], _SHOWN), "")
    console.print(_byte_path(shown) + "\n")
    if shown.shuffled is not None:
        console.print(table(shown.shuffled.compared.parts[0], _SHOWN))
        console.print(_shuffled_text(shown.shuffled) + "\n")
    console.print("Look at: " + "  ".join(map(str, written)), soft_wrap=True)
    _point(console, host, stay=stay)


def _shuffled_text(shuffled: "ShuffledDemonstration") -> str:
    """Return a text about what shuffling promises, all three epsilons together."""
    first = f"{shuffled.people:,} people answered this through two shufflers, each a process"
    return "\n".join([f"{first} of its own.", *shuffled.answer.guarantee.lines()])


def _who(shown: "Demonstration") -> str:
    """Return a text about who answered, and how."""
    ways = [f"{shown.devices:,} on devices of their own (Python)", f"{shown.crowd:,} in batches"]
    if shown.in_page:
        ways.insert(1, f"{shown.in_page:,} in a page in Chromium (JavaScript)")
    people = f"{shown.people:,} invented people answered one question each"
    asked = f"{people}, at epsilon {shown.survey.epsilon:g}"
    note = f"\n({shown.note})" if shown.note else ""
    done = f"Collected, sealed and decoded in {shown.seconds:.1f} s.{note}"
    return f"{asked}, over HTTP: {', '.join(ways)}.\n{done}"


def _point(console: "Console", host: "Hosted", *, stay: bool) -> None:
    """Print the address of the dashboard, or how to start it again."""
    if stay:
        console.print(
            f"\nDashboard: {host.url}   token: {host.token}   stop: Ctrl-C", soft_wrap=True
        )
    else:
        console.print(f"\nDashboard: {this_command()} serve --data {host.folder}", soft_wrap=True)
        console.print(
            f"then log in at http://127.0.0.1:8000 with the token {host.token}", soft_wrap=True
        )


def this_command() -> str:
    """Return what starts this program again from the same folder."""
    if shutil.which("sottovoce"):
        return "sottovoce"
    if Path(sys.argv[0]).name != "__main__.py":
        return sys.argv[0]
    folders = os.environ.get("PYTHONPATH", "")
    prefix = f"PYTHONPATH={folders} " if folders else ""
    return f"{prefix}{os.path.relpath(sys.executable)} -m sottovoce"


def _wait(host: "Hosted") -> None:
    try:
        host.process.wait()
    except KeyboardInterrupt:
        click.echo("stopped")


def _byte_path(shown: "Demonstration") -> str:
    """Return a text about what left a device, and how little it reveals."""
    message = shown.message
    width = shown.survey.opening.width
    odds = exp(shown.survey.epsilon)
    after = _GUESS * odds / (1 - _GUESS + _GUESS * odds)
    sentences = (
        f"A message has {len(message)} bytes: a report of {width} in an envelope of "
        f"{len(message) - width}. "
        f"One report: {message[-width:].hex()}",
        f"It was at most {odds:.2f} times as likely for one answer as for any other. An observer "
        "who gave that "
        f"answer a chance of {100 * _GUESS:.0f} % before can give it at most {100 * after:.0f} % "
        "after.",
    )
    return "\n".join(sentences)
