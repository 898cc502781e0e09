"""Results of experiments are kept, and computed again when the code behind them changes."""

import json

import pytest

from sottovoce.lab.experiments import results as module
from sottovoce.lab.experiments.base import FigureRow, experiment
from sottovoce.lab.experiments.results import Results, save_plot, source_digest


def silent(share):
    """Nobody watches."""


class Counting:
    """An experiment that counts how often it runs."""

    def __init__(self):
        self.name = "counting"
        self.runs = 0

    def run(self, size, progress):
        self.runs += 1
        return [FigureRow("runs", "so far", float(self.runs))]


def test_a_result_is_computed_once(tmp_path):
    counting, results = Counting(), Results(tmp_path)
    first = results.get(counting, "quick", silent)
    assert results.holds(counting, "quick")
    assert not results.holds(counting, "full")
    assert results.get(counting, "quick", silent) == first
    assert counting.runs == 1
    results.get(counting, "full", silent)
    assert counting.runs == 2


def test_without_a_folder_everything_is_computed_anew():
    counting = Counting()
    for _ in range(2):
        Results().get(counting, "quick", silent)
    assert counting.runs == 2
    assert not Results().holds(counting, "quick")


def test_another_source_is_another_result(tmp_path, monkeypatch):
    counting, results = Counting(), Results(tmp_path)
    results.get(counting, "quick", silent)
    monkeypatch.setattr(module, "source_digest", lambda name: "other")
    results.get(counting, "quick", silent)
    assert counting.runs == 2


def test_the_digest_reaches_what_a_module_imports():
    names = [f"sottovoce.{name}" for name in ("mechanisms.grr", "mechanisms.olh", "errors")]
    assert len({source_digest(name) for name in names}) == 3
    assert source_digest(names[0]) == source_digest(names[0])
    deep = "sottovoce.lab.experiments.figures.wang_chapter3"
    assert "sottovoce.core.noise" in module.reached_modules(deep)
    assert "sottovoce.collector.app" not in module.reached_modules(deep)


def test_a_result_is_plain_data_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    result = Results().get(experiment("wang-5-1"), "quick", silent)
    document = json.loads(json.dumps(result.as_plain_data()))
    assert document["verdict"] == "reproduced"
    assert document["rows"][0] == {
        "series": "0.1",
        "x": 2,
        "ours": pytest.approx(0.191, abs=1e-3),
        "published": 0.19,
    }
    save_plot(result, tmp_path / "figure.png")
    assert 5_000 < (tmp_path / "figure.png").stat().st_size < 60_000
