"""A device has the same options, with the same defaults, in both languages."""

import re
from dataclasses import MISSING, fields

from js.collector import PACKAGE
from sottovoce.client.device import Device

# These have no default: whose device it is, and where it keeps what it has spent.
REQUIRED = {"url", "ledger"}


def python_defaults():
    """Return the default of every option of a device, as JSON holds it."""
    defaults = {}
    for field in fields(Device):
        if field.name in REQUIRED:
            continue
        is_made = field.default_factory is not MISSING
        default = field.default_factory() if is_made else field.default
        defaults[field.name] = list(default) if isinstance(default, tuple) else default
    return defaults


def in_snake_case(name):
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def test_a_device_has_the_same_options_and_defaults_in_both_languages(worker):
    shown = worker.run("deviceOptions", None)
    defaults = {in_snake_case(name): default for name, default in shown["defaults"].items()}
    assert defaults == python_defaults()
    assert shown["language"] == defaults["language"]


def test_a_device_looks_at_every_option_and_at_no_other(worker):
    shown = worker.run("deviceOptions", None)
    assert {in_snake_case(name) for name in shown["read"]} == {"ledger", *python_defaults()}


def test_the_readme_lists_every_option():
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    section = text.split("## Options of a device")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert {in_snake_case(name) for name in listed} == {"ledger", *python_defaults()}
