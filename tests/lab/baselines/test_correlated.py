"""The plan for correlated attributes: what it asks, what it is charged, and how far off its answers
are.
"""

from math import exp, log

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.encodings.view import View
from sottovoce.errors import ConcernWarning, NoDataError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.baselines.attribute_groups import Grouping, allocate
from sottovoce.lab.baselines.correlated import PAIRWISE, TABLE, Correlated
from sottovoce.lab.baselines.correlation_bounds import Ties, audit
from sottovoce.lab.baselines.waiver import WaivedQuestion
from sottovoce.lab.checks import worst_log_ratio
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address, Question

REASON = "The attributes were public before; see our assessment of March."
SIGMAS = 5


def rates(count, rate):
    return [[1.0 if i == j else rate for j in range(count)] for i in range(count)]


def bits(count):
    return {f"a{place}": ["no", "yes"] for place in range(count)}


def columns(people):
    return {
        f"a{place}": np.where(column == 1, "yes", "no") for place, column in enumerate(people.T)
    }


def correlated(users, count, shown, seed, share=0.5):
    """People whose attributes equal one hidden bit with probability ``shown`` each."""
    dice = np.random.default_rng(seed)
    hidden = dice.random((users, 1)) < share
    return ((dice.random((users, count)) < shown) == hidden).astype(np.int64)


def test_a_report_is_randomised_with_the_chance_of_its_cluster():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    (question,) = plan.questions
    assert question.mechanism.keeps[0] / exact.UNIT == pytest.approx(0.612373661446, abs=1e-9)
    assert len(set(question.mechanism.keeps)) == 1
    assert question.encoding == View((0, 1, 2), (2, 2, 2))


def test_the_cost_of_a_record_is_the_sum_of_all_logits_exactly():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    mechanism = plan.questions[0].mechanism
    keep = mechanism.keeps[0] / exact.UNIT
    assert worst_log_ratio(mechanism) == pytest.approx(3 * log(keep / (1 - keep)), abs=1e-12)
    assert plan.epsilon_record == pytest.approx(worst_log_ratio(mechanism), abs=1e-12)
    assert plan.epsilon_record == pytest.approx(1.3719, abs=5e-5)
    assert exact.log(mechanism.worst_ratio) <= exact.stated(plan.epsilon_record)


def test_a_task_is_charged_the_cost_of_the_record():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    task = sv.Task("habits", plan, plan.epsilon_record)
    assert task.opening.epsilon == plan.epsilon_record > 1.37
    messages = crowd.messages(task, [{"a0": "no", "a1": "yes", "a2": "yes"}])
    assert sv.answer(task, messages)["a1"].estimate.users == 1


def test_no_device_answers_it():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    with pytest.raises(ParameterError, match="unknown mechanism kind"):
        sv.Client(sv.Task("habits", plan, plan.epsilon_record), ":memory:")


def test_a_task_that_states_only_the_weaker_epsilon_is_refused_and_told_the_price():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    with pytest.raises(
        ParameterError, match=f"at least {plan.epsilon_record!r}, the cost of a whole report"
    ):
        sv.Task("habits", plan, 1.0)


def test_independent_attributes_still_cost_their_sum():
    """Nobody is two disjoint people: budgets of one record add, whatever its attributes have to do
    with each other.
    """
    plan = Correlated(bits(4), 1.0, rates(4, 0.5))
    assert plan.epsilon_record == 4.0


def test_every_answer_carries_the_three_numbers():
    plan = Correlated(bits(4), 1.0, rates(4, 0.7), group=2)
    task = sv.Task("habits", plan, plan.epsilon_record)
    answers = sv.simulate(task, columns(correlated(2000, 4, 0.8, 1)), seed=1)
    for name in plan.domain.names:
        details = answers[name].about
        assert details["epsilon_udldp"] == 1.0
        assert details["epsilon_record"] == plan.epsilon_record
        assert details["assumption"] == PAIRWISE
        assert details["epsilon"] == task.epsilon
        assert len(details["asked_with"]) == 1
        share = details["error_of_noise"] * answers[name].estimate.population
        assert share < answers[name].estimate.errors[0]  # the drawing of users is not forgotten
    assert answers.to_json()


def test_groups_get_users_by_the_root_of_their_cost():
    pairs = rates(4, 0.5)
    for one, other in ((0, 1), (2, 3), (0, 3)):
        pairs[one][other] = pairs[other][one] = 0.95
    plan = Correlated(bits(4), 1.0, pairs, group=3)
    task = sv.Task("habits", plan, plan.epsilon_record)
    made = Grouping.greedy(Ties.of_agreements(pairs), (2,) * 4, 1.0, 3)
    assert isinstance(task.opening.ask, Choice)
    assert task.opening.ask.weights == allocate(made.costs, 10_000)
    assert len(set(task.opening.ask.weights)) == 2
    assert task.opening.ask.epsilon == plan.epsilon_record


