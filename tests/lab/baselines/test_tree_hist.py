"""TreeHist: it finds what stands out, divides people or epsilons, and follows only what it kept."""

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.tree_hist import TreeHist
from sottovoce.lab.populations.shuffle_surveys import LongValues

USERS = 10**6
TARGET = PublishedTarget(1.0, USERS, 1e-9)
CODES = np.array([0x1234, 0x12FF, 0xABCD, 0x0001], np.uint64)
POPULATION = LongValues(CODES, np.array([400_000, 300_000, 250_000, 50_000]))


@pytest.mark.parametrize("method", ["SOLH", "RAP", "RAP_R", "AUE"])
def test_values_that_stand_out_are_found_in_order(method):
    tree = TreeHist(method, levels=2, kept=4)
    assert tree.search(POPULATION, TARGET, 1)[:3] == CODES[:3].tolist()


def test_a_prefix_that_is_not_kept_is_lost():
    """Two values share the prefix 0x12; with one prefix kept, the third value cannot be found."""
    found = TreeHist("SOLH", levels=2, kept=1).search(POPULATION, TARGET, 1)
    assert found == [0x1234]


def test_with_a_shuffler_everybody_answers_every_level_with_a_part_of_epsilon():
    tree = TreeHist("SOLH", levels=2)
    levels = [tree.oracle(TARGET, size) for size in (257, (32 << 8) + 1)]
    assert [level.claim.central for level in levels] == [0.5, 0.5]
    assert [level.claim.delta for level in levels] == [5e-10, 5e-10]
    # The first level has too few candidates for the best number of buckets.
    assert levels[0].mechanism.buckets == 257 < levels[1].mechanism.buckets
    spent = sum(level.claim.local for level in levels)
    assert tree.local_epsilon(TARGET) == pytest.approx(spent)


def test_without_a_shuffler_everybody_answers_one_level_with_all_of_it():
    tree = TreeHist("OLH", levels=2)
    assert tree.oracle(TARGET, 257).claim.local == 1.0
    assert tree.local_epsilon(TARGET) == 1.0
    found = tree.search(POPULATION, TARGET, 1)
    assert set(CODES[:3].tolist()) <= set(found)


def test_a_method_without_a_local_guarantee_has_no_local_epsilon():
    assert TreeHist("AUE", levels=2).local_epsilon(TARGET) is None


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match="`method` must be one of SOLH"):
        TreeHist("PEM")
