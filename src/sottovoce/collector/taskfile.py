"""Task files: what an operator writes, in TOML or JSON, to publish a task.

    name = "browser"
    epsilon = 1.0
    description = "Which browser do you use?"

    [plan]
    kind = "histogram"
    domain = ["chrome", "firefox", "safari", "other"]      # or {low = 18, high = 99}

    [collection]
    quota = 10_000

The entries of ``plan`` are the arguments of the plan's constructor.  A domain may be written in one
of the ``short_forms`` that its class declares.  Searches take long values, ``domain = {bits =
48}``, texts, ``domain = {bytes = 20}`` (with ``whole = true`` longer texts are refused, not cut),
or sets, for which ``domain`` lists the items.

Tables for SQL have private ``columns`` and may have ``public`` ones:

    [plan]
    kind = "joint"                               # or "table", with plan.columns and plan.public

    [plan.services.users.columns]
    age = {low = 1, high = 125}
    income = {low = 0, high = 250_000, buckets = 125}       # or points = 101
    state = ["NY", "WA", "CA"]

    [plan.services.users.public]
    os = ["iOS", "Android"]

    [plan.services.txn]
    most = 10                                               # records of one person that count
    rows = 1                                                # of which so many are reported
    columns.amount = {low = 1, high = 625}

``workload = ["SELECT ..."]`` in ``plan`` lists queries that will be asked; people are asked more
often about what these need.

A shuffled task names its hops and what must hold against the collector alone:

    [shuffle]
    hops = ["https://mix-a.example#KEY", "https://mix-b.example#KEY"]   # or tables of url and key
    users = 100_000                                         # people in a batch, at the least
    central = 0.5
    delta = 1e-9

Its ``epsilon`` may then be left out, and is chosen up to ``max_local`` of the shuffle; so are
``fakes`` and ``against_users``.  The collector's own ``key`` is filled in when the task is
published.

A complete task document is accepted too.
"""

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from sottovoce.collector import entry_lines, shuffle_table
from sottovoce.core.suggestion import did_you_mean
from sottovoce.domains.base import domain_from_short
from sottovoce.errors import CodecError, ParameterError
from sottovoce.plans.shuffled_settings import settle
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

_ENTRIES = {
    *("name", "epsilon", "description", "declares", "distinct"),
    *("plan", "collection", "shuffle"),
}

# What constructors raise for settings that a file may have.
_REFUSALS = (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)

CollectorKey = Callable[[], str]  # returns the long-term public key of a collector (base64url)


def read(text: str, *, toml: bool, collector_key: CollectorKey | None = None) -> Task:
    """Return the task in a file as it is published, with the default collection settings.

    ``collector_key`` is called for the key that a shuffled task leaves out.
    """
    task = parse(text, toml=toml, collector_key=collector_key)
    if "/" in task.name or task.name in (".", "..") or not task.name.isprintable():
        raise ParameterError(
            "`name` of a task is part of an address: it must have no slash and no control "
            "characters,"
            " and must not be `.` or `..`"
        )
    return task if task.collection is not None else replace(task, collection=Collection())


