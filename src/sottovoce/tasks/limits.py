"""The rules that a task and its notice share: names, declared fields, and the price of a round."""

from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.round import Round

DECLARABLE = ("subject", "public")  # the optional fields of a report that a task may declare
MAX_NAME = 200  # characters
MAX_DISTINCT = (1 << 16) - 1


def check_name(name: str) -> None:
    """Refuse a task name that is empty or too long."""
    settings.text("name", name, MAX_NAME)


def check_declared(declares: tuple[str, ...]) -> None:
    """Refuse fields that no task may declare, and a field that is declared twice."""
    for field in declares:
        settings.choice("declares", field, DECLARABLE)
    settings.distinct("declares", declares)


def check_distinct(distinct: int | None) -> None:
    """Refuse a number of distinct values that no longitudinal task can pay for."""
    if distinct is not None:
        settings.whole("distinct", distinct, 1, MAX_DISTINCT)


def check_price(asked: Round, epsilon: float, distinct: int | None) -> None:
    """Refuse a round that costs more than its task states.

    A longitudinal task pays for every distinct value.
    """
    check_distinct(distinct)
    if exact.stated(asked.epsilon) * (distinct or 1) > exact.stated(epsilon):
        raise ParameterError("this round spends more than the `epsilon` that its task states")
