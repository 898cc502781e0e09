"""Task files: what an operator writes, in TOML or JSON, and what becomes an immutable document.

    name = "browser"
    epsilon = 1.0
    description = "Which browser do you use?"

    [plan]
    kind = "histogram"
    domain = ["chrome", "firefox", "safari", "other"]      # or {low = 18, high = 99}

    [collection]
    quota = 10_000

The entries of ``plan`` are the arguments of the plan's own constructor.  A domain may be written in short, in one of
the ``short_forms`` that its class declares.  Plans that search for what is frequent take long values,
``domain = {bits = 48}``, or texts, ``domain = {bytes = 20}`` (with ``whole = true`` longer ones are refused, not cut),
or sets, for which ``domain`` lists the items as it lists labels above.

Tables for SQL have ``columns`` that people keep to themselves and may have ``public`` ones:

    [plan]
    kind = "joint"                                          # or "table", with plan.columns and plan.public

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

A whole task document is read as it is.
"""

import inspect
import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sottovoce.domains.base import domain_from_short
from sottovoce.errors import CodecError, ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

_ENTRIES = {"name", "epsilon", "description", "declares", "distinct", "plan", "collection"}


def read(text: str, *, toml: bool) -> Task:
    """Return the task in a file that is to be published; settings of the collection have their defaults."""
    task = parse(text, toml=toml)
    if "/" in task.name or task.name in (".", "..") or not task.name.isprintable():
        raise ParameterError(
            "`name` of a task is part of an address: it must have no slash and no control characters,"
            " and must not be `.` or `..`"
        )
    return task if task.collection is not None else replace(task, collection=Collection())


def parse(text: str, *, toml: bool) -> Task:
    """Return the task in a file as it is written: a whole document, or what an operator writes."""
    content = _parsed(text, toml=toml)
    return codec.task(codec.parse(text)) if not toml and "version" in content else _task(content)


def _parsed(text: str, *, toml: bool) -> Mapping[str, Any]:
    try:
        content = tomllib.loads(text) if toml else json.loads(text)
    except (ValueError, RecursionError):
        raise CodecError(f"the task file is not {'TOML' if toml else 'JSON'}") from None
    if not isinstance(content, dict):
        raise CodecError("a task file is a table with a name, an epsilon and a plan")
    return content


def _task(content: Mapping[str, Any]) -> Task:
    if set(content) - _ENTRIES or not {"name", "epsilon", "plan"} <= set(content):
        raise CodecError(f"a task file has name, epsilon and plan, and may have {', '.join(sorted(_ENTRIES))}")
    plan, collection = content["plan"], content.get("collection", {})
    if not isinstance(plan, dict) or not isinstance(collection, dict) or isinstance(content["epsilon"], (bool, list)):
        raise CodecError("plan and collection are tables, epsilon is a number")
    rest = {key: content[key] for key in ("description", "declares", "distinct") if key in content}
    try:
        return Task(
            content["name"],
            _plan(dict(plan)),
            float(content["epsilon"]),
            collection=_built(Collection, collection, {one.name for one in fields(Collection)}),
            **rest,
        )
    except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise _told(error) from None


def _plan(entries: dict[str, Any]) -> Plan:
    kind = entries.pop("kind", None)
    if not isinstance(kind, str):
        raise CodecError("a plan has a kind")
    plan_class: type[Plan] = Plan.kinds[kind]
    known = set(inspect.signature(plan_class).parameters)
    settings = {key: _value(value) for key, value in plan_class.check_settings(entries).items()}
    plan: Plan = _built(plan_class, settings, known)
    return plan


def _value(value: Any) -> Any:
    """Return a list as it is, a table that describes a domain in short as the domain, other tables entry by entry."""
    if not isinstance(value, dict):
        return value
    nested = any(isinstance(entry, (dict, list)) for entry in value.values())  # questions of a survey
    domain = None if nested else domain_from_short(value)
    if domain is not None:
        return domain
    return {key: _value(entry) for key, entry in value.items()}


def _built(made: Any, entries: Mapping[str, Any], known: set[str]) -> Any:
    if set(entries) - known:
        raise ParameterError(f"the settings of a {made.__name__.lower()} are {', '.join(sorted(known))}")
    try:
        return made(**entries)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise _told(error) from None


def _told(error: Exception) -> Exception:
    """Return an error that states the rule: ours as it is, Python's as a matter of types."""
    ours = isinstance(error, (ParameterError, CodecError))
    return (
        error if ours else ParameterError("a setting of the task file has the wrong type, or is out of all proportion")
    )
