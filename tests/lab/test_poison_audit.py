"""What every attack achieves with one false report, beside the bound that none exceeds."""

from dataclasses import dataclass, replace

import pytest

import sottovoce as sv
from sottovoce.core.influence import Influence
from sottovoce.lab.attacks.base import Aim
from sottovoce.lab.poison_audit import audit_mechanism, audit_task
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.oue import OUE

PURE = ["grr", "affine", "olh", "oue", "sue", "the", "subset", "hadamard", "blh", "rmp"]
NUMERIC = ["duchi", "piecewise", "hybrid", "square_wave"]


def audited(kind, size=32):
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=size)
    return audit_mechanism(mechanism, SeededRng(1), tries=20), mechanism


@pytest.mark.parametrize("kind", PURE)
def test_the_strongest_attack_on_one_value_reaches_the_bound_and_none_exceeds_it(kind):
    result, mechanism = audited(kind)
    rows = {row.attack: row for row in result.rows}
    assert result.passes
    assert rows["spa"].target == pytest.approx(mechanism.influence.up)
    assert rows["mga"].target == pytest.approx(mechanism.influence.up)
    assert rows["ima"].target < mechanism.influence.up
    assert rows["mga"].together > rows["spa"].together - 1e-9
    assert "randomises numbers" in rows["gba"].note


@pytest.mark.parametrize("kind", NUMERIC)
def test_the_extreme_number_is_the_bound(kind):
    result, mechanism = audited(kind)
    rows = {row.attack: row for row in result.rows}
    assert result.passes
    assert rows["spa"].target == pytest.approx(mechanism.influence.up)
    assert rows["mla"].target == pytest.approx(mechanism.influence.up)
    assert 0 < rows["gba"].target <= mechanism.influence.up
    assert "pure mechanism" in rows["mga"].note


def test_a_mechanism_that_states_too_little_fails():
    """The broken twin: half of the influence is stated."""

    @dataclass(frozen=True)
    class Modest(OUE):
        @property
        def influence(self):
            whole = super().influence
            return Influence(whole.up / 2, whole.down / 2)

    result = audit_mechanism(Modest(1.0, 8), SeededRng(1))
    assert not result.passes
    assert "FAILS" in str(result)


def test_a_mechanism_without_votes_says_why_nothing_is_known():
    result, _ = audited("bloom", 8)
    assert result.passes
    assert all(row.target is None and row.note for row in result.rows)


def test_a_task_is_audited_question_by_question():
    task = sv.Task("survey", sv.Survey({"p": list("abcd"), "q": list("abcdefgh")}), epsilon=1.0)
    aim = Aim(task, ({"p": "c", "q": "h"},), tries=5, each=1)
    result = audit_task(aim, SeededRng(1))
    assert result.passes
    assert {row.question for row in result.rows} == {"grr, 4 values", "subset, 8 values"}
    text = str(result)
    assert "One false report counts for so many honest ones" in text
    assert result.to_dict()["attacks"][0]["attack"] == "gba"
    without = audit_task(replace(aim, targets=()), SeededRng(1))
    assert any("`targets`" in row.note for row in without.rows)


def test_padded_sets_and_prefixes_are_audited_by_what_promotes_their_value():
    items = sv.Task("items", sv.TopItems([f"i{n}" for n in range(40)], 4), epsilon=2.0)
    found = audit_task(Aim(items, ({"i7"}, {"i9"}), tries=10), SeededRng(1))
    spa = next(row for row in found.rows if row.attack == "spa")
    assert spa.target == pytest.approx(spa.bound)
    texts = sv.Task("texts", sv.HeavyHitters(sv.Bits(48), 4), epsilon=2.0)
    found = audit_task(Aim(texts, (5, 77), tries=10), SeededRng(1))
    assert found.passes
    assert all(row.target is None or row.target <= row.bound + 1e-9 for row in found.rows)
