"""Distributions: shape, mean, variance and quantiles from Square Wave reports."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DomainError, ParameterError
from sottovoce.wire import codec

HOURS = np.random.default_rng(1).beta(2, 5, 100_000) * 24
TASK = sv.Task("hours", sv.Distribution(0, 24, 128), epsilon=1.0)
ANSWER = sv.simulate(TASK, HOURS, seed=2)


def test_figures_lie_within_their_errors():
    """Four stated errors: they come from a bootstrap, and smoothing has a bias."""
    truth = {"mean": HOURS.mean(), "variance": HOURS.var()}
    truth |= {
        f"{100 * share:g} %": np.quantile(HOURS, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)
    }
    measures = ANSWER.measures()
    for name, figure in measures.figures.items():
        assert abs(figure.total - truth[name]) < 4 * figure.error, (name, figure, truth[name])
    assert ANSWER.estimate.steps == ("ems", "bootstrap")
    assert "ems then bootstrap" in str(ANSWER)


def test_the_shape_is_found():
    """Total variation from the true histogram; the uniform distribution, which knows nothing, is
    far off.
    """
    truth = np.histogram(HOURS, ANSWER.edges)[0] / len(HOURS)
    assert np.abs(ANSWER.estimate.frequencies - truth).sum() / 2 < 0.06
    assert np.abs(1 / 128 - truth).sum() / 2 > 0.3
    assert ANSWER.estimate.frequencies.sum() == pytest.approx(1)


def test_quantiles_are_ordered_and_need_a_share():
    quantiles = [ANSWER.quantile(share).total for share in (0.01, 0.3, 0.6, 0.99)]
    assert quantiles == sorted(quantiles)
    for share in (0, 1, -0.1, 2):
        with pytest.raises(ParameterError):
            ANSWER.quantile(share)


def test_another_level_keeps_the_kind_of_answer():
    assert ANSWER.at(0.5).quantile(0.5).total == ANSWER.quantile(0.5).total
    assert len(ANSWER.at(0.5).rows()) == 128


def test_documents_clients_and_refusals():
    assert codec.task(codec.parse(codec.canonical(codec.document(TASK)))) == TASK
    with pytest.raises(DomainError):
        TASK.plan.domain.indices([24.1])
    client = sv.Client(TASK, ":memory:")
    assert len(client.answer(24.0)) == 45  # 128 buckets and their surroundings fit one byte
    clamped = sv.Client(
        sv.Task("hours", sv.Distribution(0, 24, 128, clamped=True), epsilon=1.0), ":memory:"
    )
    clamped.answer(30.0)


def test_ranges_are_counted_with_bounds_that_allow_for_false_reports():
    """The likelihood's interval holds the truth, and the attacked one holds the interval."""
    day = ANSWER.labels[:64]
    total = ANSWER.sum(day)
    low, high = total.interval()
    assert low < np.count_nonzero(HOURS < 12) < high
    assert total.error == pytest.approx((high - low) / (2 * 1.959964), rel=1e-6)
    low_attacked, high_attacked = total.attacked(0.95, 0.01)
    assert low_attacked <= low < high <= high_attacked
    apart = ANSWER.sum([ANSWER.labels[0], ANSWER.labels[64]])
    assert apart.attacked(0.95, 0.01) is None  # the band bounds neighbours alone
    assert apart.interval()[0] < apart.total < apart.interval()[1]


def test_quantiles_have_intervals_by_likelihood_and_bounds_that_hold_them():
    for share in (0.05, 0.5, 0.95):
        figure = ANSWER.quantile(share)
        low, high = figure.interval(0.95)
        assert low <= np.quantile(HOURS, share) <= high
        narrow = figure.interval(0.5)
        assert low <= narrow[0] <= figure.total <= narrow[1] <= high
        low_attacked, high_attacked = figure.attacked(0.95, 0.01)
        assert low_attacked <= low < high <= high_attacked
    assert "quantiles and ranges by the likelihood" in ANSWER.about["intervals"]


def test_plain_data_has_buckets_and_measures():
    content = ANSWER.to_dict()
    assert len(content["rows"]) == 128
    assert content["rows"][0]["value"] == "0 to 0.1875"
    assert [row["value"] for row in content["measures"]][:3] == ["mean", "variance", "5 %"]


def test_the_density_is_drawn_with_its_band(tmp_path):
    ANSWER.plot(tmp_path / "hours.png", truth=TASK.plan.truth(HOURS, ANSWER)[ANSWER.name])
    assert (tmp_path / "hours.png").stat().st_size > 10_000


@pytest.mark.parametrize("buckets", [1, 2.5])
def test_an_impossible_number_of_buckets_is_named(buckets):
    with pytest.raises(ParameterError, match="`buckets` must be a whole number from 2 to 2"):
        sv.Distribution(0.0, 1.0, buckets)
