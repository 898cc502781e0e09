"""The script that writes the page on attacks: every case is run, and none fails in silence.

The attacks themselves take minutes; these checks run a few that achieve nothing in a moment.
"""

import importlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
NAMES = ("attack_cases", "attack_javascript", "attack_collectors", "attack_loads")
BROKEN = """
import sys
if sys.argv[1] == "renamed":
    raise AttributeError("there is no such name any more")
print("nothing")
if sys.argv[1] == "late":
    raise AssertionError("something else is not so")
"""


@pytest.fixture
def script(monkeypatch):
    """Load a script by its name."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module


@pytest.fixture
def broken(script, tmp_path):
    """An attack whose script has cases that raise errors."""
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    attack = script("attacks").Attack("do something", "good", ("tests/house/test_attacks.py",))
    return replace(attack, script=path)


def test_every_attack_has_a_case_and_every_case_is_run(script):
    attacks = list(script("attacks").attacks())
    run = {(attack.script.stem, attack.case) for attack in attacks}
    assert run == {(name, case) for name in NAMES for case in script(name).CASES}


def test_every_attack_of_a_device_in_javascript_is_written_there(script):
    names = script("attack_javascript")
    text = (SCRIPTS / "attack_devices.js").read_text("utf-8")
    written = re.search(r"const CASES = {([^}]*)}", text)[1].replace(",", " ").split()
    assert set(written) - {"own_keys"} == set(names.CASES) - set(names.IN_PYTHON)


def test_rows_differ_and_name_tests_that_exist(script):
    attacks = list(script("attacks").attacks())
    assert len({attack.what for attack in attacks}) == len(attacks)
    missing = [test for attack in attacks for test in attack.tests if not (ROOT / test).exists()]
    assert not missing


def rows_of(script, *cases):
    comparison = script("attacks").Comparison("a85a09b", ROOT, [])
    rows = [line for line in comparison.lines(cases) if line.startswith("| do something")]
    return rows, comparison.failed


def test_a_case_that_raises_is_named_and_the_others_go_on(script, broken):
    cases = [replace(broken, case=case) for case in ("renamed", "late", "good")]
    rows, failed = rows_of(script, *cases)
    cells = [row.split(" | ")[2] for row in rows]
    assert cells == ["**failed**", "**failed**", "nothing"]
    assert [name.split(",")[0] for name in failed[::2]] == ["broken:renamed", "broken:late"]


def test_the_page_says_of_which_commit_and_day_it_is(script, broken):
    lines = list(script("attacks").Comparison("a85a09b", ROOT, []).lines([broken]))
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)
    (now,) = [
        re.search(r"that of (\w+)(-dirty)? \(now\)", line) for line in lines if "(now)" in line
    ]
    assert commit.startswith(now[1])
    assert any(re.match(r"Printed on \d{4}-\d\d-\d\d", line) for line in lines)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["a85a09b", "--only", "silence", "--write"], "--write writes the whole page"),
        (["--documents", "9", "--write"], "--write writes the whole page"),
        (["a85a09b", "--only", "silense"], "There is no case named silense"),
    ],
)
def test_a_page_is_written_whole_and_cases_are_known(arguments, reason):
    command = [sys.executable, str(SCRIPTS / "attacks.py"), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert reason in done.stderr
