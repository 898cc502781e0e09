"""The rules that a task and the notice of it share: names, declared fields, and that no round costs too much."""

from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.round import Round

DECLARABLE = ("subject", "public")  # the optional fields of a report that a task may declare
MAX_NAME = 200  # characters
MAX_DISTINCT = (1 << 16) - 1


def check_name(name: str) -> None:
    """Refuse a task name that is empty or too long."""
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
        raise ParameterError(f"`name` of a task must be text of 1 to {MAX_NAME} characters")


def check_declared(declares: tuple[str, ...]) -> None:
    """Refuse fields that no task may declare, and a field that is declared twice."""
    if set(declares) - set(DECLARABLE):
        raise ParameterError(f"`declares` may name the fields {', '.join(DECLARABLE)}")
    if len(set(declares)) < len(declares):
        raise ParameterError("`declares` must name each field once")


def check_distinct(distinct: int | None) -> None:
    """Refuse a number of distinct values that no longitudinal task can pay for."""
    if distinct is not None and (type(distinct) is not int or not 1 <= distinct <= MAX_DISTINCT):
        raise ParameterError(f"`distinct` must be a whole number from 1 to {MAX_DISTINCT:,}")


def check_price(asked: Round, epsilon: float, distinct: int | None) -> None:
    """Refuse a round that costs more than its task states; a longitudinal task pays for every distinct value."""
    check_distinct(distinct)
    if exact.stated(asked.epsilon) * (distinct or 1) > exact.stated(epsilon):
        raise ParameterError("this round spends more than the `epsilon` that its task states")
