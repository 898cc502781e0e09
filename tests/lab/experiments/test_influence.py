"""The page of influence: it prints what mechanisms state, and coverage that a seed repeats."""

from pathlib import Path

from sottovoce.lab.experiments import influence
from sottovoce.mechanisms.affine import AffineResponse

PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "influence.md"


def test_the_page_holds_what_the_mechanisms_state():
    text = PAGE.read_text(encoding="utf-8")
    assert influence.influence_of("affine", 1.0) == AffineResponse(1.0, 1024).influence
    for kind in (*influence.COUNTS, *influence.NUMBERS):
        stated = influence.influence_of(kind, 1.0)
        up = f"{stated.up:,.0f}" if stated.up >= 100 else f"{stated.up:.2f}"
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `{kind}` | ")][:1]
        assert f"| {up} / {stated.down:.2f} |" in line


def test_coverage_is_repeatable_and_better_than_without_allowance():
    found = influence.coverage("oue", "promote", runs=20)
    assert found == influence.coverage("oue", "promote", runs=20)
    assert found.attacked > found.ordinary