def test_clusters_are_protected_as_if_alone_and_a_user_gets_one_group_of_each():
    own = Correlated(bits(4), 1.0, rates(4, 0.7), group=2)
    both = Correlated(bits(8), 1.0, rates(8, 0.7), clusters=((0, 1, 2, 3), (4, 5, 6, 7)), group=2)
    assert len(both.questions) == 4
    for question in both.questions:
        assert question.mechanism.keeps == own.questions[0].mechanism.keeps * 2
        assert sum(column < 4 for column in question.encoding.columns) == 2
    assert both.epsilon_record == pytest.approx(2 * own.epsilon_record, abs=1e-9)


def test_attributes_alone_in_a_cluster_spend_all_of_epsilon():
    plan = Correlated(bits(2), 1.5, rates(2, 0.9), clusters=((0,), (1,)))
    assert plan.epsilon_record == 3.0
    assert Correlated(bits(1), 1.5).epsilon_record == 1.5


def test_too_many_combinations_of_groups_are_refused():
    clusters = tuple(tuple(range(4 * place, 4 * place + 4)) for place in range(6))
    plan = Correlated(bits(24), 0.3, rates(24, 0.6), clusters=clusters, group=1)
    with pytest.raises(ParameterError, match="more than 1024 ways"):
        sv.Task("habits", plan, 5.0)


def test_weights_of_many_clusters_stay_small_enough_to_deal():
    clusters = tuple(tuple(range(2 * place, 2 * place + 2)) for place in range(8))
    plan = Correlated(bits(16), 0.3, rates(16, 0.6), clusters=clusters, group=1)
    ask = sv.Task("habits", plan, plan.epsilon_record).opening.ask
    assert len(ask.members) == 256
    assert sum(ask.weights) < 1 << 32


def test_a_record_that_would_cost_too_much_is_refused():
    plan = Correlated(bits(10), 3.0, rates(10, 0.5))
    with pytest.raises(ParameterError, match="must be smaller"):
        sv.Task("habits", plan, 20.0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"agreements": rates(2, 0.7)},
        {"agreements": rates(3, 0.7), "tables": [((0.25, 0.25), (0.25, 0.25))] * 3},
        {"agreements": rates(3, 0.7), "clusters": ((0, 1),)},
        {"agreements": rates(3, 0.7), "clusters": ((0, 1), (1, 2))},
        {"agreements": rates(3, 0.7), "clusters": ((1, 0), (2,))},
        {"agreements": rates(3, 0.7), "clusters": ((0, 1, 2), ())},
        {"agreements": rates(3, 0.7), "group": 4},
        {"agreements": rates(3, 0.7), "group": -1},
        {"agreements": rates(3, 0.7), "udldp": 0.0},
        {"tables": [((0.25, 0.25), (0.25, 0.25))] * 2},
        {"tables": [((0.25, 0.25), (0.25, 0.25))] * 4},
        {"agreements": rates(3, 0.7), "waiver": "too short"},
        {"agreements": rates(3, 0.7), "group": 1, "waiver": REASON},
    ],
)
def test_settings_that_do_not_fit_are_refused(settings):
    with pytest.raises(ParameterError):
        sv.Task("habits", Correlated(bits(3), **{"udldp": 1.0, **settings}), 20.0)


def test_agreements_are_for_two_values_and_tables_for_more():
    with pytest.raises(ParameterError, match="two values"):
        Correlated({"a": ["x", "y", "z"], "b": ["no", "yes"]}, 1.0, rates(2, 0.7))


def full_variance(plan, place, share, users, population):
    """What lemma 2 says of a share, the noise, and what it should: with the drawing of a group
    without replacement.
    """
    for question in plan.questions:
        if place in question.encoding.columns:
            keep = question.mechanism.keeps[question.encoding.columns.index(place)] / exact.UNIT
    noise = keep * (1 - keep) / (users * (2 * keep - 1) ** 2)
    drawing = share * (1 - share) / users * (population - users) / (population - 1)
    return noise, noise + drawing


