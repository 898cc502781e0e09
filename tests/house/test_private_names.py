"""Tests speak to what is public: none of them imports, reads or replaces a private name of ours.

A test that does pins the inside of a module, which is then no longer free to change.
"""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
OWN_OBJECTS = {"self", "cls"}
OTHER_LIBRARIES = {"SparkContext", "forkserver", "os"}  # what they offer has no public name
BY_NAME = {"getattr", "setattr", "delattr", "hasattr"}


def is_private(name):
    return name.startswith("_") and not name.endswith("_")


def private_names(text):
    """Return the private names of ours that a module uses, with their lines."""
    names = []
    for node in ast.walk(ast.parse(text)):
        names += [(node.lineno, name) for name in names_of(node) if is_private(name)]
    return sorted(names)


def names_of(node):
    """Return the names of other modules and objects that one node uses."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sottovoce"):
        return [*node.module.split("."), *(alias.name for alias in node.names)]
    if isinstance(node, ast.Attribute) and not belongs_to_itself(node.value):
        return [node.attr]
    if isinstance(node, ast.Call) and called(node.func) in BY_NAME and len(node.args) > 1:
        name = node.args[1]
        return [name.value] if isinstance(name, ast.Constant) and is_text(name.value) else []
    return []


def is_text(value):
    return isinstance(value, str)


def called(function):
    """Return the last name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def belongs_to_itself(owner):
    return isinstance(owner, ast.Name) and owner.id in OWN_OBJECTS | OTHER_LIBRARIES


def inside(path):
    return path.relative_to(TESTS).as_posix()


def test_no_test_uses_a_private_name():
    texts = {inside(path): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    used = {path: private_names(text) for path, text in texts.items()}
    assert len(used) > 500
    assert {path: names for path, names in used.items() if names} == {}


@pytest.mark.parametrize(
    "broken",
    [
        "from sottovoce.maths.hashing import _dependent",
        "hashing._dependent(rows)",
        "client.ledger._file.rows('select 1')",
        "monkeypatch.setattr(hashing, '_dependent', None)",
        "super()._ask(1)",
    ],
)
def test_the_search_finds_private_names(broken):
    assert private_names(broken)


@pytest.mark.parametrize(
    "right", ["self._kept = 1", "hashing.__doc__", "from sottovoce.core.rng import Rng"]
)
def test_the_search_leaves_public_names_and_own_attributes_alone(right):
    assert not private_names(right)
