"""The benchmarks run end to end, and both sides of a race do the same job."""

import json
import shutil

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.kernels.olh import support_counts
from sottovoce.lab import browser
from sottovoce.lab.bench import (
    TOPICS,
    affine,
    collecting,
    discovery,
    integrity,
    javascript,
    marginals,
    olh,
    queries,
    run,
)
from sottovoce.lab.bench.growth import exponent
from sottovoce.lab.bench.privatizing import draw_blocks
from sottovoce.lab.bench.report import page
from sottovoce.lab.bench.row import BenchmarkRow, Goal
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE

FIELDS = {"topic", "name", "figure", "unit", "against", "ratio", "goal", "met"}
TINY = 1e-4
LONG_TOPICS = ("collecting", "discovery", "shuffling")


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Measure everything once: what is tested is that a topic runs, and not how fast."""
    monkeypatch.setattr(collecting, "TURNS", 1)
    for topic in (discovery, integrity, marginals, queries):
        monkeypatch.setattr(topic, "REPEATS", 1)


@pytest.mark.parametrize(
    "topic",
    [
        pytest.param(topic, marks=pytest.mark.papers) if topic in LONG_TOPICS else topic
        for topic in TOPICS
        if topic not in ("spark", "starting")  # which start a cluster, and compile every kernel
    ],
)
def test_a_topic_runs_and_its_rows_have_the_documented_fields(topic, capsys):
    rows = run(topic, json=True, scale=TINY)
    assert json.loads(capsys.readouterr().out) == rows
    assert rows
    for row in rows:
        assert set(row) == FIELDS
        assert row["topic"] == topic
        assert np.isfinite(row["figure"])
        assert (row["goal"] == "") == (row["met"] is None)
    assert len({row["name"] for row in rows}) == len(rows)


def test_javascript_is_measured_where_it_is_installed():
    """At this size the clock of a browser may not move; Node's does."""
    cases = [
        javascript.SpeedCase(GRR(1.0, 16), 64),
        javascript.SpeedCase(AffinePrefix(1.0, 1 << 160), 64),
    ]
    measured = javascript.microseconds(cases)
    assert ("Node" in measured) == (shutil.which("node") is not None)
    assert ("Chromium" in measured) == (browser.find() is not None)
    assert all(len(times) == len(cases) and min(times) >= 0 for times in measured.values())
    assert min(measured.get("Node", [1.0])) > 0


def test_tables_go_to_standard_output_and_progress_to_standard_error(capsys):
    row = run("unary", scale=TINY)[0]
    shown = capsys.readouterr()
    assert "goals" in shown.out
    assert "plain read" in shown.out
    assert row["name"] in shown.err


def test_a_page_has_growth_first_then_every_topic_and_says_what_was_missed(tmp_path):
    rows = [
        BenchmarkRow("one", "grown", 1.02, "exponent", goal=Goal("figure", "<=", 1.1)),
        BenchmarkRow("one", "slow", 3.0, "s", "bare", 4.0, Goal("ratio", "<=", 2)),
        BenchmarkRow("two", "plain", 12.0, "bytes a report"),
    ]
    text = page(rows)
    assert "Topics: one, two.  2 goals, 1 missed." in text
    assert text.index("Growth and memory") < text.index("## One")
    assert "| slow | 3 s | bare | 4 | ratio <= 2 | no |" in text
    assert "## Two" not in text
    run("unary", scale=TINY, write=tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text().startswith("# Speed")


def test_several_topics_are_run_in_their_own_order(capsys):
    rows = run(("unary", "olh"), json=True, scale=TINY)
    assert list(dict.fromkeys(row["topic"] for row in rows)) == ["olh", "unary"]
    assert json.loads(capsys.readouterr().out) == rows


@pytest.mark.parametrize("only", ["sorting", ("affine", "sorting")])
def test_an_unknown_topic_is_refused(only):
    with pytest.raises(ParameterError, match="affine"):
        run(only)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize("bits", [5, 10])
def test_the_bare_scatter_decodes_what_the_kernel_decodes(bits, rank):
    job = affine.Job.drawn(3000, bits, rank)
    bare = affine.bare(job.increments(), bits) + len(
        job.seeds
    )  # the empty subset adds the users everywhere
    np.testing.assert_array_equal(bare >> rank, job.decode())
    np.testing.assert_array_equal(job.decode(2), job.decode())
    np.testing.assert_array_equal(np.sort(job.whole()), np.sort(job.decode()))


@pytest.mark.parametrize("buckets", [2, 3, 4, 56])
@pytest.mark.parametrize("users", [1, 63, 64, 1000])
def test_the_twin_counts_what_the_kernel_counts(users, buckets):
    given = olh.drawn(users, 100, buckets)
    np.testing.assert_array_equal(olh.twin(*given, buckets), support_counts(*given, buckets))


def test_the_drawing_side_takes_as_many_words_as_the_mechanism():
    oue, reference, drawing = OUE(1.0, 1024), SeededRng(5), SeededRng(5)
    oue.privatize(np.zeros(2500, np.int64), reference)
    draw_blocks(oue, 2500, drawing)
    assert drawing.longs(1) == reference.longs(1)


def test_goals_bound_the_figure_or_the_ratio():
    assert BenchmarkRow("t", "n", 3.0, "ns", "x", 1.5, Goal("ratio", "<=", 2.0)).met
    assert not BenchmarkRow("t", "n", 3.0, "ns", "x", 1.5, Goal("figure", "<", 3.0)).met
    assert BenchmarkRow("t", "n", 3.0, "ns", goal=Goal("figure", ">=", 3.0)).met
    assert BenchmarkRow("t", "n", 3.0, "ns").met is None


def test_the_exponent_of_a_square_is_two():
    assert exponent([1, 2, 4, 8], [5.0, 20.0, 80.0, 320.0]) == pytest.approx(2)
