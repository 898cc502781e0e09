"""The index of a value, or of a random one: the same draws, and nothing said about the value."""

import numpy as np
import pytest

import sottovoce as sv
from client.values import Untouchable
from sottovoce.client import held
from sottovoce.client.held import UNREADABLE, held_index, random_index
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng

DOMAINS = {
    "categories": (Categories(("cat", "dog")), "dog"),
    "integers": (Integers(18, 99), 37),
    "numbers": (Numbers(0.0, 1.0, 11), 0.5),
    "bits": (sv.Bits(70), 1 << 69),
    "strings": (sv.Strings(20, whole=True), "hello"),
    "sets": (sv.Sets(["bread", "milk"]), ["milk"]),
    "records": (Records(("a", "b"), (Integers(0, 8), Categories(("x", "y")))), {"a": 3, "b": "x"}),
    "tables": (
        sv.Table({"age": range(9)}, public={"os": ["i", "a"]}).domain,
        {"age": 3, "os": "i"},
    ),
}
OUTSIDE = ("nobody" * 30, -1, 10**40, float("nan"), None, b"x", {}, {"a": 3}, 3 + 4j, Untouchable())


@pytest.mark.parametrize("name", DOMAINS)
def test_a_value_of_the_domain_is_itself(name):
    domain, value = DOMAINS[name]
    own = held_index(domain, value)
    assert own.refusal == ""
    assert len(own.indices) == 1
    assert len(domain.public_parts(own.indices)) == bool(domain.public_names)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_random_index_is_drawn_whatever_the_value_is(name, monkeypatch):
    domain, value = DOMAINS[name]
    consumed = set()
    for held_value in (value, *OUTSIDE):
        tape = RecordedRng(bytes(SeededRng(3).bytes(4096)))
        monkeypatch.setattr(held, "SystemRng", lambda tape=tape: tape)
        held_index(domain, held_value)
        consumed.add(tape.consumed)
    assert len(consumed) == 1
    assert min(consumed) > 0


@pytest.mark.parametrize("name", DOMAINS)
def test_a_value_outside_is_replaced_and_not_named(name):
    domain, _ = DOMAINS[name]
    for value in OUTSIDE:
        other = held_index(domain, value)
        assert other.refusal
        assert len(other.indices) == 1
        assert "nobody" not in other.refusal
        assert "0000" not in other.refusal


def test_an_object_that_raises_is_no_reason_to_fall_silent():
    assert held_index(Integers(0, 9), Untouchable()).refusal == UNREADABLE


def test_replacements_are_uniform():
    """Chi-squared over 4 values, 2,000 draws of the operating system: above 38 once in 3e7."""
    drawn = [int(random_index(Integers(0, 3))[0]) for _ in range(2000)]
    counts = np.bincount(drawn, minlength=4)
    assert ((counts - 500) ** 2 / 500).sum() < 38


def test_a_constant_replacement_would_be_noticed():
    """The broken twin of the check of uniformity."""
    counts = np.bincount([0] * 2000, minlength=4)
    assert ((counts - 500) ** 2 / 500).sum() > 38


def test_what_is_held_is_not_printed():
    shown = repr(held_index(Integers(0, 99), 37))
    assert "indices" not in shown
    assert "object at 0x" in shown, "an address, and nothing that is held"
