"""``sottovoce simulate``: a whole collection on data you hold, truth beside estimate."""

import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.discovery import SearchOptions
from sottovoce.cli.discovery import options as search_options
from sottovoce.cli.marginals import JointOptions, Rehearsal, draw
from sottovoce.cli.marginals import options as joint_options
from sottovoce.cli.output import as_json, coverage, print_json, progress, scores, seed, table, warn
from sottovoce.cli.tables import KINDS as TABLES
from sottovoce.cli.tables import TableOptions, read_tables
from sottovoce.cli.tables import options as table_options
from sottovoce.errors import ConcernWarning, ParameterError

if TYPE_CHECKING:
    from sottovoce.answers.answer import Answer
    from sottovoce.answers.answers import Answers
    from sottovoce.cli.columns import Column
    from sottovoce.domains.base import Domain
    from sottovoce.lab.truth.frequencies import Compared
    from sottovoce.plans.marginals.marginal_answers import MarginalAnswers
    from sottovoce.tasks.task import Task

_SHOWN = 25  # rows of a table
_SIMULATED = ("histogram", "survey", "marginals", "mean", "distribution", *TABLES)

_READ = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITE = click.Path(dir_okay=False, writable=True, path_type=Path)


@dataclass(frozen=True)
class Wanted:
    """The options of the command."""

    columns: tuple[str, ...]
    epsilon: float | None
    mechanism: str
    domains: tuple[str, ...]
    domain_files: tuple[str, ...]
    ranges: tuple[str, ...]
    mean: str | None
    distribution: str | None
    buckets: int
    clamp: bool
    search: SearchOptions
    joint: JointOptions
    asked: TableOptions
    decline: bool
    task: Path | None
    seed: int | None
    level: float
    plot: Path | None
    csv: Path | None
    save_task: Path | None
    as_json: bool

    @classmethod
    def of(cls, options: dict[str, Any]) -> "Wanted":
        """Return the options by what they are about."""

        def taken(kind: type[Any]) -> Any:
            return kind(**{one.name: options.pop(one.name) for one in fields(kind)})

        search, joint, asked = taken(SearchOptions), taken(JointOptions), taken(TableOptions)
        return cls(search=search, joint=joint, asked=asked, **options)

    @property
    def describes(self) -> bool:
        """Return whether an option says what a task document would say."""
        stated = self.epsilon is not None or self.mechanism or self.decline
        domains = self.domains or self.domain_files or self.ranges
        return bool(stated or domains or self.numeric or self.search.wanted or self.joint.marginals)

    @property
    def numeric(self) -> bool:
        """Return whether the options ask about a number."""
        return bool(self.mean or self.distribution)


@click.command("simulate")
@click.argument("data", type=_READ)
@click.option("--column", "columns", multiple=True, help="A column to ask about; several make a survey.")
@click.option("--epsilon", type=float, help="What one answer may reveal.")
@click.option("--mechanism", default="", help="A kind (grr, affine, oue, ...); the least error if absent.")
@click.option("--domain", "domains", multiple=True, metavar="[NAME=]a,b,c", help="The values of a column.")
@click.option("--domain-file", "domain_files", multiple=True, metavar="[NAME=]FILE", help="The same, one a line.")
@click.option("--range", "ranges", multiple=True, metavar="[NAME=]LOW:HIGH", help="Whole numbers, both ends included.")
@click.option("--mean", metavar="LOW:HIGH", help="Ask for the mean of a number.")
@click.option("--distribution", metavar="LOW:HIGH", help="Ask for the whole distribution of a number.")
@click.option("--buckets", type=click.IntRange(2, 4096), default=512, help="Intervals of a distribution.")
@click.option("--clamp", is_flag=True, help="Move numbers outside of LOW:HIGH to its ends instead of refusing them.")
@search_options
@joint_options
@table_options
@click.option("--decline", is_flag=True, help="Count empty cells as 'prefer not to say'.")
@click.option("--task", type=_READ, help="A task to simulate, a document or a TOML file, not --epsilon and domains.")
@seed
@click.option("--level", type=float, default=0.95, help="Confidence of the intervals.")
@click.option("--plot", type=_WRITE, help="Draw the answer to this file.")
@click.option("--csv", type=_WRITE, help="Write the rows to this file.")
@click.option("--save-task", type=_WRITE, help="Write the task document to this file.")
@as_json
def command(data: Path, **options: Any) -> None:
    """Rehearse a collection on data you hold.

    Asks the people in DATA, a CSV or Parquet file, and shows the truth beside every estimate.

    \b
    sottovoce simulate people.csv --column browser --epsilon 1
    sottovoce simulate people.csv --column age --mean 0:120 --epsilon 1
    sottovoce simulate users.csv --task shop.toml --table txn=txn.csv \\
      --sql "SELECT AVG(amount) FROM users JOIN txn USING (uid) WHERE age < 40"
    """
    from sottovoce.cli.columns import read
    from sottovoce.lab.truth.frequencies import compare

    wanted = Wanted.of(options)
    task = _stated(wanted)
    if task and task.plan.kind in TABLES:
        _ask(wanted, task, data)
        return
    if wanted.asked.given:
        raise ParameterError("--table and --sql go with a task about tables: --task FILE")
    cells = read(data, _names(wanted, task), wanted.search.separator)
    task = task or _described(wanted, cells, data.stem)
    if task.plan.kind in ("mean", "distribution"):
        _rehearse(wanted, task, cells)
        return
    held = _held(task, cells, wanted.search.separator)
    simulated = _simulated(wanted, task, held, len(next(iter(cells.values()))))
    if task.plan.kind == "marginals":
        _join(wanted, task, held, simulated)
        return
    answer = _at(simulated, wanted.level)
    compared = compare(task, held, answer)
    _write(wanted, task, answer, compared)
    _show(wanted, task, compared)


