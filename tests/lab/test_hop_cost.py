"""The cost of a hop; the benchmark ``shuffling`` and scripts/shuffle_chain.py measure it."""

import pytest

from sottovoce.lab.hop_cost import HopCost


def test_the_ratio_compares_with_opening_every_message_once():
    cost = HopCost(messages=1000, cpu_seconds=0.6, bare_seconds=0.2, peak_bytes=1 << 20)
    assert cost.ratio == pytest.approx(3.0)
