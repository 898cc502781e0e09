"""Means: from numbers on devices to one number with its interval."""

from statistics import NormalDist

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import CodecError, DomainError, NoDataError, ParameterError
from sottovoce.mechanisms.hybrid import Hybrid
from sottovoce.plans.numbers.mean import WIDE
from sottovoce.wire import codec

AGES = np.random.default_rng(1).beta(2, 5, 100_000) * 120


@pytest.mark.parametrize("kind", ["hybrid", "piecewise", "duchi", *WIDE])
def test_every_mechanism_for_means_finds_the_mean(kind):
    answer = sv.simulate(sv.Task("age", sv.Mean(0, 120, kind), epsilon=1.0), AGES, seed=2)
    assert abs(answer["mean"].total - AGES.mean()) < 5 * answer["mean"].error
    assert answer.users == 100_000
    assert answer.epsilon == 1.0


def test_a_mechanism_for_distributions_is_refused():
    with pytest.raises(ParameterError, match="`mechanism` of a mean"):
        sv.Task("age", sv.Mean(mechanism="square_wave", domain=Numbers(0, 120, 1024)), epsilon=1.0)


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_mechanism_stands_in_the_document_and_errs_less(name):
    """A task that names a kind, or nothing, asks what it always asked."""
    task = sv.Task("age", sv.Mean(0, 120, name), epsilon=4.0)
    content = codec.document(task)
    assert content["plan"]["mechanism"] == name
    assert codec.task(codec.parse(codec.canonical(content))) == task
    assert task.opening.ask.mechanism == WIDE[name](4.0, task.plan.domain.size)
    default = sv.Task("age", sv.Mean(0, 120), epsilon=4.0)
    assert default.opening.ask.mechanism == Hybrid(4.0, task.plan.domain.size)
    few = AGES[:20_000]
    errors = [sv.simulate(each, few, seed=5)["mean"].error for each in (task, default)]
    assert errors[0] < 0.93 * errors[1]


def test_a_plan_over_another_kind_of_domain_is_refused():
    content = codec.document(sv.Task("age", sv.Mean(0, 120), epsilon=1.0))
    buckets = codec.document(sv.Task("age", sv.Distribution(0, 120, 64), epsilon=1.0))["domain"]
    with pytest.raises(CodecError, match="numbers was expected"):
        codec.task({**content, "domain": buckets})


def test_intervals_of_means_cover_as_often_as_they_say():
    """The truth is the mean of these very people; intervals also allow for drawing them, and so
    cover a little more.
    """
    task, people, runs = sv.Task("age", sv.Mean(0, 120), epsilon=2.0), AGES[:2000], 600
    figures = [sv.simulate(task, people, seed=seed)["mean"] for seed in range(runs)]
    noise = task.opening.ask.mechanism.variance(task.plan.domain.indices(people)).mean() * 60**2
    expected = 2 * NormalDist().cdf(1.959964 * np.sqrt(1 + people.var() / noise)) - 1
    sigma = np.sqrt(expected * (1 - expected) / runs)

    def covered(width):
        return np.mean(
            [
                abs(figure.total - people.mean()) <= width * 1.959964 * figure.error
                for figure in figures
            ]
        )

    assert abs(covered(1.0) - expected) < 5 * sigma
    assert abs(covered(0.75) - expected) > 5 * sigma  # intervals a quarter too narrow are caught


def test_real_devices_send_whole_numbers_of_one_length():
    task = sv.Task("age", sv.Mean(0, 120), epsilon=1.0)
    sent = [sv.Client(task, ":memory:").answer(float(age)) for age in AGES[:300]]
    assert {len(message) for message in sent} == {47}
    assert sv.answer(task, sent).users == 300
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task


@pytest.mark.parametrize("value", [-0.001, 120.001, float("nan"), float("inf"), "40", None, True])
def test_numbers_outside_are_refused_by_the_domain_and_answered_like_others_by_a_device(value):
    task = sv.Task("age", sv.Mean(0, 120), epsilon=1.0)
    with pytest.raises(DomainError):
        task.plan.domain.indices([value])
    client = sv.Client(task, ":memory:")
    assert len(client.answer(value)) == 47
    assert client.ledger.spent == 1.0


def test_a_task_that_says_so_moves_numbers_to_its_ends():
    task = sv.Task("age", sv.Mean(0, 50, clamped=True), epsilon=4.0)
    answer = sv.simulate(task, AGES, seed=3)
    assert abs(answer["mean"].total - AGES.clip(0, 50).mean()) < 5 * answer["mean"].error
    with pytest.raises(DomainError):
        task.plan.domain.indices([float("nan")])


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1), (-1e308, 1e308)]
)
def test_an_impossible_range_is_refused(low, high):
    with pytest.raises(ParameterError):
        sv.Mean(low, high)


def test_a_mean_of_nobody_and_of_a_mechanism_for_labels_are_refused():
    with pytest.raises(NoDataError):
        sv.simulate(sv.Task("age", sv.Mean(0, 120), epsilon=1.0), [], seed=1)
    with pytest.raises(ParameterError, match="must randomise numbers"):
        sv.Task("age", sv.Mean(0, 120, "grr"), epsilon=1.0)
    with pytest.raises(ParameterError, match="randomises numbers"):
        sv.Task("pets", sv.Histogram(["cat", "dog"], "duchi"), epsilon=1.0)


def test_every_form_of_the_answer_says_the_same():
    answer = sv.simulate(sv.Task("age", sv.Mean(0, 120), epsilon=1.0), AGES[:1000], seed=4)
    (row,) = answer.rows()
    assert answer.to_dict()["rows"] == [row]
    assert answer.to_csv().splitlines()[1].startswith(f"mean,{row['estimate']}")
    assert "1,000 users, epsilon 1, raw, hybrid" in str(answer)
    assert answer.at(0.99).rows()[0]["low"] < row["low"]