@pytest.mark.parametrize("group", [0, 2, 1])
def test_shares_are_unbiased_and_their_variance_is_the_full_one(group):
    """400 collections of 1500 people; forgetting the drawing of users is noticed wherever there is
    one.
    """
    people, runs = correlated(1500, 4, 0.85, 2, share=0.3), 400
    plan = Correlated(bits(4), 4.0, rates(4, 0.75), group=group)
    task, truth = sv.Task("habits", plan, plan.epsilon_record), people.mean(axis=0)
    values, scores, noise_only = columns(people), [], []
    for seed in range(runs):
        answers = sv.simulate(task, values, seed=seed)
        for place, name in enumerate(plan.domain.names):
            estimate = answers[name].estimate
            noise, whole = full_variance(plan, place, truth[place], estimate.users, 1500)
            error = estimate.frequencies[1] - truth[place]
            scores.append(error / np.sqrt(whole))
            noise_only.append(error / np.sqrt(noise))
    z = np.array(scores).reshape(runs, 4)
    assert np.abs(z.mean(axis=0)).max() * np.sqrt(runs) < SIGMAS, z.mean(axis=0)
    assert np.abs((z**2).mean(axis=0) - 1).max() < SIGMAS * np.sqrt(2 / runs), (z**2).mean(axis=0)
    forgetful = (np.array(noise_only).reshape(runs, 4) ** 2).mean(axis=0)
    assert (np.abs(forgetful - 1).max() < SIGMAS * np.sqrt(2 / runs)) == (group == 0), forgetful


def test_the_stated_variance_is_the_full_one():
    people = correlated(3000, 4, 0.85, 2, share=0.3)
    plan = Correlated(bits(4), 4.0, rates(4, 0.75), group=2)
    answers = sv.simulate(sv.Task("habits", plan, plan.epsilon_record), columns(people), seed=1)
    for place, name in enumerate(plan.domain.names):
        estimate = answers[name].estimate
        share = float(np.clip(estimate.frequencies[1], 0, 1))
        _, whole = full_variance(plan, place, share, estimate.users, 3000)
        assert estimate.variance[1] == pytest.approx(whole * 3000**2, rel=1e-9)


def test_groups_are_estimated_among_their_own_users():
    """The broken twin divides by everybody: it would miss by the share of users that were asked."""
    people = correlated(20_000, 4, 0.9, 3, share=0.8)
    plan = Correlated(bits(4), 3.0, rates(4, 0.75), group=1)
    answers = sv.simulate(sv.Task("habits", plan, plan.epsilon_record), columns(people), seed=2)
    for place, name in enumerate(plan.domain.names):
        estimate = answers[name].estimate
        assert 4500 < estimate.users < 5500
        error = estimate.errors[1]
        assert abs(estimate.totals[1] - people[:, place].sum()) < SIGMAS * error
        assert abs(estimate.votes[1] - people[:, place].sum()) > SIGMAS * error


