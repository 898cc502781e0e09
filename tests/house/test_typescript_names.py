"""A module of the JavaScript client has the name and the place of its Python module.

Whoever knows one language finds everything in the other.  What has no twin stands in the table
below, with the reason.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPESCRIPT = ROOT / "clients" / "js" / "src"
PYTHON = ROOT / "src" / "sottovoce"

WITHOUT_TWIN = {
    "browser": "the entry of browsers, with the ledger that only they have",
    "bytes": "Python's bytes do this by themselves",
    "client/message": "client/client.py does this; here permanent responses need it alone",
    "client/resend": "a method of Client in Python; here it is loaded when somebody sends again",
    "client/stated_accepts": "client/accepts.py checks this; here it is loaded when needed",
    "core/hidden_characters": "generated from core/hidden_characters.json, which Python reads",
    "core/keyed_rng": "core/rng.py has it; here only longitudinal tasks load it",
    "index": "the entry of the core, which is __init__.py in Python",
    "maths/sha256": "Python has hashlib; the one of browsers is asynchronous",
    "mechanisms/second_round": "mechanisms/sue.py and bloom.py have it; here both load it",
    "node": "the entry of Node, with the ledger that is a file",
    "wire/fields": "wire/codec.py reads fields; here every contract reads its own",
    "wire/hpke": "Python takes HPKE from a library",
    "wire/languages": "wire/statement.py lists them; here a table is loaded when it is asked for",
    "wire/web_crypto": "Python takes cryptography from a library",
}
GENERATED = "wire/statement_texts/"  # one module for each table of sentences


def modules(folder, suffix):
    """Return the modules in a folder as paths without their suffix."""
    paths = (path.relative_to(folder).with_suffix("") for path in folder.rglob(f"*{suffix}"))
    return {path.as_posix() for path in paths}


def without_twin(typescript, python):
    """Return the modules of JavaScript that have no Python module at the same place."""
    return {name for name in typescript - python if not name.startswith(GENERATED)}


def test_every_module_has_a_python_module_at_its_place_or_a_reason():
    typescript, python = modules(TYPESCRIPT, ".ts"), modules(PYTHON, ".py")
    assert len(typescript) > 90
    assert without_twin(typescript, python) == set(WITHOUT_TWIN)


@pytest.mark.parametrize("name", ["client/shuffled", "device", "maths/client"])
def test_another_name_or_place_is_noticed(name):
    python = modules(PYTHON, ".py")
    assert without_twin({name, "client/device"}, python) == {name}


def test_generated_tables_have_the_names_of_theirs():
    tables = {path.stem for path in (PYTHON / GENERATED).glob("*.json")}
    assert {path.stem for path in (TYPESCRIPT / GENERATED).glob("*.ts")} == tables
