"""``sottovoce bench``."""

import sys
from types import SimpleNamespace


def test_it_hands_its_options_to_the_laboratory(run, monkeypatch):
    seen = []
    bench = SimpleNamespace(run=lambda **options: seen.append(options))
    monkeypatch.setitem(sys.modules, "sottovoce.lab.bench", bench)
    assert run("bench", "--only", "grr", "--json").exit_code == 0
    assert seen == [{"only": ("grr",), "json": True, "write": None}]
