"""One meaning per word: no public class name exists twice, and the glossary explains the nouns."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sottovoce"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
EXPLAINED_FOLDERS = ("core", "tasks", "answers")


@cache
def public_classes():
    """Return the files that define each public class, by its name."""
    files_by_name = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files_by_name[node.name].append(path.relative_to(SOURCE).as_posix())
    return dict(files_by_name)


def duplicates(files_by_name):
    """Return the names that stand in several files."""
    return {name: files for name, files in files_by_name.items() if len(files) > 1}


def nouns_to_explain():
    """Return the public classes that the glossary must name."""
    return sorted(
        name
        for name, files in public_classes().items()
        if any(file.split("/")[0] in EXPLAINED_FOLDERS for file in files)
    )


def test_no_class_takes_a_name_that_another_class_has():
    repeated = duplicates(public_classes())
    assert not repeated, f"rename one of each: {repeated}"


def test_the_search_for_duplicates_finds_one():
    """A broken twin: two files with one class name."""
    files_by_name = {"Answer": ["a.py", "b.py"], "Round": ["c.py"]}
    assert duplicates(files_by_name) == {"Answer": ["a.py", "b.py"]}


@pytest.mark.parametrize("name", nouns_to_explain())
def test_the_nouns_of_a_collection_stand_in_the_glossary(name):
    assert f"`{name}`" in GLOSSARY


def test_every_word_is_explained_once():
    rows = re.findall(r"^\| ([^|]+) \|", GLOSSARY, re.MULTILINE)
    words = [word for row in rows if row not in ("word", "class") for word in row.split(", `")]
    repeated = {word for word in words if words.count(word) > 1}
    assert not repeated, repeated
