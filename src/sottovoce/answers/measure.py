"""A measure of how far an outcome is from the truth, which only simulations know."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """A name, plain data for programs, and lines of text for people."""

    name: str
    value: Any
    lines: tuple[str, ...] = ()
