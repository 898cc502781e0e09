"""Advice about searches for long values agrees with what searches find."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.lab.aggregate import draw_answer, numbers_of
from sottovoce.lab.populations.real_tables import holders, value_counts
from sottovoce.plans.heavy_hitters.advice import advise_values
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters


def test_more_users_find_rarer_values_with_the_square_root_of_their_number():
    shares = [advise_values(users, 64, 2.0).findable for users in (10**6, 4 * 10**6)]
    assert shares[0] / shares[1] == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("searches", [20, pytest.param(200, marks=pytest.mark.papers)])
def test_a_findable_value_is_found_nineteen_times_in_twenty(searches):
    """A value of just that share, alone among strangers: found in at least 0.95 of the searches,
    less 5 sigma.
    """
    users, bits, epsilon = 20_000, 24, 2.0
    share = advise_values(users, bits, epsilon, top=4).findable
    task = sv.Task("one", HeavyHitters(Bits(bits), 4), epsilon)
    found = 0
    for seed in range(searches):
        values = np.random.default_rng(seed).integers(1 << bits, size=users)
        values[: round(share * users)] = 0xC0FFEE
        found += "0xc0ffee" in sv.simulate(task, values, seed=seed).labels
    assert found / searches > 0.95 - 5 * np.sqrt(0.95 * 0.05 / searches)
    rare = 0
    for seed in range(searches // 5):
        values = np.random.default_rng(seed).integers(1 << bits, size=users)
        values[: round(share * users / 5)] = 0xC0FFEE
        rare += "0xc0ffee" in sv.simulate(task, values, seed=seed).labels
    assert rare < searches / 10


def test_nothing_is_promised_that_more_frequent_prefixes_could_crowd_out():
    assert advise_values(10**9, 48, 4.0).findable == 1 / 256
    assert advise_values(10**9, 16, 4.0).findable < 1 / 256  # one group: nothing is followed


@pytest.mark.parametrize("table", ["english_words", "packages"])
def test_the_promise_holds_for_real_texts(table):
    """Of the promised texts at least 0.95 are found, less 5 sigma; some are promised."""
    plan = HeavyHitters(Strings(12))
    task = sv.Task("words", plan, 4.0)
    held = holders(value_counts(table), 10**6)
    cut = {plan.domain.label(_number(plan.domain, text)): 0 for text in held}
    for text, count in held.items():
        cut[plan.domain.label(_number(plan.domain, text))] += count
    ranked = sorted(cut, key=lambda text: -cut[text])[: plan.top]
    findable = plan.advise(10**6, 4.0).findable
    promised = [text for text in ranked if cut[text] >= findable * 10**6]
    found = sum(len(set(promised) & set(draw_answer(task, held, seed).labels)) for seed in range(4))
    print("found", found, "of", 4 * len(promised), "promised")
    assert len(promised) >= 5
    share = found / (4 * len(promised))
    assert share > 0.95 - 5 * np.sqrt(0.95 * 0.05 / (4 * len(promised)))


def _number(domain, text):
    return numbers_of(domain.indices([text]))[0]


def test_the_users_needed_make_the_share_findable():
    needed = advise_values(10**6, 160, 2.0, share=0.01).users_needed
    assert advise_values(needed, 160, 2.0).findable <= 0.01
    assert advise_values(int(0.98 * needed), 160, 2.0).findable > 0.01


def test_a_hopeless_search_says_so():
    assert advise_values(100, 160, 0.1).findable is None


def test_advice_is_plain_data():
    advice = advise_values(10**5, 48, 1.0)
    assert advice.to_dict()["plan"] == "HeavyHitters"
    assert '"findable"' in advice.to_json()


@pytest.mark.parametrize(
    ("name", "setting"), [("users", 10), ("share", 0.0), ("share", 1.5), ("epsilon", 0.0)]
)
def test_an_impossible_setting_is_refused_by_its_name(name, setting):
    settings = {"users": 10_000, "bits": 48, "epsilon": 1.0, name: setting}
    with pytest.raises(ParameterError, match=f"`{name}`"):
        advise_values(**settings)
