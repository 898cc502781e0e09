"""Wang 2021, chapter 5: experiments with sets, on stand-ins for the published transactions (Figures
5.3 to 5.8).

Windows surround what was measured on the same stand-ins by an independent implementation.  Searches
follow the published protocol to the letter, without the guard on the correction.

`make test` asks a tenth of the users with twice the epsilon.  The variance of a share is about 4
e^epsilon / ((e^epsilon - 1)^2 users), so that this loses as much to noise as all users do at
epsilon 2; the same windows hold.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.baselines.ldpminer import Miner
from sottovoce.lab.populations.transactions import KOSARAK, ONLINE, POS, top_items, top_itemsets
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.truth.metrics import ncr, squared_error
from sottovoce.plans.itemsets.itemsets import Itemsets
from sottovoce.plans.itemsets.top_items import TopItems

TOP = 64
RUNS = 2


@dataclass(frozen=True)
class Setting:
    """How many of a shop's users are asked, and the epsilon that stands for a published one."""

    share: float
    scale: float

    def baskets(self, shop):
        return shop.baskets(seed=1, users=round(self.share * shop.users))

    def epsilon(self, published):
        return self.scale * published


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(Setting(0.105, 2.0), id="a tenth of the users"),
        pytest.param(Setting(1.0, 1.0), id="all users", marks=pytest.mark.papers),
    ],
)
def setting(request):
    return request.param


@pytest.fixture(scope="module")
def sales(setting):
    return setting.baskets(POS)


@pytest.fixture(scope="module")
def items(sales):
    return top_items(sales, POS.items, TOP)


@pytest.fixture(scope="module")
def sets(sales):
    return top_itemsets(sales, POS.items, TOP)


def scored(truth, searches):
    """The mean normalised cumulative rank, number of hits, and squared error of what was found."""
    scores = [
        (ncr(list(truth), list(found)), len(set(truth) & set(found)), squared_error(truth, found))
        for found in searches
    ]
    return np.mean(scores, axis=0)


def named(answer):
    """What a plan found, as the laboratory's baselines return it."""
    sets = (tuple(int(item) for item in label.split(" + ")) for label in answer.labels)
    return dict(zip(sets, answer.estimate.totals.tolist(), strict=True))


def searched(plan, epsilon, baskets, runs=RUNS):
    task = sv.Task("search", plan, epsilon)
    return [named(sv.simulate(task, baskets, seed=seed)) for seed in range(runs)]


def climbed(number, epsilon, baskets, runs=RUNS, shop=POS):
    return [
        Miner(shop.items, TOP, epsilon).mine(number, baskets, SeededRng(seed))
        for seed in range(runs)
    ]


@pytest.fixture(scope="module")
def ours(setting, sales, items):
    """SVIM at epsilon 2, by the plan that a service runs."""
    plan = TopItems(range(POS.items), TOP, paper=True)
    return scored(items, searched(plan, setting.epsilon(2.0), sales))


@pytest.fixture(scope="module")
def ladder(setting, sales, items):
    """All six protocols at epsilon 2."""
    epsilon = setting.epsilon(2.0)
    return {number: scored(items, climbed(number, epsilon, sales)) for number in range(1, 7)}


def test_svim_finds_most_of_the_top_items(ours):
    """Figure 5.3: around 45 of the top 64 at epsilon 2."""
    rank, hits, _ = ours
    assert 0.77 <= rank <= 0.90, rank
    assert 38 <= hits <= 50, hits


def test_ldpminer_finds_few_of_them(ours, ladder):
    """Figure 5.3: around 12 of the top 64, with errors larger by orders of magnitude."""
    rank, hits, error = ladder[1]
    assert rank <= 0.48, rank
    assert ours[1] >= 2.2 * hits, (ours[1], hits)
    assert error >= 300 * ours[2], (error, ours[2])


def test_the_plan_and_the_last_rung_are_one_protocol(ours, ladder):
    assert ladder[6][0] == pytest.approx(ours[0], abs=0.06)
    assert 1 / 4 < ladder[6][2] / ours[2] < 4


