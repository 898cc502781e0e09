"""AUE: the published variance corrected, the limit of its claim, and no local guarantee."""

from math import log

import numpy as np
import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.appended_unary import aue
from sottovoce.lab.seeded import SeededRng

CENSUS = PublishedTarget(0.2, 602_325, 1e-9)


def test_the_variance_is_the_published_one_over_n():
    oracle = aue(CENSUS, 915)
    spared = 200 * log(4e9) / (0.2**2 * 602_325)
    assert oracle.chance == pytest.approx(1 - spared)
    variance = oracle.variances(np.zeros(915), ShuffledBatch(602_325))[0]
    assert variance == pytest.approx(spared * (1 - spared) / 602_325, rel=1e-9)
    assert variance == pytest.approx(2.51e-7, rel=0.01)


def test_there_is_no_local_guarantee():
    """What a person sends twice is the person's value: one message list tells it for certain."""
    oracle = aue(CENSUS, 6)
    assert oracle.claim.local is None
    rng = SeededRng(4)
    revealed = 0
    for _ in range(400):
        counts = oracle.supports(oracle.messages(np.array([2]), rng))
        assert (np.flatnonzero(counts == 2) == 2).all()
        revealed += bool(counts[2] == 2)
    expected = 400 * oracle.chance
    assert abs(revealed - expected) < 5 * (expected * (1 - oracle.chance)) ** 0.5


@pytest.mark.parametrize(("central", "allowed"), [(0.121, False), (0.122, True)])
def test_too_few_coins_are_refused(central, allowed):
    """central^2 n >= 400 ln(4/delta): for the census, from 0.1212 on."""
    target = PublishedTarget(central, 602_325, 1e-9)
    if allowed:
        assert aue(target, 915).chance >= 0.5
    else:
        with pytest.raises(ParameterError, match="`chance` must be at least"):
            aue(target, 915)