def _simulated(wanted: Wanted, task: "Task", held: Any, people: int) -> Any:
    """Return the answer of a simulation; what speaks against it is said in the words of this command."""
    from sottovoce.lab.simulate import simulate

    for concern in task.concerns:
        warn(concern)
    with progress(people, visible=not wanted.as_json) as told, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConcernWarning)
        return simulate(task, held, seed=wanted.seed, progress=told)


def _rehearse(wanted: Wanted, task: "Task", cells: "dict[str, Column]") -> None:
    from sottovoce.cli.numbers import Rehearsal, rehearse
    from sottovoce.wire import codec

    if wanted.save_task:
        wanted.save_task.write_text(codec.canonical(codec.document(task)), encoding="utf-8")
    how = Rehearsal(wanted.seed, wanted.level, wanted.plot, wanted.csv, wanted.as_json)
    rehearse(task, next(iter(cells.values())), how)


def _join(wanted: Wanted, task: "Task", held: Any, answer: "MarginalAnswers") -> None:
    from sottovoce.wire import codec

    made = Rehearsal.of(task, held, answer, wanted.level)
    if wanted.save_task:
        wanted.save_task.write_text(codec.canonical(codec.document(task)), encoding="utf-8")
    if wanted.csv:
        wanted.csv.write_text(_csv(made.compared), encoding="utf-8")
    if wanted.plot:
        draw(task, held, answer, wanted.plot)
    made.show(as_json=wanted.as_json)


def _ask(wanted: Wanted, task: "Task", data: Path) -> None:
    from sottovoce.cli.tables import Rehearsal
    from sottovoce.wire import codec

    services = task.plan.domain
    if wanted.columns or wanted.plot or wanted.csv:
        raise ParameterError("a task about tables reads its own columns and answers in text or JSON")
    held = read_tables(services, wanted.asked.files(data, services.names))
    database = _simulated(wanted, task, held, len(services.indices(held)))
    if wanted.save_task:
        wanted.save_task.write_text(codec.canonical(codec.document(task)), encoding="utf-8")
    Rehearsal.of(task, held, database, wanted.asked.questions, wanted.level).show(as_json=wanted.as_json)


def _stated(wanted: Wanted) -> "Task | None":
    """Return the task in a document, if one is given."""
    from sottovoce.lab.truth.frequent import searches

    if wanted.task is None:
        return None
    if wanted.describes:
        raise ParameterError("a task document states epsilon, mechanism and domains: give --task or these, not both")
    task = _document(wanted.task)
    if task.plan.kind not in _SIMULATED and not searches(task.plan):
        raise ParameterError("this command simulates histograms, surveys, tables, numbers and searches")
    return task


def _document(file: Path) -> "Task":
    """Return the task in a file: its document, or what an operator writes to publish it."""
    from sottovoce.collector import taskfile
    from sottovoce.errors import CodecError
    from sottovoce.wire import codec

    if file.suffix != ".toml":
        return codec.task(codec.parse(file.read_bytes()))
    try:
        return taskfile.read(file.read_text(encoding="utf-8"), toml=True)
    except UnicodeDecodeError:
        raise CodecError("a task file is written in UTF-8") from None


def _names(wanted: Wanted, task: "Task | None") -> tuple[str, ...]:
    """Return the columns to read: those of the document's questions, or those that the options name."""
    asked: tuple[str, ...] = getattr(task.plan.domain, "names", ()) if task else ()
    names = wanted.columns or asked
    if not names or len(set(names)) < len(names):
        raise ParameterError("name every column to ask about once: --column NAME")
    if task and (set(names) != set(asked) if asked else len(names) > 1):
        raise ParameterError("the columns must be the questions of the task document")
    return names


