"""The README's code runs and its task file is the one the software writes."""

import json
import re
from pathlib import Path

import sottovoce as sv
from sottovoce.wire import codec

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_front_door_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(block, "README.md", "exec"), scope)
    assert (tmp_path / "browser.png").stat().st_size > 5_000
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
    (text,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    content = codec.parse(text)
    task = sv.Task("browser", sv.Histogram(["chrome", "firefox", "safari", "other"]), epsilon=1.0)
    assert content == codec.document(task) == json.loads(codec.canonical(content))
    assert codec.task(content) == task
