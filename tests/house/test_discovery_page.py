"""The page about searching: its table is computed; the examples run."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.plans.heavy_hitters.advice import advise_values

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "discovery.md").read_text(encoding="utf-8")


def row(epsilon, bits):
    shares = [
        advise_values(users, bits, epsilon).findable for users in (10**4, 10**5, 10**6, 10**7)
    ]
    return (
        f"| {epsilon:g} | {bits} | " + " | ".join(f"{100 * share:.2g} %" for share in shares) + " |"
    )


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("bits", [48, 96, 160])
def test_the_table_of_findable_shares_is_what_the_formulas_say(epsilon, bits):
    assert row(epsilon, bits) in PAGE


# A search for words by too few people ends with thousands of words that nobody typed, and draws
# them all.
PEOPLE = {
    "popular_urls": 20_000,
    "new_words": 100_000,
    "playlist": 20_000,
    "census": 20_000,
    "shop": 20_000,
    "working_hours": 4_000,
    "poisoned_charts": 4_000,
}


def test_all_examples_are_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PEOPLE)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_examples_run_and_draw(name, tmp_path, monkeypatch, capsys):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(PEOPLE[name]), str(picture)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert "Drawn to" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000


def test_an_example_runs_from_the_command_line(tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, str(EXAMPLES / "playlist.py"), "5000", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Drawn to" in done.stdout
    assert picture.stat().st_size > 10_000
