"""The statement of integrity of a task: what one false report can do, for those who publish it.

It follows from the document of the task alone, before anybody is asked.  The sentences stand in
``integrity_texts.json``.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.core.influence import CellInfluences, Influence
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.moved_number import MovedNumber
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Ask, Question

_TABLE = Path(__file__).with_name("integrity_texts.json")
TEXTS: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))

CHOSEN = 10  # values that a forger wants to promote together, where their number matters

# The sentence about the numbers of each kind, in the order in which they are told.
_MOVED = {"count": "tables_count", "sum": "tables_sum", "join": "tables_join"}

Facts = dict[str, Any]


def influence(ask: Ask, collection: Collection | None) -> Facts | None:
    """Return the influence of one false report on the count of one value; None if unknown.

    ``numbers`` says that it is the influence on a sum of numbers, on the scale of [-1, 1].  A
    report about one of several questions stands for everybody; where tokens deal the
    questions, ``up`` and ``down`` are averages over them.  They are bounds for every single report,
    whoever chose its hash seed: under any seed a report can support one given value, or not.  What
    a chosen seed changes is how many values it supports together, and so ``seeds`` says that.
    """
    questions = list(ask.representatives())
    stated = [_influence_of(question) for question in questions]
    influences = [each for each in stated if each is not None]
    if len(influences) < len(stated):
        return None
    dealt = collection is not None and collection.needs_token
    people = 1.0 if dealt else ask.most_people
    largest = CellInfluences.listed(influences).largest
    return {
        "up": people * largest.up,
        "down": people * largest.down,
        "stands_for": people,
        "dealt": dealt,
        "numbers": all(question.mechanism.randomises_numbers for question in questions),
        "seeds": _seed_facts(questions, collection),
    }


def _seed_facts(questions: Sequence[Question], collection: Collection | None) -> Facts | None:
    """Return how many of some chosen values one false report supports together.

    With ``fixed`` seeds it is the mean over them, otherwise what the best seed allows.  None if
    reports carry no seed.
    """
    seeded = [question.mechanism.pure() for question in questions if question.mechanism.has_seed]
    if not seeded:
        return None
    chosen = min(CHOSEN, *(mechanism.size for mechanism in seeded))
    fixed = collection is not None and collection.fixes_seeds
    if fixed:
        supported = max(mechanism.mean_supported(chosen) for mechanism in seeded)
    else:
        supported = float(max(min(chosen, mechanism.max_supported) for mechanism in seeded))
    return {"fixed": fixed, "chosen": chosen, "supported": supported}


def _influence_of(question: Question) -> Influence | None:
    single = question.mechanism.influence
    if single is None or question.encoding is None:
        return single
    return single.times(question.encoding.reports_per_value)


def sentences(notice: Notice, moved: Sequence[MovedNumber] = ()) -> list[str]:
    """Return what an operator should know about false reports, in plain words.

    ``moved`` are the numbers that the plan of the task states.  If there are any, the influence on
    the counts of one question is not told: the counts of the answer are made of several.
    """
    facts = influence(notice.opening.ask, notice.collection)
    listed = _moved_sentences(moved) or [_size_sentence(facts)]
    if facts is not None and notice.opening.ask.has_coin:
        listed.append(_sentence("dealt" if facts["dealt"] else "chosen"))
    listed += _seed_sentences(facts, notice)
    needs_token = notice.collection is not None and notice.collection.needs_token
    return [*listed, _sentence("tokens" if needs_token else "open")]


def _moved_sentences(moved: Sequence[MovedNumber]) -> list[str]:
    """Return what a forger can do to the numbers of a plan: the worst of every kind."""
    if not moved:
        return []
    listed = []
    for kind, name in _MOVED.items():
        worst = max(
            (number for number in moved if number.kind == kind),
            key=lambda number: number.times_honest,
            default=None,
        )
        if worst is not None:
            listed.append(_sentence(name, **_entries(worst)))
    return [*listed, _sentence("tables_query")]


def _entries(number: MovedNumber) -> dict[str, str]:
    """Return what the sentence about a number is filled with."""
    return {
        "number": number.name,
        "up": _rounded(number.influence.up),
        "down": _rounded(number.influence.down),
        "times": _rounded(number.times_honest),
        "low": f"{number.low:,.12g}",
        "high": f"{number.high:,.12g}",
    }


def _rounded(number: float) -> str:
    """Return a number with three digits that count, written out.

    >>> _rounded(41691.98), _rounded(0.26926)
    ('41,700', '0.269')
    """
    return f"{float(f'{number:.3g}'):,.12g}"


def _seed_sentences(facts: Facts | None, notice: Notice) -> list[str]:
    """Return what a forger gains by choosing the hash, or cannot gain."""
    if facts is None:
        return []
    seeds = facts["seeds"]
    if seeds is None:
        return [_sentence("no_seeds")] if notice.fixes_seeds else []
    name = "fixed_seeds" if seeds["fixed"] else "free_seeds"
    supported = f"{seeds['supported']:,.3g}"
    return [_sentence(name, chosen=f"{seeds['chosen']:,}", supported=supported)]


def _size_sentence(facts: Facts | None) -> str:
    if facts is None:
        return _sentence("unknown")
    kind = "number" if facts["numbers"] else "count"
    return _sentence(kind, up=f"{facts['up']:,.3g}", down=f"{facts['down']:,.3g}")


def _sentence(name: str, **entries: str) -> str:
    text: str = TEXTS["sentences"][name]
    return text.format(**entries)
