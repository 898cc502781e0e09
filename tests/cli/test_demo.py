"""``sottovoce demo``."""

import json

from sottovoce import codec


def test_the_summary_is_json_and_the_intervals_cover_the_truth(run, tmp_path):
    """156 intervals at 95 %: at least 134 cover, five standard deviations below the mean."""
    result = run("demo", "--people", 20_000, "--seed", 7, "--out", tmp_path, "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["intervals"] == 156
    assert summary["covered"] >= 134, summary["covered"]
    assert summary["devices"]["count"] == 200
    assert sum(summary["devices"]["users"].values()) == 200
    assert len(bytes.fromhex(summary["example_message"])) == summary["message_bytes"] == 44 + summary["report_bytes"]


def test_it_writes_a_figure_an_answer_and_a_task(run, tmp_path):
    result = run("demo", "--people", 5_000, "--epsilon", 2, "--out", tmp_path / "here")
    assert result.exit_code == 0
    assert (tmp_path / "here" / "survey.png").read_bytes().startswith(b"\x89PNG")
    assert set(json.loads((tmp_path / "here" / "answer.json").read_text())["answers"]) >= {"browser", "age"}
    task = codec.task(codec.parse((tmp_path / "here" / "task.json").read_text()))
    assert (task.name, task.epsilon) == ("survey", 2.0)


def test_it_tells_truth_beside_estimate_and_what_a_report_reveals(run, tmp_path):
    text = run("demo", "--people", 5_000, "--seed", 1, "--out", tmp_path).stdout
    for words in ("truth", "estimate", "95 % interval", "Chrome", "contain the truth", "One report:", "2.72 times"):
        assert words in text


def test_a_demonstration_needs_people(run, tmp_path):
    assert run("demo", "--people", 0, "--out", tmp_path).exit_code == 2
