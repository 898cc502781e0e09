"""What the later rounds of a task may be: part of its document where there is more than one round.

A device answers the opening round as the document states it.  A later round is made from what was
collected, so the document cannot state it whole.  It states how many rounds there are, how wide
their reports are, and by which kinds of mechanisms and encodings they ask.  A collector that would
ask one device something of its own must stay within these limits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sottovoce.core import bounds, settings
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.tasks.question import Ask
from sottovoce.tasks.round import MAX_ROUNDS, Round


@dataclass(frozen=True)
class RoundLimits:
    """How many rounds a task has, and the widest report and the kinds of the later ones."""

    count: int  # rounds in all, the opening included
    width: int  # bytes of one packed report at the most
    mechanisms: tuple[str, ...]
    encodings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        settings.whole("count", self.count, 2, MAX_ROUNDS)
        settings.whole("width", self.width, 1, bounds.MAX_MESSAGE_BYTES)
        settings.entries("mechanisms", self.mechanisms, 1)
        _check_kinds("mechanisms", self.mechanisms)
        _check_kinds("encodings", self.encodings)

    @classmethod
    def of(cls, count: int, asks: Iterable[Ask]) -> "RoundLimits":
        """Return the limits of so many rounds that ask like some that stand for all of them."""
        listed = list(asks)
        questions = [question for ask in listed for question in ask.representatives()]
        return cls(
            count=count,
            width=max(ask.width for ask in listed),
            mechanisms=_sorted_kinds(question.mechanism for question in questions),
            encodings=_sorted_kinds(question.encoding for question in questions),
        )

    def check(self, asked: Round) -> None:
        """Refuse a later round that lies outside of the limits."""
        if asked.number >= self.count:
            raise MismatchError(
                f"the task states {self.count} rounds, and there is no round {asked.number} in it"
            )
        if asked.width > self.width:
            raise MismatchError(
                f"the task states reports of at most {self.width} bytes in later rounds,"
                f" and this round asks for {asked.width}"
            )
        for question in asked.ask.representatives():
            if question.mechanism.kind not in self.mechanisms:
                raise MismatchError("this round randomises by a mechanism that the task lacks")
            if question.encoding and question.encoding.kind not in self.encodings:
                raise MismatchError("this round uses an encoding that the task lacks")


def _check_kinds(name: str, kinds: tuple[str, ...]) -> None:
    settings.texts(name, kinds)
    if sorted(set(kinds)) != list(kinds):
        raise ParameterError(f"`{name}` must be sorted and differ")


def _sorted_kinds(nouns: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted({noun.kind for noun in nouns if noun is not None}))
