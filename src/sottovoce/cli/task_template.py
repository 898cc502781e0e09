"""``sottovoce task init``: a commented task file for any kind of plan.

The file is written from the contract: the docstring and the signature of the plan, and the settings
of a collection.  What has a default stands there as a comment.  A new plan appears by itself.
"""

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sottovoce.tasks.plan import Plan

# What stands for a setting that a file has to state, by its name.
_SAMPLES = {
    "low": "0",
    "high": "100",
    "users": "10_000",
    "epochs": "12",
    "columns": '{age = {low = 18, high = 99}, city = ["Rome", "Oslo", "elsewhere"]}',
    "services": "{users = {columns = {age = {low = 18, high = 99}}},"
    " orders = {most = 5, columns = {amount = {low = 1, high = 125}}}}",
}
_LABELS = '["first", "second", "other"]'
# What stands for a domain, by a word in the annotation of the parameter.
_DOMAINS = (
    ("Strings", "{bytes = 20}"),
    ("Mapping", '{browser = ["a", "b", "other"], work = ["no", "yes"], car = ["no", "yes"]}'),
)
_WIDTH = 96  # columns of a comment


def template(kind: str) -> str:
    """Return a task file for a kind of plan, which can be published as it is."""
    from sottovoce.core.suggestion import did_you_mean
    from sottovoce.tasks.plan import Plan

    known = kinds()
    if kind not in known:
        suggestion = did_you_mean(kind, known)
        raise ParameterError(f"`kind` must be one of {', '.join(known)}.{suggestion}")
    plan = Plan.kinds[kind]
    distinct = (
        ["distinct = 2                     # values of one person that are paid for beforehand"]
        if plan.longitudinal
        else []
    )
    return "\n".join(
        [
            'name = "my-task"                 # part of the address; never used twice',
            'description = ""                 # one sentence for the people who are asked',
            "epsilon = 1.0                    # what an answer may reveal: sottovoce advise",
            *distinct,
            "",
            *_comment(inspect.getdoc(plan) or ""),
            "[plan]",
            f'kind = "{kind}"',
            *_plan_lines(plan),
            "",
            "[collection]",
            *_collection_lines(),
            "",
        ]
    )


def kinds() -> list[str]:
    """Return the kinds of plans that a task file may have."""
    from sottovoce.tasks.plan import Plan

    return [plan.kind for plan in Plan.kinds.classes()]


def _plan_lines(plan: "type[Plan]") -> "Iterator[str]":
    parameters = inspect.signature(plan).parameters
    for name, parameter in parameters.items():
        if name in _SAMPLES:
            yield f"{name} = {_SAMPLES[name]}"
        elif parameter.default is parameter.empty:
            yield f"{name} = {_domain(str(parameter.annotation), searches='top' in parameters)}"
    for name, parameter in parameters.items():
        default = _toml(parameter.default)
        if name not in _SAMPLES and parameter.default is not parameter.empty and default:
            yield f"# {name} = {default}"


def _domain(annotation: str, *, searches: bool) -> str:
    """Return a sample of a domain; a search needs more values than it is after."""
    sample = next((sample for word, sample in _DOMAINS if word in annotation), _LABELS)
    return "{low = 1, high = 100}" if searches and sample == _LABELS else sample


def _collection_lines() -> "Iterator[str]":
    """Return the settings of a collection; their comments are those of the class."""
    from sottovoce.tasks.collection import Collection

    comments = dict(
        re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(Collection), re.MULTILINE)
    )
    for name, parameter in inspect.signature(Collection).parameters.items():
        default = _toml(parameter.default)
        if default and name in comments:
            yield f"{f'# {name} = {default}':<32} # {comments[name]}"


def _toml(entry: Any) -> str:
    """Return a default as TOML; nothing for one that a file cannot state."""
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, (int, float)):
        return f"{entry:_}" if isinstance(entry, int) else repr(entry)
    if isinstance(entry, str):
        return f'"{entry}"'
    return "[]" if entry == () else ""


def _comment(docstring: str) -> "Iterator[str]":
    prose = docstring.partition(">>>")[0].strip().replace("``", "`")
    for paragraph in prose.split("\n\n"):
        yield from (f"# {line}" for line in textwrap.wrap(" ".join(paragraph.split()), _WIDTH))
