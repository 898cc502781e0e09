"""What a defence does about alarms."""

import numpy as np

from integrity.collections import collection
from sottovoce.integrity import examine
from sottovoce.integrity.defence import seed_filter, suspected


def found_in(collected):
    return examine.tested(collected.task.plan, collected, 0)


def test_there_is_no_filter_without_an_alarm_of_the_seeds():
    for name in ("none", "1"):
        collected = collection(name).collected
        assert seed_filter(collected, 0, found_in(collected)) is None


def test_the_filter_says_what_it_did():
    collected = collection("1000").collected
    filtered = seed_filter(collected, 0, found_in(collected))
    (kept,) = filtered.kept.values()
    assert filtered.step == f"seed filter: {np.count_nonzero(~kept):,} reports left out"


def test_suspects_stay_suspects_after_the_filter():
    found = collection("1000")
    suspects = suspected(found.collected, found_in(found.collected))
    (here,) = suspects.values()
    targets = set(np.flatnonzero(found.targets).tolist())
    assert targets <= set(here.candidates.values[here.suspects].tolist())
