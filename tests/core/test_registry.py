"""Registries: kinds are found in the module of their name, in other modules, or refused."""

import sys

import pytest

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules: one named after its kind, one that holds two kinds."""
    folder = tmp_path / "toy_family"
    folder.mkdir()
    (folder / "__init__.py").touch()
    register = "from toy_registry import REGISTRY\n"
    (folder / "alpha.py").write_text(register + "class Alpha: ...\nREGISTRY.add('alpha', Alpha)\n")
    several = "class Beta: ...\nREGISTRY.add('beta', Beta)\nREGISTRY.add('gamma', Beta)\n"
    (folder / "several.py").write_text(register + several)
    (tmp_path / "toy_registry.py").write_text(
        "from sottovoce.core.registry import Registry\nREGISTRY = Registry('toy', 'toy_family')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__("toy_registry").REGISTRY
    for name in [name for name in sys.modules if name.startswith("toy_")]:
        del sys.modules[name]


def test_a_kind_is_looked_for_in_the_module_of_its_name_first(package):
    assert package["alpha"].__name__ == "Alpha"
    assert "toy_family.several" not in sys.modules


def test_a_kind_in_another_module_is_found_too(package):
    assert package["gamma"].__name__ == "Beta"
    assert package["beta"].__name__ == "Beta"


@pytest.mark.parametrize("kind", ["delta", "", "../alpha", "Alpha", "os.path", "a" * 100])
def test_an_unknown_kind_is_refused(package, kind):
    with pytest.raises(ParameterError, match="unknown toy kind"):
        package[kind]


def test_a_long_kind_is_cut_in_the_error():
    with pytest.raises(ParameterError) as caught:
        Mechanism.kinds["x" * 1000]
    assert len(str(caught.value)) < 80


def test_a_class_can_be_added_by_hand():
    registry = Registry("toy", "sottovoce.mechanisms")
    registry.add("mine", int)
    assert registry["mine"] is int
