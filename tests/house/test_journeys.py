"""The recorded journeys: their commands are those of today, and their pictures are there.

`python scripts/journeys.py` runs them; these checks run nothing.
"""

import importlib.util
import re
from base64 import b64encode
from hashlib import sha384
from pathlib import Path

import pytest

from house.commands import unknown_words, used
from sottovoce.cli.task_template import template
from sottovoce.collector import taskfile
from sottovoce.wire import codec

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "journeys").glob("*.md"))


def console_blocks():
    """Return the script that reads and writes the blocks of recorded pages."""
    path = ROOT / "scripts" / "console_blocks.py"
    spec = importlib.util.spec_from_file_location("console_blocks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(page):
    """Yield every command of a page with what it printed."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        yield from console_blocks().commands(block)


def typed(page):
    """Yield the words of every command of ours that was typed on a page."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = "".join(blocks).splitlines()
    yield from used(line[2:] for line in lines if line.startswith("$ "))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_journey_is_one_of_today(page):
    found = list(typed(page))
    assert len(found) >= 4
    for words in found:
        assert unknown_words(words) == [], " ".join(words)


def test_a_command_that_is_gone_is_noticed():
    assert unknown_words(["task", "lst"]) == ["lst"]
    assert unknown_words(["task", "list", "--dta", "x"]) == ["--dta"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_prints_has_printed(page):
    """A page that was written and not run has no output."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"\$ sottovoce (simulate|answer|sql|task check)[^\n]*\n(\$|```)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_are_there_in_light_dark_and_narrow(page):
    for name in re.findall(r"<!-- screen (\S+) ", page.read_text(encoding="utf-8")):
        for suffix in ("", "-dark", "-narrow"):
            picture = ROOT / "docs" / "images" / "journeys" / f"{name}{suffix}.png"
            assert picture.stat().st_size > 5_000, picture.name


def task_of(text):
    """Return the name and the digest of the task in a file, as the collector computes it."""
    task = taskfile.read(text, toml=True)
    return task.name, codec.digest(codec.document(task))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_digests_of_tasks_are_those_of_today(page):
    """A recording from before a change of documents is noticed."""
    digests = {}
    printed = []
    for command, output in recorded(page):
        file = re.match(r"cat > \S+\.toml <<'END'\n(.*)\nEND$", command, re.DOTALL)
        if file:
            name, digest = task_of(file[1])
            digests[name] = digest
        printed += re.findall(
            r"^(?:published: )?(\w+)(?::| ).*?digest (\S+)$", output, re.MULTILINE
        )
        table = re.match(r"name +state .* digest\n", output)
        if table:
            rows = output[table.end() :].splitlines()
            printed += [(row.split()[0], row.split()[-1]) for row in rows]
    assert [(name, digests[name]) for name, _ in printed] == printed
    if "sottovoce task create" in page.read_text(encoding="utf-8"):
        assert printed


def test_the_hash_of_the_client_is_that_of_its_file():
    content = (ROOT / "clients" / "js" / "dist" / "sottovoce.min.js").read_bytes()
    stated = f"sha384-{b64encode(sha384(content).digest()).decode()}"
    outputs = [output for _, output in recorded(ROOT / "docs" / "journeys" / "web-developer.md")]
    assert [output.strip() for output in outputs if output.startswith("sha384-")] == [stated]


def test_the_template_of_a_task_file_is_the_one_of_today():
    shown = dict(recorded(ROOT / "docs" / "journeys" / "engineer.md"))["cat browser.toml"]
    command = "cat browser.toml"
    expected = console_blocks().written(command, template("histogram"), 0)
    assert expected == f"$ {command}\n{shown}"
