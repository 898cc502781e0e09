"""What may leave the collector as an answer: one rule for API, dashboard and command line.

Nothing is released about fewer users than the task's minimum.  Values whose estimate is below the
task's crowd are suppressed: they are marked as such, not shown as zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from sottovoce.answers import export
from sottovoce.answers.attacked import checked_fakes
from sottovoce.answers.outcome import Outcome
from sottovoce.answers.side_views import SideViews
from sottovoce.collector.collector import Collector
from sottovoce.collector.published import Published
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.integrity.choices import checked_defence
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.web.problems import RequestError

LOWEST_LEVEL = 0.5
HIGHEST_LEVEL = 0.9999
MAX_BINS = 1_000


@dataclass(frozen=True)
class AnswerOptions:
    """Options of a requested answer.

    - ``method`` is the post-processing method, and ``level`` the confidence level of the intervals.
    - ``marginal`` names the attributes of a joint table.
    - ``fakes`` is the share of false reports that the bounds allow for.
    - ``defence`` says what is done about reports that cannot be honest.
    - ``bins`` is the largest number of groups that the numbers of a long range are put into; None
      keeps every number.
    """

    method: str = "none"
    level: float = 0.95
    marginal: tuple[str, ...] = ()
    fakes: float | None = None
    defence: str = "none"
    bins: int | None = None

    def check(self, plan: Plan) -> None:
        """Refuse options that the outcomes of a plan do not have."""
        if self.method not in plan.methods:
            raise ParameterError(f"`method` must be one of {', '.join(plan.methods)} for this task")
        if not LOWEST_LEVEL <= self.level <= HIGHEST_LEVEL:
            raise ParameterError(f"`level` must be a number from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
        checked_fakes(self.fakes)
        checked_defence(self.defence)


def fakes_of(text: str) -> float | None:
    """Return the share of false reports in a form or an address; None for an empty text or 0."""
    try:
        fakes = float(text or "0")
    except ValueError:
        fakes = nan
    return None if fakes == 0 else checked_fakes(fakes)


def level_of(text: str) -> float:
    """Return the confidence level in a form or an address, or refuse it."""
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
        raise ParameterError(f"`level` must be a number from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
    return level


def bins_of(text: str) -> int | None:
    """Return the largest number of bins in a form or an address; None for an empty text."""
    if not text:
        return None
    bins = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 2 <= bins <= MAX_BINS:
        raise ParameterError(f"`bins` must be a whole number from 2 to {MAX_BINS:,}")
    return bins


@dataclass(frozen=True, eq=False)
class Release:
    """An answer as it may be shown: ``content`` is plain data with everything else left out."""

    content: dict[str, Any]
    _outcome: Outcome

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return one record for every question."""
        return parts(self.content)

    def to_csv(self) -> str:
        """Return all rows as CSV, the question in the first column; what is suppressed says so."""
        return rows_as_csv(self.content)

    def plot(self, path: Path) -> None:
        """Draw the answer, unless some of it is suppressed."""
        if any(
            part["suppressed"] or any(row["suppressed"] for row in part["rows"])
            for part in self.parts
        ):
            raise NoDataError(
                "some values rest on too few users: they are suppressed, and the answer is not "
                "drawn"
            )
        self._outcome.plot(path)


def released(
    collector: Collector,
    published: Published,
    options: AnswerOptions,
    outcome: Outcome | None = None,
) -> Release:
    """Return the answer of a task as it may be shown, or refuse all of it.

    An ``outcome`` that was computed elsewhere is not computed again.
    """
    plan = published.task.plan
    if outcome is None:
        outcome = collector.answer_of(published, defence=options.defence)
    options.check(plan)
    if options.marginal:
        outcome = plan.select(outcome, options.marginal)
    outcome = outcome.at(options.level, fakes=options.fakes)
    if options.method != "none":
        outcome = outcome.postprocess(options.method)
    content = refuse_withheld(release(outcome, published.collection, options.bins))
    alarms = alarms_of(collector, published)
    return Release({**content, "alarms": alarms} if alarms else content, outcome)


def alarms_of(collector: Collector, published: Published) -> list[dict[str, Any]]:
    """Return the rounds in which a test alarmed, with the names of these tests."""
    return [
        {"round": integrity.round, "tests": list(integrity.alarms)}
        for integrity in collector.integrity(published)
        if integrity.alarm
    ]


def released_integrity(collector: Collector, published: Published) -> dict[str, Any]:
    """Return what the tests of all sealed rounds of a task said.

    A round that too few users answered is never tested, so that nothing can be said about it.
    """
    rounds = [integrity.to_dict() for integrity in collector.integrity(published)]
    return {
        "name": published.record.name,
        "alarm": any(integrity["alarm"] for integrity in rounds),
        "rounds": rounds,
    }


def released_views(published: Published, outcome: Outcome, names: Sequence[str]) -> SideViews:
    """Return what is shown beside the rows of an answer; nothing where too few users answered."""
    return outcome.views(names) if outcome.users >= published.collection.minimum else SideViews()


def release(outcome: Outcome, collection: Collection, bins: int | None = None) -> dict[str, Any]:
    """Return an outcome as plain data, without the parts that rest on too few users.

    A part with fewer users than the minimum is only its name and ``suppressed``; so is a value, or
    a bin of values, whose estimate is below the crowd.
    """
    if not outcome.single:
        by_name = {
            name: release(part, collection, bins) for name, part in outcome.questions().items()
        }
        return {"name": outcome.name, "minimum": collection.minimum, "answers": by_name}
    if outcome.users < collection.minimum:
        withheld = {"name": outcome.name, "minimum": collection.minimum}
        return {**withheld, "suppressed": True, "rows": []}
    content = outcome.to_dict()
    crowd = collection.crowd if outcome.counts_people else 0
    rows = _rows(content["rows"] if bins is None else outcome.bands(bins), crowd)
    return {**content, "minimum": collection.minimum, "suppressed": False, "rows": rows}


def parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a released answer, one for every question."""
    return list(content["answers"].values()) if "answers" in content else [content]


def refuse_withheld(content: dict[str, Any]) -> dict[str, Any]:
    """Return what was released, or say that nothing was."""
    if parts(content) and all(part["suppressed"] for part in parts(content)):
        raise RequestError(
            "too-few-users", f"fewer than {content['minimum']} users: nothing is released"
        )
    return content


def rows_as_csv(content: dict[str, Any]) -> str:
    """Return the rows of a released answer as CSV."""
    rows = [
        {"question": part["name"], **row}
        for part in parts(content)
        for row in part["rows"] or [{"suppressed": True}]
    ]
    return export.csv_text(rows)


def _rows(rows: list[dict[str, Any]], crowd: int) -> list[dict[str, Any]]:
    """Return the rows with the small ones suppressed.

    A single row is never suppressed alone: the other rows and their sum would reveal it.
    """
    # Raw estimates below 0 count too.
    small = sum(row["estimate"] < crowd for row in rows) if crowd else 0
    order = sorted(range(len(rows)), key=lambda index: rows[index]["estimate"])
    hidden = set(order[: max(2, small)]) if small else set()
    return [
        {"value": row["value"], "suppressed": True}
        if index in hidden
        else {**row, "suppressed": False}
        for index, row in enumerate(rows)
    ]
