"""``sottovoce simulate``: rehearse a collection on data you have."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from sottovoce.cli.attacks import AttackOptions
from sottovoce.cli.completion import mechanism_kinds
from sottovoce.cli.described import Described
from sottovoce.cli.domains import DomainOptions
from sottovoce.cli.marginals import JointOptions
from sottovoce.cli.numbers import NumericOptions
from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, coverage, print_json, progress, scores, seed, table, warn
from sottovoce.cli.searches import SearchOptions
from sottovoce.cli.tables import TableOptions
from sottovoce.cli.tables import options as table_options
from sottovoce.errors import ConcernWarning, ParameterError

if TYPE_CHECKING:
    from sottovoce.answers.outcome import Outcome
    from sottovoce.cli.columns import Column
    from sottovoce.domains.base import Domain
    from sottovoce.lab.simulate import Simulation
    from sottovoce.lab.truth.compare import ShownIntervals
    from sottovoce.tasks.plan import Plan
    from sottovoce.tasks.task import Task

    Tables = dict[str, dict[str, Column]]

_SHOWN = 25  # rows of a table

_READ = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@dataclass(frozen=True)
class AskOptions:
    """The options that say what is asked: a task document, or columns with an epsilon."""

    OPTIONS: ClassVar = (
        click.option(
            "--column",
            "columns",
            multiple=True,
            help="A column to ask about; several make a survey.",
        ),
        click.option("--epsilon", type=float, help="What one answer may reveal at most."),
        click.option(
            "--mechanism",
            default="",
            show_default=False,
            shell_complete=mechanism_kinds,
            help="A mechanism (grr, affine, oue, ...); by default the best one.",
        ),
        click.option(
            "--task",
            type=_READ,
            help="A task to simulate, as JSON or TOML, instead of --epsilon and domains.",
        ),
    )

    columns: tuple[str, ...]
    epsilon: float | None
    mechanism: str
    task: Path | None


@dataclass(frozen=True)
class OutputOptions:
    """The options that say how a simulation is shown and kept."""

    OPTIONS: ClassVar = (
        click.option(
            "--level", type=float, default=0.95, help="Confidence level of the intervals."
        ),
        click.option(
            "--fakes",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            help="Also print bounds that hold if up to this share of all reports is false.",
        ),
        click.option("--plot", type=_WRITE, help="Draw the answer to this file."),
        click.option("--csv", type=_WRITE, help="Write the rows to this file."),
        click.option("--save-task", type=_WRITE, help="Write the task document to this file."),
    )

    level: float
    fakes: float | None
    plot: Path | None
    csv: Path | None
    save_task: Path | None


@dataclass(frozen=True)
class SimulateOptions:
    """All options of the command, by what they are about."""

    ask: AskOptions
    values: DomainOptions
    numbers: NumericOptions
    search: SearchOptions
    joint: JointOptions
    tables: TableOptions
    attacks: AttackOptions
    output: OutputOptions

    @property
    def special(self) -> list[Any]:
        """Return the groups that ask for something else than a histogram or a survey."""
        return [group for group in (self.numbers, self.search, self.joint) if group.wanted]

    @property
    def describe_a_task(self) -> bool:
        """Return whether an option says what a task document would say."""
        return bool(
            self.ask.epsilon is not None or self.ask.mechanism or self.values.given or self.special
        )


@click.command("simulate")
@click.argument("data", type=_READ)
@options_of(SimulateOptions)
@table_options
@seed
@as_json
def command(data: Path, seed: int | None, *, as_json: bool, **options: Any) -> None:
    """Rehearse a collection on data you have.

    Asks the people in DATA, a CSV or Parquet file, and shows the truth beside every estimate.

    \b
    sottovoce simulate people.csv --column browser --epsilon 1
    sottovoce simulate people.csv --column age --mean 0:120 --epsilon 1
    sottovoce simulate people.csv --column browser --epsilon 1 \\
      --attack mga --share 0.05 --target lynx --fakes 0.05
    sottovoce simulate users.csv --task shop.toml --table txn=txn.csv \\
      --sql "SELECT AVG(amount) FROM users JOIN txn USING (uid) WHERE age < 40"
    """
    from sottovoce.core.rng import SystemRng
    from sottovoce.lab.seeded import SeededRng
    from sottovoce.lab.simulate import Simulation

    given = group_of(SimulateOptions, options)
    given.search.check()
    task, cells = _task_and_cells(given, data)
    _check_output(given, task.plan)
    values = task.plan.domain.from_columns(cells, given.search.separator)
    attack = given.attacks.made(task, given.tables.questions, given.search.separator)
    rng = SystemRng() if seed is None else SeededRng(seed)
    simulation = Simulation(task, rng, attack, given.attacks.share)
    outcome = _simulated(simulation, values, _row_count(cells), quiet=as_json)
    if given.output.save_task:
        _save(task, given.output.save_task)
    if task.plan.answers_sql:
        _show_questions(given, task, values, outcome, as_json=as_json)
    else:
        _show(given, task, values, outcome, as_json=as_json)


def _task_and_cells(given: SimulateOptions, data: Path) -> "tuple[Task, Tables]":
    """Return the task to simulate, and the columns of every table that it is about."""
    from sottovoce.cli.columns import read
    from sottovoce.cli.task import read_task

    if given.ask.task is None:
        names = _distinct(given.ask.columns)
        cells = read(data, names, given.search.separator)
        return _described(given, cells, data.stem), {"": cells}
    if given.describe_a_task:
        raise ParameterError(
            "a task document states epsilon, mechanism and domains: give --task or these, not both"
        )
    task = read_task(given.ask.task)
    return task, _cells(given, task.plan.domain, data)


def _cells(given: SimulateOptions, domain: "Domain", data: Path) -> "Tables":
    """Return the columns that the domain of a task reads, from a file for every table."""
    from sottovoce.cli.columns import read

    columns = domain.file_columns
    files = given.tables.files(data, tuple(columns))
    named = given.ask.columns
    if set(columns) == {""}:
        known = columns[""]
        columns = {"": _distinct(named or known)}
        if set(columns[""]) != set(known) if known else len(columns[""]) > 1:
            raise ParameterError("--column must name the questions of the task document")
    elif named:
        raise ParameterError(
            "--column does not go with a task about tables, which names its columns"
        )
    separator = given.search.separator
    return {table: read(files[table], names, separator) for table, names in columns.items()}


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise ParameterError("name every column to ask about once: --column NAME")
    return names


def _described(given: SimulateOptions, cells: "dict[str, Column]", title: str) -> "Task":
    """Return the task that the options describe."""
    from sottovoce.tasks.task import Task

    if given.ask.epsilon is None:
        raise ParameterError("say what one answer may reveal: --epsilon, or a document with --task")
    if len(given.special) > 1:
        raise ParameterError(
            "give only one of --mean, --distribution, --heavy-hitters, --items and --marginals"
        )
    described = Described(cells, given.values, given.ask.mechanism)
    plan = given.special[0].plan(described) if given.special else _frequencies(described)
    name = next(iter(cells)) if len(cells) == 1 else title
    return Task(name, plan, given.ask.epsilon)


def _frequencies(described: Described) -> "Plan":
    """Return a histogram of one column, or a survey of several."""
    from sottovoce.domains.records import Records
    from sottovoce.plans.frequencies.choose_mechanism import DEFAULT_RULE
    from sottovoce.plans.frequencies.histogram import Histogram
    from sottovoce.plans.frequencies.survey import Survey

    domains = described.values.of(described.cells)
    mechanism = described.mechanism or DEFAULT_RULE
    if len(domains) == 1:
        return Histogram(next(iter(domains.values())), mechanism)
    records = Records(tuple(domains), tuple(domains.values()))
    return Survey(records, mechanism=mechanism)


def _check_output(given: SimulateOptions, plan: "Plan") -> None:
    """Refuse options that do not go with the plan."""
    if not plan.answers_sql and given.tables.given:
        raise ParameterError("--table and --sql go with a task about tables: --task FILE")
    if plan.answers_sql and (given.output.plot or given.output.csv):
        raise ParameterError(
            "--plot and --csv do not go with a task about tables, which answers in text or JSON"
        )


def _row_count(cells: "Tables") -> int:
    columns = next(iter(cells.values()))
    return len(next(iter(columns.values())))


def _simulated(simulation: "Simulation", values: Any, people: int, *, quiet: bool) -> "Outcome":
    """Return the outcome of a simulation; warns of what speaks against it."""
    task = simulation.task
    for remark in (*task.plan.domain.remarks(values), *task.concerns):
        warn(remark)
    with progress(people, visible=not quiet) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConcernWarning)
        return replace(simulation, progress=advance).run(values)


def _save(task: "Task", path: Path) -> None:
    from sottovoce.wire import codec

    path.write_text(codec.canonical(codec.document(task)), encoding="utf-8")


def _show_questions(
    given: SimulateOptions, task: "Task", values: Any, outcome: Any, *, as_json: bool
) -> None:
    from sottovoce.cli.tables import QueryRehearsal

    shown = _shown(given)
    QueryRehearsal.of(task, values, outcome, given.tables.questions, shown).show(as_json=as_json)


def _shown(given: SimulateOptions) -> "ShownIntervals":
    from sottovoce.lab.truth.compare import ShownIntervals

    return ShownIntervals(given.output.level, given.output.fakes, given.attacks.share or 0.0)


def _show(
    given: SimulateOptions, task: "Task", values: Any, outcome: "Outcome", *, as_json: bool
) -> None:
    """Print the truth beside every estimate, and write the files that the options name."""
    from rich.console import Console

    from sottovoce.lab.truth.compare import rehearse
    from sottovoce.wire import codec

    output = given.output
    comparison = rehearse(task.plan, values, outcome, _shown(given))
    if output.csv:
        output.csv.write_text(comparison.to_csv(), encoding="utf-8")
    if output.plot:
        task.plan.draw(output.plot, values, outcome, output.level)
    if as_json:
        print_json(
            {"name": task.name, "task": codec.digest(codec.document(task)), **comparison.to_dict()}
        )
        return
    console = Console(highlight=False)
    for part in comparison.parts:
        console.print(table(part, _SHOWN), "")
    console.print(coverage(comparison))
    for line in (
        *scores(comparison),
        *(line for measure in comparison.measures for line in measure.lines),
    ):
        console.print(line, markup=False)
