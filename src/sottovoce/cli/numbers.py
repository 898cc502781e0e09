"""Numbers on the command line: a mean or a whole distribution of one column, truth beside estimate."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.columns import Column
from sottovoce.cli.output import print_json, progress
from sottovoce.errors import DomainError, ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.answers.number_answer import NumberAnswer
    from sottovoce.arrays import Floats
    from sottovoce.plans.numbers.distribution import DistributionAnswer
    from sottovoce.tasks.plan import Plan
    from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class NumericOptions:
    """The options that ask about a number."""

    mean: str | None
    distribution: str | None
    buckets: int
    clamp: bool

    def plan(self) -> "Plan":
        """Return the plan that the options describe."""
        from sottovoce.plans.numbers.distribution import Distribution
        from sottovoce.plans.numbers.mean import Mean

        if self.mean and self.distribution:
            raise ParameterError("ask for a mean or for a distribution: --mean or --distribution, not both")
        if self.mean:
            return Mean(*_bounds(self.mean), clamped=self.clamp)
        return Distribution(*_bounds(self.distribution or ""), self.buckets, clamped=self.clamp)


@dataclass(frozen=True)
class Rehearsal:
    """How a simulation is shown and kept."""

    seed: int | None
    level: float
    plot: Path | None
    csv: Path | None
    as_json: bool


def rehearse(task: "Task", column: Column, options: Rehearsal) -> None:
    """Simulate a task about a number and show its figures beside the truth."""
    from rich.console import Console

    from sottovoce.answers.number_answer import NumberAnswer
    from sottovoce.lab.simulate import simulate
    from sottovoce.lab.truth.figures import beside

    numbers = _numbers(column)
    with progress(len(numbers), visible=not options.as_json) as told:
        answer: Any = simulate(task, numbers, seed=options.seed, progress=told)
    answer = answer.at(options.level)
    measures = answer if isinstance(answer, NumberAnswer) else answer.measures()
    rows = beside(measures, _clamped(task, numbers))
    _write(answer, measures, numbers, options)
    if options.as_json:
        print_json({**measures.to_dict(), "rows": rows})
    else:
        Console().print(table(measures, rows))


def table(measures: "NumberAnswer", rows: list[dict[str, Any]]) -> "Table":
    """Return truth beside figure and interval."""
    from rich.table import Table
    from rich.text import Text

    facts = f"{measures.users:,} reports, epsilon {measures.epsilon:g}, {measures.mechanism}"
    made = Table(title=Text(f"{measures.name}  ({facts})"), title_justify="left", box=None, pad_edge=False)
    made.add_column("figure", no_wrap=True)
    for heading in ("truth", "estimate", f"{100 * measures.level:g} % interval", ""):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        bounds = f"[{row['low']:,.5g}, {row['high']:,.5g}]"
        numbers = f"{row['truth']:,.5g}", f"{row['estimate']:,.5g}", bounds
        made.add_row(Text(row["value"]), *map(Text, numbers), "" if row["covered"] else Text("missed", style="red"))
    return made


def _write(
    answer: "NumberAnswer | DistributionAnswer", measures: "NumberAnswer", numbers: "Floats", options: Rehearsal
) -> None:
    import numpy as np

    from sottovoce.plans.numbers.distribution import DistributionAnswer

    if options.csv:
        options.csv.write_text(measures.to_csv(), encoding="utf-8")
    if options.plot and isinstance(answer, DistributionAnswer):
        answer.plot(options.plot, truth=np.histogram(numbers, answer.edges)[0])
    elif options.plot:
        raise ParameterError("a mean is one number: --plot draws distributions")


def _bounds(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise ParameterError("the range of a number is LOW:HIGH") from None


def _numbers(column: Column) -> "Floats":
    import numpy as np

    try:
        return np.array([float(cell or "") for cell in column])
    except ValueError:
        raise DomainError("every cell of the column must hold a number") from None


def _clamped(task: "Task", numbers: "Floats") -> "Floats":
    return numbers.clip(task.plan.domain.low, task.plan.domain.high)