def _described(wanted: Wanted, cells: "dict[str, Column]", title: str) -> "Task":
    """Return the task that the options describe; domains they leave out come from the data, with a warning."""
    from sottovoce.cli.domains import Given
    from sottovoce.domains.records import Records
    from sottovoce.plans.frequencies.histogram import Histogram
    from sottovoce.plans.frequencies.survey import Survey
    from sottovoce.tasks.task import Task

    if wanted.epsilon is None:
        raise ParameterError("say what one answer may reveal: --epsilon, or a document with --task")
    _check_one_question(wanted)
    if wanted.numeric:
        return _about_a_number(wanted, tuple(cells))
    if wanted.search.wanted:
        return _searching(wanted, cells)
    given = Given(tuple(cells), wanted.domains, wanted.domain_files, wanted.ranges, decline=wanted.decline)
    stated = given.domains()
    for name in (name for name in cells if name not in stated):
        _warn_of_found(name)
    domains = {name: stated.get(name) or given.found(column) for name, column in cells.items()}
    if wanted.joint.marginals:
        return Task(title, wanted.joint.plan(domains, len(next(iter(cells.values())))), wanted.epsilon)
    if len(domains) > 1:
        records = Records(tuple(domains), tuple(domains.values()))
        return Task(title, Survey(records, mechanism=wanted.mechanism), wanted.epsilon)
    name, domain = next(iter(domains.items()))
    return Task(name, Histogram(domain, wanted.mechanism), wanted.epsilon)


def _check_one_question(wanted: Wanted) -> None:
    if wanted.joint.marginals and (wanted.numeric or wanted.search.wanted or wanted.mechanism):
        raise ParameterError("--marginals takes columns and their domains, and chooses its own mechanisms")


def _warn_of_found(name: str) -> None:
    warn(f"the values found in column {name!r} define its domain: fine for planning, but a real task must state it")


def _searching(wanted: Wanted, cells: "dict[str, Column]") -> "Task":
    """Return the task of a search; the items that the options leave out come from the data, with a warning."""
    from sottovoce.cli.discovery import split
    from sottovoce.cli.domains import Given
    from sottovoce.tasks.task import Task

    ((name, column), *others), search = cells.items(), wanted.search
    if others or wanted.mechanism or wanted.decline:
        raise ParameterError("a search takes one column, chooses its own mechanisms, and nobody declines")
    assert wanted.epsilon is not None
    given = Given((name,), wanted.domains, wanted.domain_files, wanted.ranges)
    items = given.domains().get(name)
    if items is not None and not search.items:
        raise ParameterError("heavy hitters are searched for because nobody can list them: a domain is for --items")
    if items is None and search.items:
        _warn_of_found(name)
        items = given.found([item for basket in split(column, search.separator) for item in basket])
    return Task(name, search.plan(items, len(column)), wanted.epsilon)


def _about_a_number(wanted: Wanted, names: tuple[str, ...]) -> "Task":
    from sottovoce.cli.numbers import NumericOptions
    from sottovoce.tasks.task import Task

    if wanted.search.wanted:
        raise ParameterError("one question at a time: --mean, --distribution, --heavy-hitters or --items")
    if len(names) > 1 or wanted.domains or wanted.domain_files or wanted.ranges or wanted.decline or wanted.mechanism:
        raise ParameterError("--mean and --distribution take one column, and no other option about its values")
    assert wanted.epsilon is not None
    options = NumericOptions(wanted.mean, wanted.distribution, wanted.buckets, wanted.clamp)
    return Task(names[0], options.plan(), wanted.epsilon)


def _held(task: "Task", cells: "dict[str, Column]", separator: str) -> Any:
    """Return what the people hold: a list for one question, columns for a survey."""
    from sottovoce.cli.domains import values
    from sottovoce.domains.records import Records

    domain = task.plan.domain
    if isinstance(domain, Records):
        parts: dict[str, Domain] = dict(zip(domain.names, domain.attributes, strict=True))
        return {name: values(name, parts[name], column) for name, column in cells.items()}
    name, column = next(iter(cells.items()))
    return values(name, domain, column, separator)


def _at(answer: Any, level: float) -> "Answer | Answers":
    from sottovoce.answers.answer import Answer
    from sottovoce.answers.answers import Answers

    if isinstance(answer, Answer):
        return answer.at(level)
    assert isinstance(answer, Answers)
    return replace(answer, parts={name: part.at(level) for name, part in answer.items()})


def _write(wanted: Wanted, task: "Task", answer: "Answer | Answers", compared: "tuple[Compared, ...]") -> None:
    from sottovoce.answers.answer import Answer
    from sottovoce.answers.chart import bars, grid
    from sottovoce.wire import codec

    if wanted.csv:
        wanted.csv.write_text(_csv(compared), encoding="utf-8")
    if wanted.save_task:
        wanted.save_task.write_text(codec.canonical(codec.document(task)), encoding="utf-8")
    if wanted.plot and isinstance(answer, Answer):
        bars(answer, wanted.plot, compared[0].truth)
    elif wanted.plot and not isinstance(answer, Answer):
        grid(answer, wanted.plot, {one.answer.name: one.truth for one in compared})


def _csv(compared: "tuple[Compared, ...]") -> str:
    import csv
    import io

    rows = [{"question": one.answer.name, **row} for one in compared for row in one.rows()]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _show(wanted: Wanted, task: "Task", compared: "tuple[Compared, ...]") -> None:
    from rich.console import Console

    from sottovoce.wire import codec

    if wanted.as_json:
        digest = codec.digest(codec.document(task))
        print_json({"name": task.name, "task": digest, "answers": [one.to_dict() for one in compared]})
        return
    console = Console()
    for one in compared:
        console.print(table(one, _SHOWN), "")
    console.print(coverage(compared), highlight=False)
    for line in scores(compared):
        console.print(line, highlight=False)
