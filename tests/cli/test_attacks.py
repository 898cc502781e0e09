"""Attacks on the command line: simulated beside the truth, and audited."""

import json

import pytest

from sottovoce.cli.attacks import target_values
from sottovoce.domains.categories import Categories
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.errors import ParameterError

SIMULATE = ("--column", "pet", "--domain", "cat,dog,newt", "--epsilon", 1, "--seed", 1)
ATTACK = ("--attack", "spa", "--share", 0.1, "--target", "newt")


@pytest.fixture
def pets(write):
    return write(["pet"], [["cat"], ["dog"], ["dog"]] * 500)


def test_an_attack_is_simulated_and_allowed_for(run, pets):
    """1,667 reports, a tenth of them false: the truth is that of 1,667 people like the honest."""
    content = json.loads(run("simulate", pets, *SIMULATE, *ATTACK, "--fakes", 0.1, "--json").stdout)
    (answer,) = content["answers"]
    assert answer["users"] == 1667
    assert answer["fakes"] == 0.1
    rows = {row["value"]: row for row in answer["rows"]}
    assert rows["newt"]["truth"] == 0
    assert rows["dog"]["truth"] == pytest.approx(1000 / 0.9)
    assert not rows["newt"]["covered"]
    assert all(row["covered_attacked"] for row in rows.values())


def test_the_table_shows_both_intervals(run, pets):
    shown = run("simulate", pets, *SIMULATE, *ATTACK, "--fakes", 0.1).stdout
    assert "if 10 % false" in shown
    assert "missed" in shown


def test_robust_to_is_a_column_of_searches(run, write):
    names = write(["name"], [["anna"], ["anna"], ["bert"]] * 300)
    options = ("--column", "name", "--heavy-hitters", "--bytes", 4, "--top", 2)
    shown = run("simulate", names, *options, "--epsilon", 6, "--seed", 1).stdout
    assert "robust to" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attack", "spa", "--target", "newt"), "--attack needs --share"),
        (("--share", 0.1), "--share needs --attack"),
        (("--target", "cat"), "--target needs --attack"),
        (("--attack", "charm", "--share", 0.1), "unknown attack kind"),
        (("--attack", "mga", "--share", 0.1), "`targets` must have"),
        (("--attack", "gba", "--share", 0.1), "randomises numbers"),
        ((*ATTACK, "--target", "eel"), "must be one of the 3 categories"),
    ],
)
def test_what_does_not_go_together_is_refused(run, pets, options, message):
    result = run("simulate", pets, *SIMULATE, *options)
    assert result.exit_code != 0
    assert message in result.stderr


def test_targets_are_texts_or_json():
    letters = Categories(("a", "b"))
    assert target_values(letters, ("a", "b")) == ("a", "b")
    assert set(target_values(Sets(letters), ("a;b",))[0]) == {"a", "b"}
    records = Records(("x", "y"), (letters, letters))
    assert target_values(records, ('{"x": "a", "y": "b"}',)) == ({"x": "a", "y": "b"},)
    with pytest.raises(ParameterError, match="must be JSON"):
        target_values(records, ("a",))
    assert target_values(letters, ()) == ()


def test_a_mechanism_and_a_task_are_audited_for_poison(run, tmp_path):
    shown = run("audit", "affine", "--poison", "--size", 64, "--tries", 10, "--seed", 1)
    assert shown.exit_code == 0
    assert "no attack exceeds the bound" in shown.stdout
    task = tmp_path / "pets.toml"
    plan = '[plan]\nkind = "histogram"\ndomain = ["cat", "dog", "newt"]\n'
    task.write_text(f'name = "pets"\nepsilon = 1.0\n{plan}')
    result = run("audit", task, "--poison", "--target", "newt", "--seed", 1, "--json")
    content = json.loads(result.stdout)
    assert content["passes"]
    assert {row["attack"] for row in content["attacks"]} >= {"spa", "mga", "rpa"}
