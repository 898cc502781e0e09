"""The page about blind tokens: its task file is read, and its figures are those of the code."""

import re
from pathlib import Path

import pytest

from sottovoce.collector import taskfile
from sottovoce.lab.bench import TOPICS
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.olh import OLH
from sottovoce.wire.tokens import TOKEN_BYTES

PAGE = (Path(__file__).parents[2] / "docs" / "blind-tokens.md").read_text(encoding="utf-8")


def test_the_task_file_on_the_page_states_the_defence():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    task = taskfile.read(re.sub(r'issuer = "[^"]*"', f'issuer = "{"A" * 456}"', text), toml=True)
    assert task.collection.fixes_seeds
    assert task.opening.ask.mechanism.has_seed


def row(beginning):
    """The figures of the row of a table that begins like this."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {beginning}")]
    return [float(cell) for cell in line.strip("| ").split(" | ")[1:]]


def test_the_numbers_of_supported_values_are_those_of_the_code():
    mechanisms = [AffineResponse(1.0, 1024), OLH(1.0, 1024)]
    assert row("at the most") == [min(10, each.max_supported) for each in mechanisms]
    dealt = [each.mean_supported(10) for each in mechanisms]
    assert row("on average, if the token deals") == pytest.approx(dealt, abs=0.05)
    certain = [1 + 9 * each.overlap for each in mechanisms]
    assert row("on average, if a report always") == pytest.approx(certain, abs=0.051)
    honest = [each.p + 9 * each.q for each in mechanisms]
    assert row("on average, if the sender follows") == pytest.approx(honest, abs=0.05)


def test_lengths_and_commands_exist():
    assert f"grows by {TOKEN_BYTES} bytes" in PAGE
    assert "`sottovoce bench --only tokens`" in PAGE
    assert "tokens" in TOPICS
