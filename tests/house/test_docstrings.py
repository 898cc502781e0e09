"""The examples in docstrings show what the code does."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


def modules_with_examples() -> list[str]:
    """Return the names of all modules whose text has an example."""
    files = [file for file in SOURCE.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8")]
    parts = [file.relative_to(SOURCE).with_suffix("").parts for file in sorted(files)]
    return [".".join(part for part in names if part != "__init__") for names in parts]


@pytest.mark.parametrize("name", modules_with_examples())
def test_every_example_is_true(name: str) -> None:
    module = importlib.import_module(name)

    outcome = doctest.testmod(module)

    assert outcome.attempted, "no example of this module is in a docstring"
    assert not outcome.failed
