"""Input manipulation: false reports that follow the protocol shift an estimate by their share."""

import pytest

import sottovoce as sv
from sottovoce.domains.categories import Categories
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.input_manipulation import InputManipulation

LABELS = ("a", "b", "c")
HONEST = ["a"] * 12_000 + ["b"] * 4_000
TASK = sv.Task("letters", sv.Histogram(list(LABELS)), epsilon=2.0)


ATTACK = InputManipulation(Categories(LABELS), ("c",))


def estimate_of_c(share):
    attack = None if share is None else ATTACK
    outcome = sv.simulate(TASK, HONEST, seed=5, attack=attack, share=share)
    row = next(row for row in outcome.rows() if row["value"] == "c")
    return outcome.users, row["estimate"], row["error"]


def test_attackers_are_a_share_of_all_and_their_value_gains_as_many_people():
    """A fifth of all: 4,000 attackers beside 16,000 honest people.  The twin without them fails."""
    users, estimate, error = estimate_of_c(0.2)
    print("estimate", estimate, "expected", 4_000, "error", error)
    assert users == 20_000
    assert abs(estimate - 4_000) < 5 * error
    users, estimate, error = estimate_of_c(None)
    assert users == 16_000
    assert abs(estimate - 4_000) > 5 * error


def test_a_share_too_small_for_one_attacker_changes_nothing():
    assert estimate_of_c(1e-6) == estimate_of_c(None)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(ParameterError, match="`share` must be a number above 0 and below 1"):
        sv.simulate(TASK, HONEST, attack=ATTACK, share=share)


def test_an_attack_needs_a_share_and_a_share_an_attack():
    with pytest.raises(ParameterError, match="`attack` and `share` go together"):
        sv.simulate(TASK, HONEST, attack=ATTACK)
    with pytest.raises(ParameterError, match="`attack` and `share` go together"):
        sv.simulate(TASK, HONEST, share=0.1)


def test_an_attack_names_what_it_promotes():
    with pytest.raises(ParameterError, match="`targets` must have"):
        InputManipulation(Categories(LABELS), ())
    with pytest.raises(ParameterError, match="`targets`"):
        InputManipulation(Categories(LABELS), "c")
