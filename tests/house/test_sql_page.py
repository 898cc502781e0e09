"""The page about SQL: its code runs as printed and prints what the page shows."""

import contextlib
import io
import re
from pathlib import Path

import sottovoce as sv
from sottovoce.collector import taskfile
from sottovoce.lab.populations.shop import schema

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)


def test_the_code_prints_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope, shown = {}, 0
    for code, text in BLOCKS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "sql.md", "exec"), scope)
        printed = "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())
        assert printed == text.rstrip()
        shown += bool(text)
    assert shown == 7
    assert (tmp_path / "shop.png").stat().st_size > 10_000


def test_the_task_file_is_the_shop_of_the_examples():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    task = taskfile.read(text, toml=True)
    assert task.plan == schema()
    assert isinstance(task.plan, sv.Joint)
