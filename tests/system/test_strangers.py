"""Strangers hold connections and analysts block, and every upload is accepted all the same."""

import pytest

from system.strangers import Comparison, Phase, Size, measure

DEADLINES = {"header_seconds": 0.5, "body_seconds": 0.5}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    size = Size(connections=100, people=2_000, seconds=2.0, options=DEADLINES)
    return measure(tmp_path_factory.mktemp("strangers") / "data", size)


def test_every_upload_is_accepted_and_every_query_answered(comparison):
    assert comparison.findings == []
    assert comparison.queries
    for phase in (*comparison.alone, *comparison.among):
        assert len(phase.latencies) == 400
        assert phase.refused == 0


def test_slow_connections_are_closed_so_that_strangers_open_them_again_and_again(comparison):
    assert comparison.opened > 2 * comparison.size.connections


def test_the_ratio_compares_neighbouring_phases():
    slow, fast = Phase([2.0] * 10), Phase([1.0] * 10)
    comparison = Comparison(Size(1, 1, 1.0), alone=[fast, slow, fast], among=[slow, slow, slow])
    assert comparison.ratio() == 2.0
