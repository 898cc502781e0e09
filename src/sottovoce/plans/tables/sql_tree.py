"""Small pieces of sqlglot trees; sqlglot is imported when the first is made."""

from collections.abc import Sequence
from functools import reduce
from typing import Any


def exp() -> Any:
    """Return sqlglot's classes of nodes."""
    from sqlglot import exp as nodes

    return nodes


def column(name: str) -> Any:
    """Return a column by name."""
    return exp().Column(this=exp().Identifier(this=name, quoted=False))


def table(name: str) -> Any:
    """Return a relation by name."""
    return exp().Table(this=exp().Identifier(this=name, quoted=False))


def alias(node: Any, name: str) -> Any:
    """Return an item of SELECT under a name."""
    return exp().Alias(this=node, alias=exp().Identifier(this=name, quoted=False))


def total_of(node: Any) -> Any:
    """Return SUM of something."""
    return exp().Sum(this=node)


def times(nodes: Sequence[Any]) -> Any:
    """Return the product of some nodes."""
    return reduce(lambda left, right: exp().Mul(this=left, expression=right), nodes)


def plus(nodes: Sequence[Any]) -> Any:
    """Return the sum of some nodes."""
    return reduce(lambda left, right: exp().Add(this=left, expression=right), nodes)


def number(value: float) -> Any:
    """Return a number as it is written."""
    return exp().Literal.number(repr(value))


def double(value: float) -> Any:
    """Return a number as a double, whatever the dialect takes a plain number for."""
    plain = number(abs(value))
    signed = exp().Neg(this=plain) if value < 0 else plain
    return exp().Cast(this=signed, to=exp().DataType.build("double"))


def literal(value: str | float) -> Any:
    """Return a literal: text, or a double."""
    return exp().Literal.string(value) if isinstance(value, str) else double(float(value))


def comparison(sign: str) -> Any:
    """Return the class of nodes for a comparison."""
    nodes = {"=": "EQ", "<>": "NEQ", "<": "LT", "<=": "LTE", ">": "GT", ">=": "GTE"}
    return getattr(exp(), nodes[sign])
