"""Every published way to ask for marginals beside CALM, from the clients to the answer."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.engine import memory
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.baselines.marginals.baseline_marginals import METHODS, BaselineMarginals
from sottovoce.lab.baselines.parities import Parities
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.lab.populations.records import as_columns, movielens_like, record_domain, true_table
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import yes_counts
from sottovoce.tasks.question import Address, Question
from sottovoce.wire import envelope

LN3 = float(np.log(3))
EVERY = ("pooled", *METHODS)
UNBIASED = tuple(name for name, method in METHODS.items() if method.unbiased)
MIXED = {"pet": ["cat", "dog", "emu"], "age": range(5), "smokes": ["yes", "no"]}


def plan_of(method, domain, users, order):
    """Our own method or one of the baselines."""
    if method == "pooled":
        return Marginals(domain, users, order)
    return BaselineMarginals(domain, method, order, users)


def domain(attributes):
    return record_domain((2,) * attributes)


def shares(people, view):
    return true_table(people, (2,) * people.shape[1], view)


def planned(method, attributes=5, order=2, users=4096, epsilon=LN3):
    return sv.Task("joint", plan_of(method, domain(attributes), users, order), epsilon)


@pytest.mark.parametrize("epsilon", [0.1, LN3, 4.0])
@pytest.mark.parametrize(("attributes", "order"), [(2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("method", EVERY)
def test_the_whole_message_spends_epsilon_and_no_more(method, attributes, order, epsilon):
    """The law of member and report under every record: the worst ratio is e^epsilon exactly.

    A public coin too wide to list (local hashing, affine response) is fixed at a few seeds.
    """
    ask = planned(method, attributes, order, epsilon=epsilon).opening.ask
    records = np.array(list(product((0, 1), repeat=attributes)))
    members = (
        [ask.members[place] for place in range(len(ask.members))]
        if isinstance(ask, Choice)
        else [ask]
    )
    law = np.concatenate([_law(member, records) for member in members]) / len(members)
    np.testing.assert_allclose(law.sum(axis=0), law.sum(axis=0)[0], rtol=1e-12)
    ratio = (law.max(axis=1) / law.min(axis=1)).max()
    assert np.exp(epsilon) * (1 - 1e-9) <= ratio <= np.exp(epsilon) * (1 + 1e-9)


def _law(question, records):
    """(reports, records): the chance of every report of a question, given its public coin."""
    chances = question.mechanism.likelihood(question.mechanism.outcomes())
    return chances[:, question.encoding(records, None)] / round(chances[:, 0].sum())


def test_the_whole_budget_for_every_attribute_is_refused():
    """Broken twin of the records that share it: e^(d epsilon) instead of e^epsilon."""
    keep = GRR(1.0, 2).keep
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        ProductResponse(1.0, 4, (2, 2), (keep, keep))


RUNS = 120
POPULATION = movielens_like(1 << 12, 5)
PAIRS = list(combinations(range(5), 2))


@pytest.fixture(scope="module")
def errors():
    """By method: (runs, pairs, cells), the errors of genuine collections of the same people."""
    made = {}

    def collected(method):
        if method not in made:
            task, truth = (
                planned(method),
                np.array([shares(POPULATION, pair).ravel() for pair in PAIRS]),
            )
            models = (
                sv.simulate(task, as_columns(POPULATION), seed=seed).model for seed in range(RUNS)
            )
            made[method] = (
                np.array([[one.table(pair).shares.ravel() for pair in PAIRS] for one in models])
                - truth
            )
        return made[method]

    return collected


def unbiased(found):
    """Whether no cell is off by 4.5 standard errors."""
    return abs(found.mean(axis=0) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))).max() < 4.5


@pytest.mark.parametrize("method", UNBIASED)
def test_estimates_are_unbiased(method, errors):
    assert unbiased(errors(method))


@pytest.mark.parametrize("method", ["inp_ht", "marg_ps", "marg_rr", "marg_ht"])
def test_with_few_people_in_many_groups_single_attributes_are_unbiased(method):
    """300 people; a group of marg_ht has ten, and at epsilon 4 many of its signs come out as
    certain.
    """
    people, task = POPULATION[:300], planned(method, epsilon=4.0)
    models = [sv.simulate(task, as_columns(people), seed=seed).model for seed in range(150)]
    truth = np.array([shares(people, (one,)) for one in range(5)])
    assert unbiased(
        np.array([[model.table((one,)).shares for one in range(5)] for model in models]) - truth
    )


def test_clipped_cells_would_be_noticed(errors):
    """Broken twin: negative shares are made nought."""
    truth = np.array([shares(POPULATION, pair).ravel() for pair in PAIRS])
    assert not unbiased(np.maximum(errors("inp_rr") + truth, 0) - truth)


def expected_error(method):
    """The mean squared error of a table of two, exact but for the shares of people in groups of
    unlikely size.
    """
    users, gain, pairs = len(POPULATION), 2.0, len(PAIRS)  # (e^epsilon + 1) / (e^epsilon - 1)
    squares = np.array([(shares(POPULATION, pair) ** 2).sum() for pair in PAIRS]).mean()
    if method in ("inp_rr", "inp_olh"):
        p, q = 0.5, 0.25  # of both: local hashing has 4 buckets, and p = 3 / (3 + 3)
        return (32 * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)) / users
    if method == "inp_ps":
        p, q = 3 / 34, 1 / 34
        held, other = p + 7 * q, 8 * q
        return (held * (1 - held) + 3 * other * (1 - other)) / (p - q) ** 2 / users
    signs = 4 * squares - 1  # the sum of the squares of the three signs (Parseval)
    if method in ("inp_ht", "marg_ht"):
        groups = 15 if method == "inp_ht" else 3 * pairs
        drawn = _inverse(users, groups)
        return (
            3 * (gain**2 - 1) * drawn + (drawn - 1 / users) * users / (users - 1) * (3 - signs)
        ) / 4
    p, q = {"marg_rr": (0.5, 0.25), "marg_ps": (0.5, 1 / 6), "am": (0.5, 1 / 6)}[method]
    noise, drawn = 4 * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q), _inverse(users, pairs)
    return noise * drawn + (1 - squares) * (drawn - 1 / users) * users / (users - 1)


def _inverse(users, groups):
    """The mean of one over the size of a group that coins draw."""
    sizes = np.arange(1, users + 1)
    return float((binom.pmf(sizes, users, 1 / groups) / sizes).sum())


def squared(found):
    """The mean squared error of a table, and its standard error."""
    runs = (found**2).sum(axis=2).mean(axis=1)
    return runs.mean(), runs.std(ddof=1) / np.sqrt(len(runs))


@pytest.mark.parametrize("method", [method for method in UNBIASED if method != "fc"])
def test_the_squared_error_is_the_exact_one(method, errors):
    """Cormode 2018, section 4, corrected; at five standard errors."""
    seen, error = squared(errors(method))
    assert abs(seen - expected_error(method)) < 5 * error, (seen, expected_error(method), error)


def test_a_wasted_coefficient_or_half_the_budget_would_be_noticed():
    """Broken twins: a seventh of the people asked for the coefficient that is known; epsilon / 2
    for one bit.
    """
    people, pairs = POPULATION[:1024, :3], list(combinations(range(3), 2))
    models = [
        sv.simulate(planned("inp_ht", 3), as_columns(people), seed=seed).model
        for seed in range(900)
    ]
    truth = np.array([shares(people, pair).ravel() for pair in pairs])
    found = np.array([[one.table(pair).shares.ravel() for pair in pairs] for one in models]) - truth
    seen, error = squared(found)
    signs = 4 * (truth**2).sum(axis=1).mean() - 1
    drawn, users = _inverse(len(people), 6), len(people)
    exact = (9 * drawn + (drawn - 1 / users) * (3 - signs)) / 4
    assert abs(seen - exact) < 5 * error
    assert abs(seen - exact * 7 / 6) > 5 * error
    half = (np.sqrt(3) + 1) / (np.sqrt(3) - 1)
    assert abs(seen - exact * half**2 / 4) > 5 * error


@pytest.mark.parametrize("method", UNBIASED)
def test_stated_variances_are_those_of_the_errors(method, errors):
    """The mean stated variance of a table, over its cells, against the squared error; at five
    standard errors.
    """
    answer = sv.simulate(planned(method), as_columns(POPULATION), seed=9)
    stated = np.mean([np.trace(answer.model.table(pair).covariance) for pair in PAIRS])
    seen, error = squared(errors(method))
    spread = 0.02 * seen  # of the plug-in, by the sizes of groups and clipped shares
    assert abs(stated - seen) < 5 * error + spread
    everybody = answer.marginal("a0", "a1").estimate.sum(np.arange(4))
    assert abs(everybody.total - len(POPULATION)) <= 5 * everybody.error + 1e-6


@pytest.mark.parametrize("method", EVERY)
def test_attributes_of_any_number_of_values_are_asked_about(method):
    """Three pets, five ages, two habits: shapes, labels, and errors within six stated standard
    errors.
    """
    users, dice = 20_000, np.random.default_rng(4)
    columns = {
        "pet": dice.choice(MIXED["pet"], users, p=[0.5, 0.4, 0.1]),
        "age": dice.integers(0, 5, users),
        "smokes": dice.choice(MIXED["smokes"], users, p=[0.2, 0.8]),
    }
    task = sv.Task("pets", plan_of(method, MIXED, users, 2), 4.0)
    answer = sv.simulate(task, {name: list(column) for name, column in columns.items()}, seed=5)
    found = answer.marginal("smokes", "pet")  # always in the order of the domain
    assert found.labels == tuple(
        f"{pet} & {smokes}" for pet in MIXED["pet"] for smokes in MIXED["smokes"]
    )
    truth = [
        ((columns["pet"] == pet) & (columns["smokes"] == one)).sum()
        for pet in MIXED["pet"]
        for one in MIXED["smokes"]
    ]
    if method not in ("pooled", "calm", "inp_em", "inp_em_warm"):
        z = (found.estimate.totals - truth) / found.estimate.errors
        assert abs(z).max() < 6, z
    assert found.estimate.totals.sum() == pytest.approx(users, rel=0.15)
    assert set(answer.parts) == {
        "pet",
        "age",
        "smokes",
        "pet & age",
        "pet & smokes",
        "age & smokes",
    }
    assert len(answer.parts["age"].labels) == 5


@pytest.mark.parametrize("method", ["calm", "marg_ps", "marg_rr", "inp_ht", "marg_ht"])
def test_everybody_is_in_exactly_one_group(method):
    task, users = planned(method), len(POPULATION)
    assert all(len(envelope.read([one], task.opening.width)[0]) == 1 for one in _messages(task, 40))
    collected = _collected(task, users)
    sizes = [len(batch.reports) for batch in collected.batches.values()]
    assert sum(sizes) == users
    groups = len(task.opening.ask.members)
    reach = 5 * np.sqrt(users / groups * (1 - 1 / groups))
    assert all(abs(size - users / groups) < reach for size in sizes)


def _messages(task, count):
    return crowd.messages(task, as_columns(POPULATION[:count]))


def _collected(task, users):
    """What a simulation has collected when the plan answers."""
    caught, step = [], Marginals.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Marginals,
            "step",
            lambda plan, collected: caught.append(collected) or step(plan, collected),
        )
        sv.simulate(task, as_columns(POPULATION[:users]), seed=1)
    return caught[-1]


@pytest.mark.parametrize("method", EVERY)
def test_messages_give_the_answer_in_any_order_and_once_each(method):
    """Two heaps of messages, merged either way and one of them twice: the same numbers to the last
    bit.
    """
    task = planned(method, 3, 2)
    messages = crowd.messages(task, as_columns(movielens_like(60, 3)))
    there, back = messages[:25] + messages[25:], messages[25:] + messages[:25] + messages[:5]
    first, second = (memory.answer(task, heap).model.table((0, 1)) for heap in (there, back))
    np.testing.assert_array_equal(first.shares, second.shares)
    np.testing.assert_array_equal(first.covariance, second.covariance)


@pytest.mark.parametrize("method", EVERY)
def test_sums_of_shards_are_the_sums_of_all(method):
    """And an answer from sums, when reports have been erased, is the answer from reports."""
    task, whole = planned(method), _collected(planned(method), 3000)
    tallies = {}
    for address, batch in whole.batches.items():
        mechanism = whole.rounds[0].question(address).mechanism
        parts = [mechanism.tally(part) for part in (batch.reports[:100], batch.reports[100:])]
        assert parts[0] + parts[1] == parts[1] + parts[0] == mechanism.tally(batch.reports)
        tallies[address] = parts[0] + parts[1]
    erased = MemoryCollected(task).after_erasing(task.opening, tallies)
    for view in ((0,), (1, 3)):
        again = task.plan.model(erased).table(view)
        first = task.plan.model(whole).table(view)
        np.testing.assert_array_equal(first.shares, again.shares)


def test_yes_counts_the_odd_parities():
    task = planned("inp_ht", 3, 2)
    batches = {
        Address(0, 1): ReportBatch(np.array([1, 0, 1])),
        Address(0, 4): ReportBatch(np.array([0])),
    }
    times, ones = yes_counts(MemoryCollected(task).after(task.opening, batches), 0)
    assert times.tolist() == [0, 3, 0, 0, 1, 0]
    assert ones.tolist() == [0, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("method", ["marg_ps", "inp_rr", "inp_em"])
def test_only_families_of_two_values_are_answered_by_yes_or_no(method):
    collected = _collected(planned(method), 100)
    with pytest.raises(ParameterError, match="yes and no"):
        yes_counts(collected, 0)


@pytest.mark.parametrize(
    ("method", "place", "broken"),
    [
        (
            "inp_ht",
            slice(8, 12),
            (15).to_bytes(4, "little"),
        ),  # a coefficient that is not asked about
        ("inp_ht", slice(44, 45), b"\x02"),  # neither odd nor even
        ("marg_ps", slice(8, 12), (10).to_bytes(4, "little")),  # a view that there is not
        ("marg_ps", slice(44, 45), b"\x04"),  # a cell beyond its table
        ("inp_ps", slice(44, 45), b"\x20"),
        ("inp_em", slice(44, 45), b"\x20"),
        ("inp_htcms", slice(44, 46), b"\xff\xff"),
        ("inp_ps", slice(8, 12), b"\x01\x00\x00\x00"),  # a member where nothing is chosen
        ("calm", slice(8, 12), b"\xff\xff\xff\xff"),
    ],
)
def test_a_report_that_could_not_have_been_made_is_refused(method, place, broken):
    task = planned(method)
    good = _messages(task, 1)[0]
    bad = good[: place.start] + broken + good[place.stop :]
    with pytest.raises(CodecError):
        memory.answer(task, [bad])


def test_a_message_of_another_length_or_of_another_plan_is_refused():
    task = planned("inp_rr")
    message = _messages(task, 1)[0]
    for bad in (message[:-1], message + b"\0"):
        with pytest.raises(CodecError):
            memory.answer(task, [bad])
    for other in (planned("inp_rr", epsilon=1.0), planned("inp_rr", order=3)):
        with pytest.raises(MismatchError):
            memory.answer(other, [message])


@pytest.mark.parametrize(
    ("order", "method"), [(0, "inp_ht"), (6, "inp_ht"), (True, "am"), (2, "oracle")]
)
def test_an_impossible_plan_is_refused(order, method):
    with pytest.raises(ParameterError):
        BaselineMarginals(domain(5), method, order)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), 21.0])
def test_an_impossible_epsilon_is_refused(epsilon):
    for method in EVERY:
        with pytest.raises(ParameterError):
            planned(method, epsilon=epsilon)


@pytest.mark.parametrize("names", [(), ("a9",), ("a1", "a1")])
def test_a_marginal_of_other_attributes_is_refused(names):
    answer = sv.simulate(planned("inp_ps"), as_columns(POPULATION[:100]), seed=1)
    with pytest.raises(ParameterError):
        answer.marginal(*names)


def test_beyond_the_order_only_methods_that_can_answer_do():
    """The whole table and CALM know every order; coefficients and views end at theirs."""
    people = as_columns(POPULATION[:500])
    able = [name for name, method in METHODS.items() if method.any_order]
    assert {"inp_rr", "inp_ps", "fc", "inp_em"} <= set(able)
    for method in ("calm", *able):
        answer = sv.simulate(planned(method), people, seed=1)
        assert len(answer.marginal("a0", "a1", "a2").labels) == 8
    for method in ("inp_ht", "marg_ht", "marg_ps"):
        answer = sv.simulate(planned(method), people, seed=1)
        with pytest.raises(ParameterError):
            answer.marginal("a0", "a1", "a2")


def test_so_many_views_and_coefficients_are_asked_about():
    assert len(planned("marg_ps", 8, 3).opening.ask.members) == comb(8, 3)
    assert isinstance(planned("inp_ht", 8, 3).opening.ask.members, Parities)
    assert len(planned("inp_ht", 8, 3).opening.ask.members) == 92
    assert isinstance(planned("inp_rr").opening.ask, Question)
