"""The first pages: the README prints what it shows, the tour and the guide run as printed."""

import json
import re
from pathlib import Path

import sottovoce as sv
from sottovoce.wire import codec

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_readme_prints_what_it_shows_however_often(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = python_blocks(README)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    for _ in range(2):
        exec(compile(block, "README.md", "exec"), {})
        printed = capsys.readouterr().out.rstrip().splitlines()
        assert "\n".join(line.rstrip() for line in printed) == shown.rstrip()
    assert (tmp_path / "browser.png").stat().st_size > 5_000


def test_the_readme_fits_on_few_screens():
    assert len(README.splitlines()) < 100


def test_the_tour_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in python_blocks(TOUR):
        exec(compile(block, "tour.md", "exec"), scope)
    assert scope["answer"].estimate.users == 10_000
    assert "chrome" in capsys.readouterr().out


def test_the_guide_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, "guide.md", "exec"), scope)
    assert len(blocks) == 8
    assert (tmp_path / "hours.png").exists()
    assert scope["published"].estimate.totals.min() >= 0


def test_the_sample_task_is_canonical_but_for_white_space():
    (text,) = re.findall(r"```json\n(.*?)```", TOUR, re.DOTALL)
    content = codec.parse(text)
    task = sv.Task("browser", sv.Histogram(["chrome", "firefox", "safari", "other"]), epsilon=1.0)
    assert content == codec.document(task) == json.loads(codec.canonical(content))
    assert codec.task(content) == task
