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
    from sottovoce.lab.demonstration import DemonstratedRest, DemonstratedSurvey, Hosted
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
    from sottovoce.lab.demonstration import Invented, demonstrate_rest, demonstrate_survey, hosted
    from sottovoce.lab.demonstration_folder import prepare

    start_warming()
    given = group_of(DemoOptions, options)
    stay = sys.stdout.isatty() and not as_json if given.stay is None else given.stay
    invented = Invented(given.people, given.epsilon, seed or 0)
    with hosted(prepare(given.out)) as host:
        with stages(visible=not as_json) as seen:
            survey = demonstrate_survey(host, invented, seen)
        if not as_json:
            _tell_survey(survey)
        with stages(visible=not as_json) as seen:
            rest = demonstrate_rest(host, invented, seen)
        written = _write(survey, rest, given.out)
        if as_json:
            facts = {**_facts(survey, rest), "files": [str(path) for path in written]}
            print_json(facts)
        else:
            _tell_rest(rest, written)
            _point(host, stay=stay)
        if stay:
            _wait(host)


def _facts(survey: "DemonstratedSurvey", rest: "DemonstratedRest") -> dict[str, Any]:
    """Return the summary as plain data."""
    senders = survey.senders
    return {
        "people": senders.people,
        "epsilon": survey.task.epsilon,
        "odds_factor": exp(survey.task.epsilon),
        "seconds": round(survey.seconds, 3),
        "answered": {"devices": senders.devices, "page": senders.in_page, "crowd": senders.crowd},
        "note": senders.note,
        "covered": survey.compared.covered,
        "intervals": survey.compared.intervals,
        "report_bytes": survey.task.opening.width,
        "message_bytes": len(senders.message),
        "example_message": senders.message.hex(),
        "questions": [part.to_dict() for part in survey.compared.parts],
        "numbers": rest.sleep_compared.parts[0].rows(),
        "shuffled": _shuffled_facts(rest.shuffled),
    }


def _shuffled_facts(shuffled: "ShuffledDemonstration | None") -> dict[str, Any] | None:
    if shuffled is None:
        return None
    return {
        "people": shuffled.people,
        "seconds": round(shuffled.seconds, 3),
        "guarantee": shuffled.answer.guarantee.to_dict(),
        "question": shuffled.compared.parts[0].to_dict(),
    }


def _write(survey: "DemonstratedSurvey", rest: "DemonstratedRest", out: Path) -> list[Path]:
    from sottovoce.wire import codec

    task = out / "task.json"
    answer = out / "answer.json"
    task.write_text(codec.canonical(codec.document(survey.task)), encoding="utf-8")
    answer.write_text(survey.answers.to_json(), encoding="utf-8")
    try:
        return [*_draw(survey, rest, out), answer, task]
    except MissingExtraError as error:
        warn(f"no figures: {error}")
        return [answer, task]


def _draw(survey: "DemonstratedSurvey", rest: "DemonstratedRest", out: Path) -> list[Path]:
    """Draw all answers, one of them both raw and consistent, and the density of the number."""
    from sottovoce.answers.chart import beside

    every_question = out / "survey.png"
    consistent = out / "consistent.png"
    sleep = out / "sleep.png"
    truths = {part.part.name: part.truth for part in survey.compared.parts}
    survey.answers.plot(every_question, truth=truths)
    dish: Any = survey.answers.questions()["favourite dish"]
    beside(dish, consistent, truths["favourite dish"])
    rest.sleep.plan.draw(sleep, rest.hours, rest.slept)
    return [every_question, consistent, sleep]


def _tell_survey(survey: "DemonstratedSurvey") -> None:
    """Print the answers to the survey beside the truth, while other people go on answering."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print("\n" + _who(survey) + "\n")
    for part in survey.compared.parts:
        console.print(table(part, _SHOWN), "")
    console.print(f"{coverage(survey.compared)}.\n")
    console.print(_byte_path(survey) + "\n")


def _tell_rest(rest: "DemonstratedRest", written: list[Path]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print("", table(rest.sleep_compared.parts[0], _SHOWN), "")
    if rest.shuffled is not None:
        console.print(table(rest.shuffled.compared.parts[0], _SHOWN))
        console.print(_shuffled_text(rest.shuffled) + "\n")
    console.print("Look at: " + "  ".join(map(str, written)), soft_wrap=True)


def _shuffled_text(shuffled: "ShuffledDemonstration") -> str:
    """Return a text about what shuffling promises, all three epsilons together."""
    first = f"{shuffled.people:,} people answered this through two shufflers, each a process"
    return "\n".join([f"{first} of its own.", *shuffled.answer.guarantee.lines()])


def _who(survey: "DemonstratedSurvey") -> str:
    """Return a text about who answered, and how."""
    senders = survey.senders
    ways = [
        f"{senders.devices:,} on devices of their own (Python)",
        f"{senders.crowd:,} in batches",
    ]
    if senders.in_page:
        ways.insert(1, f"{senders.in_page:,} in a page in Chromium (JavaScript)")
    people = f"{senders.people:,} invented people answered one question each"
    asked = f"{people}, at epsilon {survey.task.epsilon:g}"
    note = f"\n({senders.note})" if senders.note else ""
    done = f"Collected, sealed and decoded in {survey.seconds:.1f} s.{note}"
    return f"{asked}, over HTTP: {', '.join(ways)}.\n{done}"


def _point(host: "Hosted", *, stay: bool) -> None:
    """Print the address of the dashboard, or how to start it again."""
    from rich.console import Console

    console = Console(highlight=False)
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


def _byte_path(survey: "DemonstratedSurvey") -> str:
    """Return a text about what left a device, and how little it reveals."""
    message = survey.senders.message
    width = survey.task.opening.width
    odds = exp(survey.task.epsilon)
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
