"""The page "Can these reports be honest?": the tests of every sealed round in words."""

from collections.abc import Sequence
from typing import Any

from sottovoce.collector.dashboard import formatting, svg
from sottovoce.collector.published import Published
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.result import Integrity, Suspects
from sottovoce.integrity.words import verdict, words_of

Facts = dict[str, Any]


def shown(published: Published, rounds: Sequence[Integrity]) -> Facts:
    """Return what the page shows, the latest round first."""
    return {
        "rounds": [_round(integrity) for integrity in reversed(rounds)],
        "influence": influence_lines(published),
    }


def banner(rounds: Sequence[Integrity]) -> str:
    """Return what to say above an answer; nothing if no test alarmed."""
    alarming = [integrity for integrity in rounds if integrity.alarm]
    if not alarming:
        return ""
    numbers = ", ".join(str(integrity.round) for integrity in alarming)
    which = "round" if len(alarming) == 1 else "rounds"
    names = {name: None for integrity in alarming for name in integrity.alarms}
    titles = ", ".join(words_of(name).title.lower() for name in names)
    return f"Tests of {which} {numbers} found what honest reports hardly ever do: {titles}."


def influence_lines(published: Published) -> list[str]:
    """Return what one report can do at most, for every mechanism of the latest round."""
    lines: dict[str, None] = {}
    for question in published.asked[published.last.number].ask.representatives():
        influence = question.mechanism.influence
        if influence is None or question.mechanism.randomises_numbers:
            continue
        text = (
            f"One false report can add as much to one value as {influence.up:,.2f} people who hold"
            f" it, or take away as much as {influence.down:,.2f} of them (mechanism"
            f" {question.mechanism.kind})."
        )
        lines[text] = None
    return list(lines)[:4]


def _round(integrity: Integrity) -> Facts:
    rows = [_test(test) for test in integrity.tests]
    return {
        "number": integrity.round,
        "reports": formatting.count(integrity.reports),
        "alarm": integrity.alarm,
        "verdict": verdict(integrity),
        "tests": rows,
        "drawing": svg.thresholds(
            rows, f"Tests of round {integrity.round}", f"tests-{integrity.round}"
        ),
        "suspects": [_suspects(each, number) for number, each in enumerate(integrity.suspects)],
    }


def _test(test: PlausibilityTest) -> Facts:
    words = words_of(test.name)
    return {
        "title": words.title,
        "name": test.name,
        "honest": words.honest,
        "meaning": words.alarm if test.alarm else "",
        "alarm": test.alarm,
        "ratio": _ratio(test),
        "statistic": f"{test.statistic:,.2f}",
        "threshold": f"{test.threshold:,.2f}",
        "p_value": "1" if test.p_value >= 1 else f"{test.p_value:.1g}",
        "text": f"{test.statistic:,.2f}, alarm above {test.threshold:,.2f}",
    }


def _ratio(test: PlausibilityTest) -> float:
    """Return the statistic in parts of the threshold; a threshold of 0 counts as 1."""
    return (test.statistic + (test.threshold == 0) * test.alarm) / (test.threshold or 1.0)


def _suspects(suspects: Suspects, number: int) -> Facts:
    drawing = ""
    if len(suspects.values) > 1 and any(any(row) for row in suspects.scores):
        title = "How much more often than expected two values are supported together"
        drawing = svg.heat(suspects.values, suspects.scores, (), title, f"suspects-{number}")
    return {
        "test": words_of(suspects.test).title,
        "values": suspects.values,
        "drawing": drawing,
    }
