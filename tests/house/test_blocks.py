"""What the pages tell readers to type: commands and options that exist, and task files that are
read.
"""

import ast
import re
from pathlib import Path

import pytest

from house.commands import unknown_words, used
from sottovoce.collector import taskfile
from sottovoce.tasks.task import Task

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "guides").glob("*.md")),
    *(
        page
        for folder in ("decisions", "evidence")
        for page in sorted((DOCS / folder).glob("*.md"))
    ),
    ROOT / "clients" / "js" / "README.md",
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
JOURNEYS = sorted((DOCS / "journeys").glob("*.md"))  # test_journeys.py reads their commands
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
KEY = "A" * 43  # of a hop or of a collector
ISSUER = "A" * 456  # of an issuer of blind tokens


def blocks(page, *languages):
    """Return the blocks of a page in some languages."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language.strip() in languages]


def shell_lines(page):
    """Return the lines of a page that are typed into a shell, and the code in its sentences."""
    lines = "\n".join(blocks(page, "", "console", "bash", "sh")).splitlines()
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [line.removeprefix("$ ") for line in lines], re.findall(r"`([^`\n]+)`", prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_ours_and_their_options_exist(page):
    lines, codes = shell_lines(page)
    for words in used([*lines, *codes]):
        assert unknown_words(words) == [], " ".join(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_scripts_and_targets_that_are_named_exist(page):
    lines, codes = shell_lines(page)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in [*lines, *codes]:
        for script in re.findall(r"^python (\w[\w/]*\.py)", line):
            if "/" in script:
                assert (ROOT / script).is_file(), line
        for target in re.findall(r"^make ([a-z-]+)", line):
            assert target in targets, line


TASK_FILES = [
    (page.name, number) for page in PAGES for number, _ in enumerate(blocks(page, "toml"))
]


@pytest.mark.parametrize(("name", "number"), TASK_FILES)
def test_task_files_are_read_as_operators_would_write_them(name, number):
    """With keys in the place of words that stand for keys."""
    text = blocks(DOCS / name, "toml")[number]
    text = text.replace("KEY-OF-A", "B" * 42 + "A").replace("KEY-OF-B", "C" * 42 + "A")
    text = re.sub(r'issuer = "[^"]*"', f'issuer = "{ISSUER}"', text)
    assert isinstance(taskfile.read(text, toml=True, collector_key=lambda: KEY), Task)


@pytest.mark.parametrize("page", [*PAGES, *JOURNEYS], ids=lambda page: page.stem)
def test_python_that_is_shown_is_python(page):
    """Blocks are run by the test of their page; those that cannot run here can be parsed."""
    for text in blocks(page, "python", "python no-run"):
        ast.parse(text)


def test_the_block_about_spark_calls_what_there_is():
    """It needs a cluster, so that its names are compared with the module."""
    (text,) = blocks(DOCS / "spark.md", "python")
    called = re.findall(r"\bspark\.(\w+)\(", text)
    source = (ROOT / "src/sottovoce/engine/spark/__init__.py").read_text(encoding="utf-8")
    defined = {
        name.asname or name.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert set(called) <= defined


def test_links_of_the_fragments_lead_somewhere():
    """They are written for the folder of the fragments; the changelog is made of them."""
    for fragment in sorted((ROOT / "changes").glob("*.md")):
        text = fragment.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:\s]+)[^)]*\)", text):
            assert (fragment.parent / target).exists(), f"{fragment.name} -> {target}"
