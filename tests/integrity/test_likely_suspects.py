"""Likely suspects: a guess that misses targets and takes in others is put right."""

import numpy as np
import pytest

from integrity.collections import collection
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.likely_suspects import likeliest


def candidates_of(found):
    votes = found.mechanism.estimate(found.mechanism.tally(found.reports)).votes
    return gather(found.mechanism, found.reports, largest(votes))


@pytest.mark.parametrize(("missed", "added"), [(0, 0), (3, 0), (0, 4), (2, 2)])
def test_wrong_guesses_are_put_right(missed, added):
    found = collection("1")
    candidates = candidates_of(found)
    targets = found.targets[candidates.values]
    guess = targets.copy()
    guess[np.flatnonzero(targets)[:missed]] = False
    guess[np.flatnonzero(~targets)[-added or len(targets) :]] = True
    suspected = likeliest(candidates, [guess])
    np.testing.assert_array_equal(suspected.suspects, targets)
    assert 0 in suspected.together


def test_the_likeliest_of_several_guesses_is_taken():
    found = collection("1")
    candidates = candidates_of(found)
    targets = found.targets[candidates.values]
    others = np.roll(~targets, 1) & ~targets
    suspected = likeliest(candidates, [others, targets])
    np.testing.assert_array_equal(suspected.suspects, targets)


def test_how_many_values_a_false_report_promotes_is_told():
    """Reports that promote two of eight values each: that all of them do is not plausible."""
    found = collection("30", each=2, share=0.2)
    candidates = candidates_of(found)
    suspected = likeliest(candidates, [found.targets[candidates.values]])
    print(suspected.together)
    assert 2 in suspected.together
    assert 0 not in suspected.together
