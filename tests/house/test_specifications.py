"""Every module is specified by the test of its name, or by one that specifications.py names."""

import ast
from functools import cache
from pathlib import Path

import pytest

from house.specifications import SPECIFIED_BY

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "sottovoce"

# Modules that a test runs by name instead of importing them.
RUN_BY_NAME = (
    "__main__.py",
    "lab/demonstration.py",
    "lab/experiments/consistency/__main__.py",
    "lab/reference.py",
)


def modules():
    """Return every module that holds code, by its path in the package."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"]
    return [path.relative_to(SOURCE).as_posix() for path in paths]


def own_test(module):
    """Return the test of a module's name."""
    path = Path(module)
    return TESTS / path.parent / f"test_{path.name}"


@cache
def imports(path):
    """Return the names of the modules that a file imports, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def reached(test):
    """Return what a test imports, itself or through helpers among the tests."""
    names, waiting, seen = set(), [test], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        names |= imports(path)
        helpers = [TESTS / f"{name.replace('.', '/')}.py" for name in imports(path)]
        waiting += [helper for helper in helpers if helper.exists()]
    return names


def test_every_module_is_specified_by_a_test():
    assert len(modules()) > 500
    without = [
        module
        for module in modules()
        if not own_test(module).exists() and module not in SPECIFIED_BY
    ]
    assert not without, "write the tests of these modules, or list who specifies them"


def test_a_listed_module_is_there_and_has_no_test_of_its_own():
    gone = [module for module in SPECIFIED_BY if not (SOURCE / module).exists()]
    specified = [module for module in SPECIFIED_BY if own_test(module).exists()]
    assert not gone, "take these modules off the list"
    assert not specified, "these modules have a test of their own: take them off the list"


@pytest.mark.parametrize("module", sorted(SPECIFIED_BY.keys() - set(RUN_BY_NAME)))
def test_the_test_of_a_listed_module_imports_it(module):
    """The module itself, or its folder: a benchmark is run by the name of its topic."""
    test = TESTS / SPECIFIED_BY[module]
    assert test.exists(), f"there is no {test}"
    name = "sottovoce." + module.removesuffix(".py").replace("/", ".")
    folder = name.rpartition(".")[0]
    used = {name, folder} - {"sottovoce"}
    assert used & reached(test), f"{SPECIFIED_BY[module]} does not use {module}"


def test_the_search_for_imports_is_not_content_with_anything():
    """A broken twin: a test that has nothing to do with a module."""
    assert "sottovoce.collector.app" in reached(TESTS / "collector" / "test_api.py")
    assert "sottovoce.collector.app" not in reached(TESTS / "maths" / "test_hashing.py")
