"""Open the store at an address; each class of stores says which addresses it opens."""

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
    classes = [known for known in _descendants(Store) if "address_form" in vars(known)]
    return sorted(classes, key=lambda known: known.__name__)


def store_class(address: str) -> type[Store]:
    """Return the class that opens the store at an address; "" is the embedded store of a folder."""
    for candidate in known_stores():
        if candidate.accepts(address):
            return candidate
    forms = "; ".join(known.address_form for known in known_stores())
    raise ParameterError(f"`database` names no store that is known here: it must be one of: {forms}")


def open_store(folder: Path, address: str = "") -> Store:
    """Return the store at an address; ``folder`` holds the files of the collector."""
    folder.mkdir(parents=True, exist_ok=True)
    return store_class(address).open(address, folder)


def _descendants(parent: Any) -> set[type[Store]]:
    children = set(parent.__subclasses__())
    return children.union(*map(_descendants, children))
