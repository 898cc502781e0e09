"""The page about searching: its table is computed; the examples run."""

import subprocess
import sys
from pathlib import Path

import pytest
from sottovoce.plans.itemsets.search_advice import advise_values

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "discovery.md").read_text(encoding="utf-8")


def row(epsilon, bits):
    shares = [advise_values(users, bits, epsilon).findable for users in (10**4, 10**5, 10**6, 10**7)]
    return f"| {epsilon:g} | {bits} | " + " | ".join(f"{100 * share:.2g} %" for share in shares) + " |"


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("bits", [48, 96, 160])
def test_the_table_of_findable_shares_is_what_the_formulas_say(epsilon, bits):
    assert row(epsilon, bits) in PAGE


@pytest.mark.parametrize("name", ["popular_urls", "new_words", "playlist", "census", "shop"])
def test_the_examples_run_and_draw(name, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "20000", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "Drawn to" in done.stdout
    assert picture.stat().st_size > 10_000
