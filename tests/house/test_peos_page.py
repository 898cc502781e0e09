"""The page about PEOS: its code runs and prints what it says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "peos.md").read_text(encoding="utf-8")


def test_the_configuration_on_the_page_is_what_is_found(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    promised = re.findall(r"^# (.*)$", block, re.MULTILINE)
    exec(compile(block, "peos.md", "exec"), {})
    assert len(promised) == 2
    assert capsys.readouterr().out.splitlines() == promised


def test_the_page_says_that_this_is_research():
    assert "Research cryptography, not for production" in PAGE
