"""What became of the first recording: bytes on the wire of kinds that stayed are the same.

The script writes the page; these checks replay the rows of messages that are no longer in their
files, and compare the page with the counts.
"""

import importlib
import subprocess
from copy import deepcopy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "recorded-changes.md"
FIRST = "7347ba3"
HAS_HISTORY = (
    subprocess.run(
        ["git", "cat-file", "-e", f"{FIRST}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    ).returncode
    == 0
)
pytestmark = pytest.mark.skipif(not HAS_HISTORY, reason="not a git checkout with its history")


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield importlib.import_module("recorded_changes")


def first_rows(script, name, section):
    return script.at_first(f"tests/golden/{name}.json")[section]


@pytest.mark.parametrize(
    ("name", "section", "removed"),
    [
        ("tables", "messages", 0),
        ("tables", "undeclared", 0),
        ("envelope", "messages", 0),
        ("discovery", "messages", 8),
        ("marginals", "messages", 15),
    ],
)
def test_messages_of_kinds_that_stayed_are_the_same(script, name, section, removed):
    rows = first_rows(script, name, section)
    group = script.golden_group(name, section, rows, script.removed_kinds())
    assert group.errors == []
    assert (group.states["removed"], group.states["changed"]) == (removed, 0)
    counts = [f"{group.states[state]:,}" for state in script.STATES]
    line = f"| {name} {section} | {' | '.join(counts)} |"
    assert line in PAGE.read_text(encoding="utf-8")


def test_a_message_with_another_byte_is_noticed(script):
    for row in first_rows(script, "tables", "messages"):
        broken = deepcopy(row)
        message = broken["answers"][0]["message"]
        broken["answers"][0]["message"] = message[:-1] + ("1" if message[-1] == "0" else "0")
        group = script.golden_group("tables", "messages", [broken], set())
        assert group.states["changed"] == 1


def test_the_page_gives_a_reason_for_every_group_that_changed(script):
    text = PAGE.read_text(encoding="utf-8")
    assert "None changed." in text
    for name, reason in {**script.GOLDEN_REASONS, **script.RECORDER_REASONS}.items():
        if f"- **{name}**" in text:
            assert reason in text
    for group in script.recorded_groups():
        counts = " | ".join(f"{group.states[state]:,}" for state in script.STATES)
        if set(group.states) != {"equal"}:
            assert f"| {group.name} | {counts} |" in text
