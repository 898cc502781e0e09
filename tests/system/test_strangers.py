"""Strangers hold connections and analysts block, and every upload is accepted all the same."""

import pytest

from system.strangers import Comparison, Phase, Size, measure, ratio

QUERY = "SELECT kind, COUNT(*) FROM people GROUP BY kind"
# Slow connections are closed soon, and queries may take as long as a busy machine makes them.
DEADLINES = {"header_seconds": 0.5, "body_seconds": 0.5, "query_seconds": 600.0}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    size = Size(connections=100, people=500, seconds=1.0, query=QUERY, options=DEADLINES)
    return measure(tmp_path_factory.mktemp("strangers") / "data", size)


def test_every_upload_is_accepted_and_every_query_answered(comparison):
    assert comparison.findings == []
    assert comparison.answered
    for phase in (*comparison.alone, *comparison.among, *comparison.control):
        assert len(phase.latencies) == 200
        assert phase.refused == 0
        assert phase.syncs


def test_slow_connections_are_closed_so_that_strangers_open_them_again_and_again(comparison):
    assert comparison.opened > 2 * comparison.size.connections


def test_the_ratio_pools_phases_and_its_interval_resamples_pairs():
    fast, slow = [1.0] * 100, [3.0] * 100
    same = ratio([fast] * 8, [slow] * 8)
    assert (same.alone, same.among, same.value, same.low, same.high) == (1.0, 3.0, 3.0, 3.0, 3.0)
    # One slow phase of eight decides the pooled percentile; resampling shows how little that says.
    mixed = ratio([fast] * 8, [slow] + [fast] * 7)
    assert (mixed.value, mixed.low, mixed.high) == (3.0, 1.0, 3.0)


def phases(upload, sync):
    return [Phase([upload] * 100, [sync] * 20) for _ in range(8)]


def compared(alone, among, control):
    """A comparison of phases in which each upload and each sync takes this long."""
    return Comparison(QUICK, phases(*alone), phases(*among), phases(*control))


QUICK = Size(connections=1, people=1, seconds=1.0)


@pytest.mark.parametrize(
    ("alone", "among", "control", "over", "growth"),
    [
        ((1.0, 1.0), (1.9, 9.0), (4.0, 9.0), "uploads alone", 1.9),
        ((1.0, 1.0), (3.0, 9.0), (2.0, 9.0), "the control", 1.5),
        ((1.0, 1.0), (6.0, 9.0), (2.0, 9.0), "the control", 3.0),
        # Uploads suffer in the control although the disk does not: that is the collector's own.
        ((1.0, 1.0), (3.0, 1.0), (2.0, 1.0), "uploads alone", 3.0),
        # The disk is slow, and uploads do not mind it: the strangers are what slows them.
        ((1.0, 1.0), (3.0, 9.0), (1.0, 9.0), "uploads alone", 3.0),
    ],
)
def test_the_control_excuses_only_what_a_busy_machine_does(alone, among, control, over, growth):
    judgement = compared(alone, among, control).judged(2.0)
    assert (judgement.over, judgement.growth.value) == (over, growth)
