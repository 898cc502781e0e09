"""``sottovoce lab``: list, run, all."""

import json

import pytest

from sottovoce.cli import lab
from sottovoce.lab.experiments.base import experiments
from sottovoce.lab.experiments.catalogue import PAPERS


@pytest.fixture
def cache(tmp_path):
    return str(tmp_path / "cache")


def test_all_experiments_are_listed(run, cache):
    listed = json.loads(run("lab", "list", "--cache", cache, "--json").stdout)["experiments"]
    assert [row["name"] for row in listed] == list(experiments())
    assert all(row["kept"] == [] for row in listed)
    text = run("lab", "list", "--cache", cache).stdout
    assert "wang-3-1" in text


def test_a_run_prints_our_numbers_beside_the_published_ones(run, cache, tmp_path):
    picture = tmp_path / "figure.png"
    text = run("lab", "run", "wang-5-1", "--cache", cache, "--plot", str(picture)).stdout
    assert "5.595" in text
    assert "5.59" in text
    assert "verdict: reproduced" in text
    assert picture.stat().st_size > 5_000
    listed = json.loads(run("lab", "list", "--cache", cache, "--json").stdout)["experiments"]
    assert {row["name"]: row["kept"] for row in listed}["wang-5-1"] == ["quick"]


def test_claims_are_printed(run, cache):
    text = run("lab", "run", "wang-7-10", "--cache", cache).stdout
    assert "fails: SC is better than HIO for all types but 2+1" in text
    assert "verdict: differs, because" in text


def test_json_has_rows_claims_and_verdict(run, cache):
    document = json.loads(run("lab", "run", "wang-5-5", "--cache", cache, "--json").stdout)
    assert document["reproduces"] == ["wang-table-5.2", "wang-figure-5.5"]
    assert len(document["rows"]) == 60
    assert document["claims"][0]["holds"]


def test_an_unknown_experiment_is_refused(run, cache):
    done = run("lab", "run", "wang-5-l", "--cache", cache)
    assert done.exit_code == 2
    assert "unknown experiment 'wang-5-l'" in done.stderr


def test_the_full_size_ends_with_its_time(run, cache, monkeypatch):
    monkeypatch.setattr(lab, "experiment_names", lambda: ["wang-5-1", "wang-5-5"])
    told = json.loads(
        run("lab", "all", "--full-minutes", "1e-12", "--cache", cache, "--json").stdout
    )
    assert [each["size"] for each in told["experiments"]] == ["quick", "quick"]


def test_all_writes_the_gallery(run, cache, tmp_path, monkeypatch):
    """With two experiments instead of all, and with pages of evidence that are not computed."""
    written = []
    monkeypatch.setattr(lab, "experiment_names", lambda: ["wang-5-1", "wang-5-5"])
    monkeypatch.setattr("sottovoce.lab.experiments.gallery.catalogue", lambda: ())
    page = "sottovoce.lab.experiments.evidence_pages.EvidencePage.write"
    monkeypatch.setattr(page, lambda self, folder: written.append((self.name, folder.name)))
    done = run("lab", "all", "--docs", str(tmp_path), "--cache", cache)
    assert "wang-5-1" in done.stdout
    assert PAPERS["wang"] in (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert (tmp_path / "images" / "gallery" / "wang-5-5.png").exists()
    assert not written
    run("lab", "all", "--full-minutes", "1", "--docs", str(tmp_path), "--cache", cache)
    assert "2 at the size of the paper" in (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert not written
    run("lab", "all", "--size", "full", "--docs", str(tmp_path), "--cache", cache)
    assert ("numbers", "evidence") in written