def test_the_adaptive_oracle_is_the_largest_step(ladder):
    """Figure 5.3: the error of the third protocol falls by two orders of magnitude, from (2k)^2 to
    2k.
    """
    assert ladder[3][2] >= 100 * ladder[4][2], (ladder[3][2], ladder[4][2])
    steps = {number: ladder[number + 1][0] - ladder[number][0] for number in range(1, 6)}
    assert max(steps, key=steps.get) == 3, steps


def test_hashing_and_a_length_of_one_find_more_but_do_not_estimate_better(ladder):
    """Figure 5.3: the first two steps raise the rank and leave the error within a factor of
    three.
    """
    assert ladder[1][0] < ladder[2][0] < ladder[3][0]
    assert 1 / 3 < ladder[3][2] / ladder[1][2] < 3


def test_padding_no_further_than_needed_and_the_correction_lower_the_error(ladder):
    assert ladder[4][2] > ladder[5][2] > ladder[6][2]


def test_at_epsilon_4_the_correction_lowers_the_error(setting, sales, items):
    epsilon = setting.epsilon(4.0)
    before, after = (scored(items, climbed(number, epsilon, sales)) for number in (5, 6))
    assert after[2] < before[2], (after, before)
    assert after[0] >= 0.95


def test_the_original_ldpminer_is_worse_still(setting, sales, items, ladder):
    """Half of epsilon for each phase of everybody costs more than half of the users."""
    miner = Miner(POS.items, TOP, setting.epsilon(2.0))
    rank, _, _ = scored(items, [miner.original(sales, SeededRng(seed)) for seed in range(RUNS)])
    assert rank < ladder[1][0]


def test_many_more_items_are_harder(setting, ours):
    """Figure 5.6: Kosarak, with 41,270 items, is worse than the others (measured elsewhere: .72
    against .83).
    """
    baskets = setting.baskets(KOSARAK)
    truth = top_items(baskets, KOSARAK.items, TOP)
    rank, _, _ = scored(truth, climbed(6, setting.epsilon(2.0), baskets, runs=1, shop=KOSARAK))
    assert 0.62 <= rank < ours[0], rank


def test_another_shop_comes_out_as_elsewhere(setting):
    """Figure 5.7: the same search on sets of another shape, .73; one run, so the window is wide."""
    baskets = setting.baskets(ONLINE)
    truth = top_items(baskets, ONLINE.items, TOP)
    rank, _, _ = scored(truth, climbed(6, setting.epsilon(2.0), baskets, runs=1, shop=ONLINE))
    assert rank == pytest.approx(0.73, abs=0.1)


@pytest.fixture(scope="module")
def mined(setting, sales, sets):
    """SVSM at epsilon 1 and 2."""
    plan = Itemsets(range(POS.items), TOP, paper=True)
    return {
        epsilon: scored(sets, searched(plan, setting.epsilon(epsilon), sales))
        for epsilon in (1.0, 2.0)
    }


def test_the_top_is_made_of_items_pairs_and_triples(sets):
    assert [sum(len(chosen) == size for chosen in sets) for size in (1, 2, 3)] == pytest.approx(
        [26, 30, 8], abs=3
    )


@pytest.mark.papers
def test_svsm_finds_most_of_the_top_sets(mined):
    """Figure 5.4: .7 at epsilon 1, .9 at epsilon 2."""
    assert 0.58 <= mined[1.0][0] <= 0.80, mined
    assert mined[2.0][0] >= 0.85, mined


def test_ldpminer_finds_few_of_the_top_sets(setting, mined, sales, sets):
    """Figure 5.4: around .2 at epsilon 2, seven times fewer, with an error two orders of magnitude
    larger.
    """
    miner = Miner(POS.items, TOP, setting.epsilon(2.0))
    searches = [miner.itemsets(sales, SeededRng(seed)) for seed in range(RUNS)]
    rank, hits, error = scored(sets, searches)
    assert rank <= 0.35, rank
    assert mined[2.0][1] >= 4 * hits, (mined, hits)
    assert error >= 100 * mined[2.0][2], (error, mined)
