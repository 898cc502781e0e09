"""The reference page: every registered kind with its settings, written from the code.

python -m sottovoce.lab.reference > docs/reference.md
"""

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from sottovoce import errors
from sottovoce.collector.store.base import Store
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.mechanisms.base import Mechanism
from sottovoce.postprocess.apply import known_methods
from sottovoce.sql.aggregates.base import aggregates
from sottovoce.tasks.plan import Plan

_HEAD = """# Reference

Everything that a task file, the command line and the dashboard know by name. The page is written
from the code (`make docs`): a new file in one of these families adds its own line.
"""


def page() -> str:
    """Return the page."""
    families = (_plans, _domains, _mechanisms, _encodings, _methods, _aggregates, _stores)
    sections = (*families, _errors)
    lines = [line for section in sections for line in section()]
    return "\n".join([_HEAD, *lines])


def _plans() -> list[str]:
    rows = [_described(plan) for plan in Plan.kinds.classes()]
    about = (
        "What a collection asks and answers: `kind` in the `[plan]` of a task file,"
        " beside the settings."
    )
    return _section("Plans", about, ("kind", "class", "what it does", "settings"), rows)


def _domains() -> list[str]:
    rows = [(*_described(domain), _short_forms(domain)) for domain in Domain.kinds.classes()]
    about = (
        "What a person may hold. A short form is a table with exactly these entries in a task file."
    )
    return _section(
        "Domains", about, ("kind", "class", "what it is", "settings", "short forms"), rows
    )


def _mechanisms() -> list[str]:
    rows = [_described(mechanism) for mechanism in Mechanism.kinds.classes()]
    about = "How a device randomises a value: `mechanism` of plans that let you choose."
    return _section("Mechanisms", about, ("kind", "class", "what it does", "settings"), rows)


def _encodings() -> list[str]:
    rows = [_described(encoding) for encoding in Encoding.kinds.classes()]
    about = (
        "What a device does with a value before a mechanism randomises it. Plans choose encodings."
    )
    return _section("Encodings", about, ("kind", "class", "what it does", "settings"), rows)


def _methods() -> list[str]:
    rows = [
        (_code(method.name), method.summary, _needs(method), _settings(method.rule_for, skip=1))
        for method in known_methods().values()
    ]
    about = (
        "Post-processing of an answer: `--method` on the command line, `method` in Python and HTTP."
    )
    return _section("Post-processing", about, ("name", "what it does", "needs", "options"), rows)


def _aggregates() -> list[str]:
    rows = []
    for aggregate in dict.fromkeys(aggregates().values()):
        names = ", ".join(map(_code, aggregate.sql_names))
        rows.append((names, _summary(aggregate), aggregate.formula))
    about = "What a query in SQL may ask for; `EXPLAIN` shows the formula."
    return _section("SQL aggregates", about, ("name", "what it is", "formula"), rows)


def _stores() -> list[str]:
    rows = []
    for store in sorted(set(Store.kinds.classes()), key=lambda store: store.__name__):
        urls = ", ".join(_code(f"{scheme}://...") for scheme in store.schemes)
        rows.append((store.__name__, _summary(store), urls))
    about = "Where a collector keeps tasks and reports: `--database` names one."
    return _section("Stores", about, ("class", "what it is", "URL"), rows)


def _errors() -> list[str]:
    kinds = [kind for kind in vars(errors).values() if _is_error(kind)]
    ordered = sorted(kinds, key=lambda kind: kind.exit_code)
    rows = [(f"`sv.{kind.__name__}`", _summary(kind), str(kind.exit_code)) for kind in ordered]
    about = (
        "What a caller can do about an error, by its class; the command line ends with its exit"
        " code, 0 if all went well, and 2 too if it was called in a wrong way. `sv.ConcernWarning`"
        " warns of a collection that works but has a weakness."
    )
    return _section("Errors and exit codes", about, ("class", "what to do", "exit code"), rows)


def _is_error(entry: Any) -> bool:
    return isinstance(entry, type) and issubclass(entry, errors.SottovoceError)


def _section(
    title: str, about: str, headings: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[str]:
    lines = [f"## {title}", "", about, "", _row(headings), _row(["---"] * len(headings))]
    return [*lines, *map(_row, rows), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _described(member: Any) -> tuple[str, ...]:
    """Return kind, name, summary and settings of a class."""
    return _code(member.kind), member.__name__, _summary(member), _settings(member)


def _summary(member: Any) -> str:
    """Return the first sentence of a docstring, on one line."""
    paragraph = (inspect.getdoc(member) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`")


def _settings(call: Any, skip: int = 0) -> str:
    """Return the parameters of a constructor or function, each with its default."""
    parameters = list(inspect.signature(call).parameters.values())[skip:]
    return ", ".join(_code(_parameter(parameter)) for parameter in parameters)


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    return f"{parameter.name}={parameter.default!r}"


def _short_forms(domain: type[Domain]) -> str:
    forms = (", ".join(sorted(form)) for form in domain.short_forms)
    return "; ".join(_code(f"{{{form}}}") for form in forms)


def _needs(method: Any) -> str:
    needs = [
        text
        for needed, text in (
            (method.needs_whole_domain, "the whole domain"),
            (method.needs_equal_errors, "equal errors"),
        )
        if needed
    ]
    return ", ".join(needs)


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    print(page(), end="")
