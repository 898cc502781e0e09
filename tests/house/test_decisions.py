"""Every decision says what it was about, what was measured, what was decided and what it costs."""

import re
from pathlib import Path

import pytest

DECISIONS = sorted((Path(__file__).parents[2] / "docs" / "decisions").glob("[0-9]*.md"))
PARTS = ("context", "options", "measured", "decision", "price")


def parts_of(text):
    """Return the headings, and what begins paragraphs in bold, in small letters."""
    found = re.findall(r"^#+ (.+)$|^\*\*(.+?)\*\*", text, re.MULTILINE)
    return [(heading or bold).lower() for heading, bold in found]


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_all_parts(path):
    headings = parts_of(path.read_text(encoding="utf-8"))[1:]
    missing = [part for part in PARTS if not any(part in heading for heading in headings)]
    assert not missing


def test_a_decision_without_a_price_is_noticed():
    text = "# 1. Name\n\n## Context\n\n**Options.** Two.\n\n## What was measured\n\n## Decision\n"
    assert not any("price" in heading for heading in parts_of(text))
    assert any("options" in heading for heading in parts_of(text))
