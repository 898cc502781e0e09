"""Options in groups: a dataclass whose fields are the values of its click options.

A group lists its options in ``OPTIONS``; a field may be another group.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

Command = TypeVar("Command", bound=Callable[..., Any])
Group = TypeVar("Group")


def options_of(group: type[Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of a group, and of the groups within it."""

    def decorate(command: Command) -> Command:
        for option in reversed(_options(group)):
            command = option(command)
        return command

    return decorate


def group_of(group: type[Group], options: dict[str, Any]) -> Group:
    """Return a group with the values that a command was called with."""
    types: dict[str, Any] = get_type_hints(group)
    values = {}
    for field in fields(group):  # type: ignore[arg-type]
        inner: Any = types[field.name]
        values[field.name] = group_of(inner, options) if _is_group(inner) else options[field.name]
    return group(**values)


def _options(group: type[Any]) -> list[Callable[[Any], Any]]:
    types = get_type_hints(group)
    options = [*getattr(group, "OPTIONS", ())]
    for field in fields(group):
        if _is_group(types[field.name]):
            options += _options(types[field.name])
    return options


def _is_group(kind: Any) -> bool:
    return is_dataclass(kind)
