"""The pages about searches, joint tables and poisoning: every block of Python on them runs as it
is printed.
"""

import re
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.collector import taskfile

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page, language):
    return re.findall(
        rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL
    )


def ran(page, folder, monkeypatch):
    """Run the blocks of a page one after another, and return what they define."""
    monkeypatch.chdir(folder)
    scope = {}
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), scope)
    return scope


def test_the_page_about_searches_runs(tmp_path, monkeypatch, capsys):
    assert len(blocks("discovery.md", "python")) == 4
    scope = ran("discovery.md", tmp_path, monkeypatch)
    assert len(scope["answer"].labels) == len(scope["songs"].labels) == 10
    assert "AdaptiveTopItems" in capsys.readouterr().out


def test_the_page_about_joint_tables_runs(tmp_path, monkeypatch, capsys):
    assert len(blocks("marginals.md", "python")) == 3
    scope = ran("marginals.md", tmp_path, monkeypatch)
    assert scope["answer"].dependence("age", "work").rejects()
    said = capsys.readouterr().out
    assert "university & high" in said
    assert "Advice for 65,536 users, 16 attributes" in said


def test_the_page_about_poisoning_runs(tmp_path, monkeypatch, capsys):
    assert len(blocks("poisoning.md", "python")) == 3
    scope = ran("poisoning.md", tmp_path, monkeypatch)
    rows = {row["value"]: row for row in scope["outcome"].at(0.95, fakes=0.05).rows()}
    assert not rows["lynx"]["low"] <= 0 <= rows["lynx"]["high"]
    assert rows["lynx"]["low_attacked"] <= 0 <= rows["lynx"]["high_attacked"]
    promoted = {str(age) for age in scope["ages"]}
    before, after = (
        sum(row["estimate"] for row in scope[name]["age"].rows() if row["value"] in promoted)
        for name in ("before", "after")
    )
    said = capsys.readouterr().out
    print(f"promoted ages: {before:.0f} before, {after:.0f} after")
    assert after < 0.2 * before
    assert "if up to 5 % of the reports were false" in said
    (printed,) = blocks("poisoning.md", "text")
    assert said.endswith(printed)


@pytest.mark.parametrize(
    ("page", "plan"), [("discovery.md", sv.HeavyHitters), ("marginals.md", sv.Marginals)]
)
def test_the_task_files_on_these_pages_are_task_files(page, plan):
    (text,) = blocks(page, "toml")
    assert type(taskfile.read(text, toml=True).plan) is plan
