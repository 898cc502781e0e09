"""The experiments on poisoned numbers, at sizes of every day."""

from pathlib import Path

import numpy as np
import pytest

from sottovoce.lab.experiments.byzantine_numbers import (
    BOTH_SIDES,
    DECODERS,
    PRICED,
    Setting,
    clean_populations,
    coverage,
    decoded,
    drawn,
    false_alarms,
    found_share,
    group_price,
    power,
    single,
)

SMALL = Setting(epsilon=0.5, users=4_000, buckets=32)


def test_a_collection_has_the_groups_and_reports_of_its_users():
    drawing = drawn(SMALL, seed=1)
    assert [group.reports for group in drawing.groups] == [1, 2, 4, 8]
    assert sum(group.users for group in drawing.groups) == 4_000
    for group in drawing.groups:
        assert group.observed.reports[0] == group.users * group.reports
    assert drawing.truth.sum() == pytest.approx(1)


def test_attackers_of_a_group_send_as_many_reports_as_others():
    """A quarter of the reports of every group lies in the two segments beyond the honest ones."""
    drawing = drawn(Setting(epsilon=0.5, users=20_000, buckets=32), seed=0)
    for group in drawing.groups:
        segment = np.arange(group.observed.outputs) * 8 // group.observed.outputs
        share = group.observed.counts[0, np.isin(segment, BOTH_SIDES[0])].sum()
        assert share / group.observed.reports[0] > 0.35  # 0.25 and nearly a quarter of the others


def test_liars_change_no_law():
    honest, lying = (drawn(Setting(**COMMON, lie=lie), seed=2) for lie in (False, True))
    assert honest.truth.shape == lying.truth.shape
    assert lying.groups[0].observed.reports[0] == lying.groups[0].users


COMMON = {"epsilon": 0.5, "users": 2_000, "buckets": 16}


def test_every_decoder_returns_a_distribution_of_every_collection():
    first, second = (drawn(SMALL, seed=seed) for seed in (1, 2))
    found, swapped = decoded([first, second]), decoded([second, first])
    assert tuple(found) == DECODERS
    for name, shares in found.items():
        assert shares.sum(axis=1) == pytest.approx([1, 1])
        assert shares.min() >= 0
        np.testing.assert_allclose(shares, swapped[name][::-1], rtol=1e-9)
        assert np.abs(shares[0] - shares[1]).max() > 1e-3


def test_a_collection_is_decoded_among_others_as_it_is_alone():
    drawing = drawn(SMALL, seed=1)
    alone, twice = decoded([drawing]), decoded([drawing, drawing])
    for name, shares in twice.items():
        np.testing.assert_allclose(shares, np.repeat(alone[name], 2, axis=0), rtol=1e-9)


def test_one_report_each_shows_the_share():
    assert single(SMALL, 1).reports[0] == 4_000
    found = found_share(Setting(epsilon=1 / 16, users=20_000, buckets=32), seed=1)
    assert found == pytest.approx(0.25, abs=0.04)


def test_honest_populations_raise_no_alarm():
    found = false_alarms(runs=1, sizes=(100, 30_000))
    print(f"{found.alarms} of {found.tested}: largest {found.largest:.1f} of {found.threshold:.1f}")
    assert found.tested == 5 * 2 * len(clean_populations(16))
    assert found.alarms == 0


def test_the_test_has_power_where_it_should():
    assert power(1 / 16, 0.1, runs=2) == 1.0
    assert power(4.0, 0.005, runs=2) == 0.0


def test_intervals_of_the_mean_cover_where_little_is_known():
    """1,000 people at epsilon 0.25: smoothing hides the shape, and the interval must not.

    Of 20 intervals that cover with a probability of 0.95, fewer than 14 do with one of 1e-4.
    """
    found = coverage(Setting(epsilon=0.25, share=0.0, users=1_000, buckets=16), runs=20)
    print(found)
    assert found["mean"] >= 14 / 20


def test_groups_of_categories_cost_many_times_the_people():
    """The page and its decision say: 3.1 to 21 times as many at epsilon 1, exactly computed."""
    ratios = [group_price(size, 1.0).ratio for size in (4, 15, 64)]
    assert ratios == pytest.approx([3.062399, 5.747667, 21.020819], rel=1e-6)
    price = group_price(15, 1.0)
    assert (price.kind, round(price.influence, 1), round(price.chosen_influence, 1)) == (
        "subset",
        9.1,
        3.0,
    )


def test_the_committed_page_has_the_prices():
    page = (Path(__file__).parents[3] / "docs" / "evidence" / "byzantine-numbers.md").read_text()
    for size, epsilon in PRICED:
        price = group_price(size, epsilon)
        assert f"| {size} | {epsilon:g} | {price.graded:.2f} | {price.single:.2f} " in page