def test_attributes_of_several_values_are_estimated_by_their_tables():
    dice = np.random.default_rng(4)
    joint = np.array([[0.30, 0.05, 0.05], [0.02, 0.20, 0.08], [0.05, 0.05, 0.20]])
    cells = dice.choice(9, 20_000, p=joint.ravel())
    held = np.stack([cells // 3, cells % 3], axis=1)
    plan = Correlated({"left": ["a", "b", "c"], "right": range(3)}, 1.0, tables=[joint.tolist()])
    task = sv.Task("pairs", plan, plan.epsilon_record)
    answers = sv.simulate(
        task, {"left": np.array(["a", "b", "c"])[held[:, 0]], "right": held[:, 1]}, seed=3
    )
    for place, name in enumerate(("left", "right")):
        truth = np.bincount(held[:, place], minlength=3)
        z = (answers[name].estimate.totals - truth) / answers[name].estimate.errors
        assert np.abs(z).max() < SIGMAS, z
        assert answers[name].details["assumption"] == TABLE
    spent = plan.epsilon_record / 2
    assert max(audit(joint, [spent, spent]).attributes) == pytest.approx(1.0, abs=1e-9)


def test_records_too_wide_to_tally_are_read_as_they_are():
    people = correlated(4000, 24, 0.7, 5)
    plan = Correlated(bits(24), 1.0, rates(24, 0.58))
    assert not plan.questions[0].mechanism.has_tally
    answers = sv.simulate(sv.Task("habits", plan, plan.epsilon_record), columns(people), seed=4)
    z = [
        (answers[name].estimate.totals[1] - people[:, place].sum())
        / answers[name].estimate.errors[1]
        for place, name in enumerate(plan.domain.names)
    ]
    assert np.abs(z).max() < SIGMAS, z


def test_an_attribute_that_nobody_was_asked_about_has_no_answer():
    plan = Correlated(bits(4), 1.0, rates(4, 0.7), group=1)
    task = sv.Task("habits", plan, plan.epsilon_record)
    messages = crowd.messages(task, [dict.fromkeys(bits(4), "no")])
    with pytest.raises(NoDataError, match="has no reports yet"):
        sv.answer(task, messages)


def test_reports_of_the_two_worst_records_differ_by_the_record_and_not_by_the_claim():
    """A million reports of 000 and of 111: every ratio within its error of the sum of logits, and
    one reaches it.
    """
    plan = Correlated(bits(3), 1.0, rates(3, 0.8))
    mechanism, draws = plan.questions[0].mechanism, 1_000_000
    counts = [
        np.bincount(mechanism.privatize(np.full(draws, record), SeededRng(record + 1)), minlength=8)
        for record in (0, 7)
    ]
    errors = np.sqrt(1 / counts[0] + 1 / counts[1])
    ratios = np.abs(np.log(counts[1] / counts[0]))
    assert (ratios <= plan.epsilon_record + 4.5 * errors).all()
    assert abs(ratios[7] - plan.epsilon_record) < 4.5 * errors[7]
    assert (ratios > 1.0 + 4.5 * errors).any()  # the claimed epsilon is not that of the record


def test_with_a_waiver_the_weaker_epsilon_is_stated_and_the_true_one_told():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8), waiver=REASON)
    task = sv.Task("habits", plan, 1.0)
    question = task.opening.question(Address())
    assert isinstance(question, Question)
    assert (question.epsilon, question.waiver) == (1.0, REASON)
    assert question.epsilon_pure == pytest.approx(plan.epsilon_record, abs=1e-12)
    with pytest.warns(ConcernWarning, match="weaker than local differential privacy"):
        answers = sv.simulate(task, columns(correlated(1000, 3, 0.8, 1)), seed=1)
    assert answers["a0"].details["waiver"] == REASON
    assert "UDLDP only" in str(answers["a0"])
    assert answers["a0"].details["epsilon_record"] > 1.37
    with pytest.raises(ParameterError, match=r"at least 1\.0$"):
        sv.Task("habits", plan, 0.9)


def test_a_plan_shows_what_a_known_joint_distribution_leaks():
    """All pairs agree at 0.8 as stated, yet three together break the claim of 1, and so do two."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0], joint[1, 0, 0], joint[1, 0, 1], joint[1, 1, 0], joint[1, 1, 1] = (
        0.05,
        0.1,
        0.1,
        0.1,
        0.65,
    )
    (whole,) = Correlated(bits(3), 1.0, rates(3, 0.8)).audit(joint)
    assert max(whole.attributes) == pytest.approx(1.2207, abs=5e-5)
    pair, single = sorted(
        Correlated(bits(3), 1.0, rates(3, 0.8), group=2).audit(joint), key=lambda one: -one.record
    )
    assert max(pair.attributes) > 1.1
    assert single.attributes == pytest.approx((1.0,), abs=1e-9)
    with pytest.raises(ParameterError, match="one axis for every attribute"):
        Correlated(bits(3), 1.0, rates(3, 0.8)).audit(joint.sum(axis=0))


def test_only_groups_that_need_a_waiver_carry_it():
    plan = Correlated(bits(3), 1.0, rates(3, 0.8), group=2, waiver=REASON)
    waived = {len(one.encoding.columns): isinstance(one, WaivedQuestion) for one in plan.questions}
    assert waived == {1: False, 2: True}


def test_what_is_kept_follows_from_the_two_chances_of_direct_response():
    plan = Correlated(
        {"a": range(4), "b": range(2)}, 1.0, tables=[[[0.2, 0.05]] * 2 + [[0.05, 0.2]] * 2]
    )
    spent = plan.epsilon_record / 2
    keeps = [keep / exact.UNIT for keep in plan.questions[0].mechanism.keeps]
    assert keeps == pytest.approx(
        [exp(spent) / (exp(spent) + 3), exp(spent) / (exp(spent) + 1)], abs=1e-9
    )


def test_the_best_group_size_is_that_with_the_smallest_error():
    agreements = tuple(tuple(1.0 if i == j else 0.65 for j in range(8)) for i in range(8))
    domain = {f"a{number}": ["no", "yes"] for number in range(8)}
    plan = Correlated(domain, 6.0, agreements).with_best_group(10_000)
    errors = {
        size: Correlated(domain, 6.0, agreements, group=size).groupings[0].total(10_000)
        for size in range(1, 9)
    }
    assert plan.group == min(errors, key=errors.get) == 8
    strict = Correlated(domain, 0.5, agreements).with_best_group(10_000)
    assert 1 <= strict.group < 8
