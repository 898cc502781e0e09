"""The page about the chain at full size: every test that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "shuffle-chain.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def named_tests(text):
    return NAMED.findall(text)


def missing(tests):
    """Return the tests that do not exist."""
    return [
        f"{path}::{name}"
        for path, name in tests
        if not (ROOT / path).exists() or f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]


def test_every_requirement_has_a_test_that_exists():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d{1,2}) \|", text, re.MULTILINE)
    assert set(map(int, rows)) == set(range(1, 13))
    tests = named_tests(text)
    assert len(tests) >= len(rows)
    assert missing(tests) == []


def test_a_test_that_does_not_exist_is_noticed():
    assert missing(named_tests("`tests/house/test_shuffle_chain_page.py::test_nothing`")) != []