def load(path: Path) -> Task:
    """Return the task in a TOML or JSON file as it is written."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CodecError("a task file must be UTF-8 text") from None
    return parse(text, toml=path.suffix == ".toml")


def parse(text: str, *, toml: bool, collector_key: CollectorKey | None = None) -> Task:
    """Return the task in a file as it is written: a whole document, or what an operator writes."""
    content = _parsed(text, toml=toml)
    if not toml and "version" in content:
        return codec.task(codec.parse(text))
    try:
        return _task(content, collector_key)
    except _RefusedEntry as refused:
        error = refused.error
        line = entry_lines.line_of(text, refused.path, toml=toml)
        if line is not None:
            error.args = (f"line {line} of the task file: {error}",)
        raise error from None


class _RefusedEntry(Exception):  # noqa: N818 - never leaves this module
    """Why a file is refused, and the path to the entry that it is about."""

    def __init__(self, error: Exception, *path: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.path = path


def _parsed(text: str, *, toml: bool) -> Mapping[str, Any]:
    try:
        content = tomllib.loads(text) if toml else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if toml else "JSON"
        raise CodecError(f"the task file is not {kind}{_position(error)}") from None
    if not isinstance(content, dict):
        raise CodecError("a task file must be a table with the entries name, epsilon and plan")
    return content


def _position(error: Exception) -> str:
    """Return where reading stopped, without anything of the text."""
    found = re.search(r"line \d+,? column \d+", str(error))
    return f": reading stopped at {found.group()}" if found else ""


def _task(content: Mapping[str, Any], collector_key: CollectorKey | None) -> Task:
    needed = {"name", "plan"} if "shuffle" in content else {"name", "epsilon", "plan"}
    for entry in ("name", "epsilon", "plan"):
        if entry in needed - set(content):
            raise CodecError(f"a task file must have the entry `{entry}`")
    _check_known("a task file", content, _ENTRIES, ())
    tables = [content["plan"], content.get("collection", {}), content.get("shuffle", {})]
    epsilon = content.get("epsilon")
    if not all(isinstance(table, dict) for table in tables) or isinstance(epsilon, (bool, list)):
        raise CodecError("`plan`, `collection` and `shuffle` must be tables, `epsilon` a number")
    rest = {key: content[key] for key in ("description", "declares", "distinct") if key in content}
    with _about((), content):
        known = {setting.name for setting in fields(Collection)}
        collection = _built(Collection, tables[1], known, "collection")
        plan = _plan(dict(tables[0]))
        local = None if epsilon is None else float(epsilon)
        if "shuffle" in content:
            with _about(("shuffle",), tables[2]):
                wishes = shuffle_table.wishes(tables[2], collector_key)
            settled = settle(plan, local, wishes)
            plan = settled.plan
            local = settled.epsilon
            rest["shuffle"] = settled.shuffle
        if local is None:
            raise CodecError("`epsilon` must be a number")
        return Task(content["name"], plan, local, collection=collection, **rest)


def _plan(entries: dict[str, Any]) -> Plan:
    kind = entries.pop("kind", None)
    if not isinstance(kind, str):
        raise _RefusedEntry(CodecError("`plan` must have a `kind`"), "plan")
    plan_class = _plan_class(kind)
    known = set(inspect.signature(plan_class).parameters)
    with _about(("plan",), entries):
        checked = plan_class.check_settings(entries)
    settings = {}
    for key, value in checked.items():
        with _about(("plan", key), ()):
            settings[key] = _value(value)
    plan: Plan = _built(plan_class, settings, known, "plan")
    return plan


def _plan_class(kind: str) -> type[Plan]:
    try:
        return Plan.kinds[kind]
    except ParameterError as error:
        known = [plan.kind for plan in Plan.kinds.classes()]
        suggestion = did_you_mean(kind, known)
        kinds = ", ".join(known)
        refusal = ParameterError(f"{error}; `plan.kind` must be one of {kinds}.{suggestion}")
        raise _RefusedEntry(refusal, "plan", "kind") from None


def _check_known(
    owner: str, entries: Iterable[str], known: set[str], path: tuple[str, ...]
) -> None:
    """Refuse an entry that is not known, and name the one that was probably meant.

    The entry itself is not shown: over HTTP an error repeats nothing of a request.
    """
    for entry in sorted(set(entries) - known):
        names = ", ".join(sorted(known))
        suggestion = did_you_mean(entry, known)
        refusal = CodecError(f"{owner} has an unknown entry; it may have {names}.{suggestion}")
        raise _RefusedEntry(refusal, *path, entry)


@contextmanager
def _about(path: tuple[str, ...], entries: Iterable[str]) -> Iterator[None]:
    """Say which entry an error is about: one of some entries of a table, or the whole table.

    Errors begin with the name of the setting that is wrong.
    """
    try:
        yield
    except _REFUSALS as error:
        stated = _stated(error)
        named = re.match(r"`(\w+)`", str(stated))
        entry = [named[1]] if named is not None and named[1] in entries else []
        raise _RefusedEntry(stated, *path, *entry) from None


def _value(value: Any) -> Any:
    """Return the domain that a short form describes; other tables are read entry by entry."""
    if not isinstance(value, dict):
        return value
    # Questions of a survey.
    nested = any(isinstance(entry, (dict, list)) for entry in value.values())
    domain = None if nested else domain_from_short(value)
    if domain is not None:
        return domain
    return {key: _value(entry) for key, entry in value.items()}


def _built(cls: Any, settings: Mapping[str, Any], known: set[str], table: str) -> Any:
    _check_known(f"`{cls.__name__}`", settings, known, (table,))
    required = [
        name
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is parameter.empty
    ]
    for name in required:
        if name not in settings:
            refusal = CodecError(f"`{cls.__name__}` must have the entry `{name}`")
            raise _RefusedEntry(refusal, table)
    with _about((table,), settings):
        return cls(**settings)


def _stated(error: Exception) -> Exception:
    """Return an error that states a rule: ours as it is, one of Python as a matter of types."""
    if isinstance(error, (ParameterError, CodecError)):
        return error
    return ParameterError("a setting has the wrong type or is far out of range")
