"""The script that measures the first contact, with a cheap way in place of an installation."""

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.lab.experiments.daily_reports import table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "first-contact.md"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import first_contact

    return first_contact


@pytest.fixture
def source(tmp_path):
    """A repository with one commit, to clone from."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "README.md").write_text("```python\nprint('value estimate')\n```\n")
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "First"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def printing(code):
    """A way that runs one program, which makes an environment of one small file."""
    made = (
        "import pathlib, sys, time\n"
        "folder = pathlib.Path('.venv/lib/python3/site-packages/one-1.0.dist-info')\n"
        "folder.mkdir(parents=True)\n"
        "(folder / 'METADATA').write_text(2_000_000 * 'x')\n"
    )
    return lambda clone: [[sys.executable, "-c", made + code]]


def instead(script, monkeypatch, **programs):
    """Measure cheap programs instead of the real ways."""
    pattern = re.compile(r"\bvalue\b.*\bestimate\b")
    ways = {name: script.Way(printing(code), pattern) for name, code in programs.items()}
    monkeypatch.setattr(script, "WAYS", ways)


ANSWERS = "print('Installing 3 packages')\nprint('value  estimate')\ntime.sleep(0.6)\nprint('end')"
NEVER_ENDS = (
    "import subprocess\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print('child', child.pid, flush=True)\n"
    "time.sleep(600)"
)


def test_the_first_answer_is_timed_when_it_is_printed(script, source, monkeypatch, tmp_path):
    instead(script, monkeypatch, quick=ANSWERS)
    measured = script.measure("quick", "empty", tmp_path / "cache", 60.0, source)
    print(f"first {measured.first:.2f} s, whole {measured.whole:.2f} s")
    assert measured.whole - measured.first > 0.5
    assert (measured.size, measured.packages) == (2_000_000, 1)
    head = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(head, cwd=source, capture_output=True, text=True, check=True)
    assert measured.commit == done.stdout.strip()


def test_rows_are_written_as_they_come(script, source, monkeypatch, tmp_path, capsys):
    """The second way fails: the rows of the first, and of an earlier run, stay."""
    fails = "print('no space left')\nsys.exit(3)"
    instead(script, monkeypatch, quick=ANSWERS, broken=fails, old=ANSWERS)
    page = tmp_path / "page.md"
    earlier = script.Measured("old", "empty", 5.0, 9.0, 10**6, 2, 0.5, "abc1234")
    page.write_text(script.page({("old", "empty"): earlier.row}))
    assert script.run(["quick", "broken"], 60.0, page, source) is False
    rows = table(page.read_text())
    assert [(row["way"], row["cache of pip"]) for row in rows] == [
        ("quick", "empty"),
        ("quick", "filled"),
        ("old", "empty"),
    ]
    assert [row["installed"] for row in rows] == ["2 MB", "2 MB", "1 MB"]
    assert [row["commit"] for row in rows][2] == "abc1234"
    said = capsys.readouterr().err
    assert "ended with exit code 3. The last lines that it printed:\n    no space left" in said


def test_a_row_is_kept_when_the_run_is_cut_off(script, source, monkeypatch, tmp_path):
    instead(script, monkeypatch, quick=ANSWERS)
    page = tmp_path / "page.md"
    measure = script.measure

    def cut_off(way, cache, *rest):
        if cache == "filled":
            raise KeyboardInterrupt
        return measure(way, cache, *rest)

    monkeypatch.setattr(script, "measure", cut_off)
    with pytest.raises(KeyboardInterrupt):
        script.run(["quick"], 60.0, page, source)
    assert [row["cache of pip"] for row in table(page.read_text())] == ["empty"]


def test_a_way_that_does_not_end_is_killed_with_all_that_it_started(
    script, source, monkeypatch, tmp_path
):
    instead(script, monkeypatch, endless=NEVER_ENDS)
    started = time.monotonic()
    with pytest.raises(script.MeasuringError, match="the time limit has passed") as error:
        script.measure("endless", "empty", tmp_path / "cache", 5.0, source)
    assert time.monotonic() - started < 60
    (child,) = re.findall(r"^    child (\d+)$", str(error.value), re.MULTILINE)
    until = time.monotonic() + 30
    while is_running(child):
        assert time.monotonic() < until, "what the program started goes on"
        time.sleep(0.05)


def is_running(process_id):
    """Return whether a process is there and not merely waiting to be collected."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", process_id], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")


def test_a_way_without_an_answer_is_no_row(script, source, monkeypatch, tmp_path):
    instead(script, monkeypatch, silent="print('12 packages')")
    with pytest.raises(script.MeasuringError, match="silent: no answer was printed"):
        script.measure("silent", "empty", tmp_path / "cache", 60.0, source)


def test_only_the_last_lines_stand_in_the_error(script, tmp_path):
    code = "print('\\n'.join(map(str, range(1000))))\nraise SystemExit(1)"
    with pytest.raises(script.MeasuringError) as error:
        list(script.lines([sys.executable, "-c", code], tmp_path, {}, time.monotonic() + 60))
    shown = str(error.value).split("printed:\n")[1].split()
    assert shown == [str(number) for number in range(1000 - script.LAST_LINES, 1000)]


def test_a_clone_uses_nothing_of_the_environment_around_it(script, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "kernels")
    environment = script.bare(tmp_path)
    assert not {"PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV"} & set(environment)
    assert environment["PIP_CACHE_DIR"] == str(tmp_path)


def test_the_answers_are_those_that_readme_and_demonstration_print(script, tmp_path):
    """The heading of an answer is looked for, and neither numbers nor words before it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    program = script.WAYS["first program"]
    assert [line for line in shown.splitlines() if program.answer.search(line)]
    assert not program.answer.search("Successfully installed numpy-2.1.0")
    compared = (ROOT / "docs" / "journeys" / "engineer.md").read_text(encoding="utf-8")
    demonstration = script.WAYS["demonstration"]
    assert [line for line in compared.splitlines() if demonstration.answer.search(line)]
    (tmp_path / "README.md").write_text(readme)
    *_, last = program.commands(tmp_path)
    assert last[-1] == "first.py"
    assert "sv.simulate(" in (tmp_path / "first.py").read_text()


def test_make_contact_runs_it():
    """It needs nothing of this environment, as a bare clone has none."""
    done = subprocess.run(
        ["make", "--dry-run", "contact"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "scripts/first_contact.py --write docs/evidence/first-contact.md" in done.stdout
    assert "pip" not in done.stdout


@pytest.mark.skipif(not PAGE.exists(), reason="make contact has not been run yet")
def test_the_page_has_every_row(script):
    text = PAGE.read_text(encoding="utf-8")
    rows = script.rows_of(text)
    assert list(rows) == [(way, cache) for way in script.WAYS for cache in script.CACHES]
    assert text == script.page(rows)


def test_a_row_is_read_as_it_was_written(script):
    measured = script.Measured("demonstration", "filled", 41.2, 80.0, 10**9, 40, 0.1, "abc1234")
    other = replace(measured, cache="empty", first=99.0)
    rows = {(one.way, one.cache): one.row for one in (measured, other)}
    assert script.rows_of(script.page(rows)) == rows
