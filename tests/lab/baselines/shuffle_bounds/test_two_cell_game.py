"""The game behind the closed form: between the accountant and the form, where the form is valid."""

from math import exp

import numpy as np
import pytest
from scipy.stats import binom

from sottovoce.accounting.blanket import Blanket
from sottovoce.lab.baselines.shuffle_bounds import closed_forms
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget, hashing_settings
from sottovoce.lab.baselines.shuffle_bounds.two_cell_game import TwoCellGame
from sottovoce.lab.truth import shuffled
from sottovoce.mechanisms.grr import GRR


@pytest.mark.parametrize("users", [2, 4, 8])
def test_the_game_is_above_the_enumeration(users):
    law = GRR(2.0, 4).likelihood(np.arange(4))
    for epsilon in (0.1, 0.5, 1.5):
        truth = shuffled.shuffled_delta(law, (0, 1), [2] * (users - 1), epsilon)
        assert TwoCellGame(2.0, 4, users).delta(epsilon) >= truth


@pytest.mark.parametrize(("claimed", "exact"), [(0.5, 0.212), (1.0, 0.442)])
def test_the_slack_of_the_closed_form(claimed, exact):
    settings = hashing_settings(PublishedTarget(claimed, 10**6, 1e-9))
    found = TwoCellGame(settings.local, settings.buckets, 10**6).epsilon(1e-9)
    ours = Blanket(settings.local, 1 / settings.buckets).epsilon(10**6, 0, 1e-9)
    print("claimed", claimed, "game", found, "accountant", ours)
    assert found == pytest.approx(exact, abs=2e-3)
    assert 2.2 <= claimed / found <= 3.1
    assert ours <= found


def binary_delta(local, users, epsilon):
    """Return the exact delta of binary randomised response; all others hold 0."""
    p, q = GRR(local, 2).p, GRR(local, 2).q
    ones = np.arange(users)
    others = binom.pmf(ones, users - 1, q)
    first = np.convolve(others, [1 - p, p])
    second = np.convolve(others, [1 - q, q])
    return max(
        np.maximum(0.0, first - exp(epsilon) * second).sum(),
        np.maximum(0.0, second - exp(epsilon) * first).sum(),
    )


def test_binary_randomised_response_under_all_three_bounds():
    """Of two values the others' true answers hide as well, which no blanket counts."""
    exact = 0.047  # rounded
    assert binary_delta(3.0, 10**5, exact + 5e-4) < 1e-6 < binary_delta(3.0, 10**5, exact - 5e-4)
    game = TwoCellGame(3.0, 2, 10**5).epsilon(1e-6)
    ours = Blanket(3.0, 0.5).epsilon(10**5, 0, 1e-6, 24)
    balle = closed_forms.balle(3.0, 2, 10**5, 1e-6)
    cheu = closed_forms.cheu(3.0, 10**5, 1e-6)
    print("exact", exact, "ours", ours, "game", game, "BBGN", balle, "CSUZZ", cheu)
    assert ours == pytest.approx(0.0657, abs=5e-4)
    assert balle == pytest.approx(0.207, abs=5e-4)
    assert cheu == pytest.approx(0.320, abs=5e-4)
    assert exact < ours < game < balle < cheu


@pytest.mark.parametrize(("local", "size"), [(1.0, 2), (2.0, 16), (3.0, 4)])
def test_the_closed_form_holds_for_ten_thousand_people(local, size):
    """An audit without sampling: at the claimed epsilon, delta is at most the claimed one."""
    claimed = closed_forms.balle(local, size, 10**4, 1e-6)
    assert TwoCellGame(local, size, 10**4).delta(claimed) <= 1e-6
    assert Blanket(local, 1 / size).delta(10**4, 0, claimed) <= 1e-6


def test_beyond_an_epsilon_of_one_the_closed_form_can_be_false():
    """At a claimed (5, 1e-9) the game has a delta of 6e-6; so the form is refused there."""
    users = 10**6
    odds = 25 * (users - 1) / (14 * np.log(2e9)) - 1
    local = float(np.log(odds))
    assert exp(local) == pytest.approx(odds)
    assert TwoCellGame(local, 2, users).delta(5.0) > 1e-6
