"""The store that an address names: every class of the package ``store`` says which addresses it opens."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from sottovoce.collector import store
from sottovoce.collector.store.base import Store
from sottovoce.errors import ParameterError


def known_stores() -> list[type[Store]]:
    """Return the classes that open a store, sorted by name; imports every module of the package."""
    for module in iter_modules(store.__path__):
        import_module(f"{store.__name__}.{module.name}")
    classes = [one for one in _descendants(Store) if "address_form" in vars(one)]
    return sorted(classes, key=lambda one: one.__name__)


def store_class(address: str) -> type[Store]:
    """Return the class that opens the store at an address; "" is the embedded store of a folder."""
    for one in known_stores():
        if one.accepts(address):
            return one
    forms = "; ".join(one.address_form for one in known_stores())
    raise ParameterError(f"`database` names no store that is known here: it must be one of: {forms}")


def open_store(folder: Path, address: str = "") -> Store:
    """Return the store at an address, for a collector with its files in ``folder``, which is made if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return store_class(address).open(address, folder)


def _descendants(parent: Any) -> set[type[Store]]:
    return {one for child in parent.__subclasses__() for one in {child, *_descendants(child)}}
