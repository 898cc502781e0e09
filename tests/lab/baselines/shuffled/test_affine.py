"""Shuffled affine response: its fakes are draws from its blanket."""

import numpy as np

from sottovoce.lab.baselines.shuffled.affine import ShuffledAffine
from sottovoce.lab.baselines.shuffled.base import PublishedClaim
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse

ORACLE = ShuffledAffine(AffineResponse(3.0, 50, 8), PublishedClaim(1.0, 1e-9, 3.0))


def test_a_fake_supports_every_value_with_the_chance_of_a_bucket():
    count = 40_000
    supports = ORACLE.supports(ORACLE.fakes(count, SeededRng(3)))
    deviations = (supports - count / 8) / np.sqrt(count * 7 / 64)
    print("largest deviation", np.abs(deviations).max(), "sigma")
    assert np.abs(deviations).max() < 5


def test_fakes_and_reports_look_alike():
    fakes = ORACLE.fakes(5, SeededRng(1))
    assert fakes.dtype == ORACLE.messages(np.zeros(5, np.int64), SeededRng(1)).dtype
    assert ORACLE.mechanism.unpack(ORACLE.mechanism.pack(fakes)).tolist() == fakes.tolist()
