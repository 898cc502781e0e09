"""Descriptions of all tests: one table for command line, dashboard and documentation."""

from dataclasses import dataclass

from sottovoce.integrity.result import Integrity


@dataclass(frozen=True)
class Words:
    """The description of a test: its data, the look of honest reports, the meaning of an alarm."""

    title: str
    honest: str
    alarm: str


WORDS = {
    "seed spectrum": Words(
        "Implausible seeds",
        "Devices draw the seed of a report at random, whatever their owner holds.",
        "Seeds that put the same values together come too often: somebody searched for them, or"
        " an app has a broken random number generator.",
    ),
    "seed pairs": Words(
        "Implausible seeds of found values",
        "Random seeds put two given values together at a known rate.",
        "Seeds that put two of the found values together come too often: somebody searched for"
        " them, or an app has a broken random number generator.",
    ),
    "equal seeds": Words(
        "Equal seeds",
        "So many random seeds hardly ever agree.",
        "Seeds come more than once: reports were copied, or an app has a broken random number"
        " generator.",
    ),
    "buckets": Words(
        "Uneven buckets",
        "Every bucket is named equally often, whatever people hold.",
        "One bucket is named too often: reports were not made by our apps, or these have a fault.",
    ),
    "weights": Words(
        "Ones in a report",
        "How many ones a report has follows a known law, whatever people hold.",
        "Reports with some numbers of ones come too often or too rarely: they were made by hand,"
        " or an app has a fault.",
    ),
    "cells": Words(
        "Crowded cells",
        "No part of the scale can get more reports, or fewer, than noise alone makes sure of.",
        "A part of the scale has more reports, or fewer, than any honest population could cause.",
    ),
    "misfit": Words(
        "Unexplained numbers",
        "Whatever numbers people hold, noise smears their reports in a known way.",
        "No honest population explains these reports: some were made by hand, or an app has a"
        " fault.",
    ),
    "coins": Words(
        "Uneven coins",
        "A coin that ignores the number decides how each report is made.",
        "The coins of these reports are not fair: reports were made by hand, or an app has a"
        " fault.",
    ),
    "co-support": Words(
        "Values that stick together",
        "Reports support two values together at a rate that follows from how many hold each.",
        "Some of the most frequent values are supported together too often: reports were made to"
        " promote all of them at once.",
    ),
    "load": Words(
        "Too greedy reports",
        "Honest reports name the bucket of one value; it matters little which others are in it.",
        "Reports name the bucket that holds most of some values too often: they were made to"
        " promote as many of them as possible.",
    ),
}


def words_of(name: str) -> Words:
    """Return the words of a test; a test without an entry has its name as its title."""
    return WORDS.get(name, Words(name.capitalize(), "", "Honest reports hardly ever do this."))


def verdict(integrity: Integrity) -> str:
    """Return the outcome of all tests of a round in one sentence."""
    if not integrity.alarm:
        return "No test found anything that honest reports would not do."
    titles = ", ".join(words_of(name).title.lower() for name in integrity.alarms)
    text = f"Honest reports would hardly ever look like this: {titles}."
    if integrity.share is None:
        return text
    return f"{text} About {100 * integrity.share:.1f} % of the reports seem to be false."
