"""What is shown of long answers."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.answers.summary import bands, shown


def answer(domain, users=3_000, seed=1, epsilon=1.0):
    task = sv.Task("t", sv.Histogram(domain), epsilon)
    held = [domain[index] for index in np.random.default_rng(seed).integers(0, len(domain), users)]
    return sv.simulate(task, held, seed=seed)


def test_categories_are_the_most_frequent_first():
    rows = shown(answer([f"v{index}" for index in range(50)]), 7)
    assert len(rows) == 7
    assert [row["estimate"] for row in rows] == sorted(
        (row["estimate"] for row in rows), reverse=True
    )


def test_a_short_range_keeps_its_order():
    assert [row["value"] for row in shown(answer(range(5)), 7)] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("domain", "first", "last", "bands"),
    [
        (range(18, 100), "18–19", "90–99", 9),
        (range(-30, 31), "-30–-21", "30", 7),
        (range(1000), "0–99", "900–999", 10),
    ],
)
def test_a_long_range_is_shown_in_round_bands(domain, first, last, bands):
    rows = shown(answer(domain), 30)
    assert (rows[0]["value"], rows[-1]["value"], len(rows)) == (first, last, bands)
    assert [member for row in rows for member in row["members"]] == [
        str(number) for number in domain
    ]


def test_a_band_errs_as_its_interval_says():
    """The spread of 300 standardised errors is 1 within five of its own standard errors."""
    users, task = 2_000, sv.Task("t", sv.Histogram(range(60)), 1.0)
    held = np.random.default_rng(3).integers(0, 60, users)
    truth = np.bincount(held, minlength=60)[:5].sum()
    rows = [shown(sv.simulate(task, held, seed=seed), 30)[0] for seed in range(300)]
    assert {row["value"] for row in rows} == {"0–4"}
    scores = [(row["estimate"] - truth) / row["error"] for row in rows]
    assert abs(np.std(scores) - 1) < 5 / np.sqrt(2 * len(rows)), np.std(scores)
    assert abs(np.mean(scores)) < 5 / np.sqrt(len(rows)), np.mean(scores)


def test_bands_are_sums_with_the_errors_of_sums():
    long = answer(range(18, 100), epsilon=2.0)
    rows = long.bands(20)
    assert [row["value"] for row in rows][:2] == ["18–19", "20–24"]
    assert len(rows) <= 20
    second = long.sum(map(str, range(20, 25)))
    assert (rows[1]["estimate"], rows[1]["error"]) == (second.total, second.error)
    assert (rows[1]["low"], rows[1]["high"]) == second.interval(long.level)
    as_if_independent = np.sqrt((long.estimate.errors[2:7] ** 2).sum())
    assert second.error != pytest.approx(as_if_independent, rel=1e-6)


def test_what_is_no_long_range_keeps_its_rows():
    for domain in (range(5), [f"v{index}" for index in range(50)]):
        short = answer(domain)
        assert bands(short, 10) == short.rows()
