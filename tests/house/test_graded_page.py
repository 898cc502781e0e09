"""The page about graded groups: its code runs and prints what it says, its table is the code's."""

import re
from pathlib import Path

import sottovoce as sv
from sottovoce.plans.numbers.graded_groups import grades

PAGE = (Path(__file__).parents[2] / "docs" / "graded-groups.md").read_text(encoding="utf-8")


def test_the_worked_example_prints_what_its_comments_say(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "graded-groups.md", "exec"), {})
    promised = re.findall(r"^print.*?# (.*)$", block, re.MULTILINE)
    assert len(promised) == 4
    assert capsys.readouterr().out.splitlines() == promised


def test_the_table_of_groups_is_that_of_the_code():
    rows = re.findall(r"^\| (\d+)(?:, the probe)? \| (\d+) \| ([\d/]+) \|$", PAGE, re.MULTILINE)
    listed = [(int(reports), eval(epsilon)) for _, reports, epsilon in rows]
    assert listed == [(grade.reports, grade.epsilon) for grade in grades(2.0)]


def test_the_document_of_the_page_can_be_published():
    assert sv.Task("hours", sv.Distribution(0, 24, defence="graded"), 2.0).opening.slots == 32
