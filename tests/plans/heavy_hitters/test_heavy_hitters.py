"""The prefix extending method: one round, every group a longer prefix, whole values at the end."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import sottovoce as sv
from plans.heavy_hitters.searches import asking, messages_of_few, settings_of
from sottovoce.client.client import Client
from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.engine.memory import batches_of, drive
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.checks import RecordedRng
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters import prefixes
from sottovoce.plans.heavy_hitters.group_layout import GroupLayout, candidate_count
from sottovoce.plans.heavy_hitters.heavy_hitters import MAX_CANDIDATES, HeavyHitters
from sottovoce.plans.heavy_hitters.sought_values import MAX_KEPT
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from tasks.toys import shuffle

PLANS = [
    HeavyHitters(Bits(8), 4),
    HeavyHitters(Bits(48), 16),
    HeavyHitters(Bits(64), 16, groups=6),
    HeavyHitters(Bits(63), 3, threshold=0.1),
    HeavyHitters(Strings(20), 16),
    HeavyHitters(Strings(6, whole=True), 256, queries=1 << 16),
    HeavyHitters(Bits(16), 5, groups=13),
]


def population(users, shares, strangers, seed=0):
    """So many people: planted values by their shares, all others drawn by ``strangers``."""
    rng = np.random.default_rng(seed)
    held = [value for value, share in shares.items() for _ in range(round(share * users))]
    held += [strangers(rng) for _ in range(users - len(held))]
    return [held[place] for place in rng.permutation(users)]


@pytest.mark.parametrize("plan", PLANS, ids=settings_of)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_round_asks_every_group_for_its_prefix_with_the_whole_epsilon(plan, epsilon):
    asked = asking(plan, epsilon).opening
    assert isinstance(asked.ask, Choice)
    assert (asked.number, asked.low, asked.high) == (0, 0, 1 << 64)
    assert asked.ask.weights == plan.layout.weights
    assert len(asked.ask.members) == plan.groups
    for question, length in zip(asked.ask.members, plan.lengths, strict=True):
        assert question.encoding == Segment(plan.domain.bits, 0, length)
        assert question.mechanism == AffinePrefix(epsilon, 1 << length)
        assert question.epsilon == epsilon
        assert question.width == asked.width == 10
        question.check_domain(plan.domain)
    assert plan.lengths[-1] == plan.domain.bits


@pytest.mark.parametrize("plan", PLANS, ids=settings_of)
def test_a_task_survives_its_document(plan):
    task = asking(plan)
    content = codec.parse(codec.canonical(codec.document(task)))
    assert codec.task(content) == task
    assert codec.notice(content).opening == task.opening


@pytest.mark.parametrize(
    "settings",
    [
        {"top": 0},
        {"top": MAX_KEPT + 1},
        {"top": 2.0},
        {"top": True},
        {"threshold": 1.0},
        {"threshold": -0.1},
        {"threshold": float("nan")},
        {"threshold": 1 / MAX_KEPT / 2},
        {"groups": -1},
        {"groups": 45},
        {"groups": 2.0},
        {"queries": 31},
        {"queries": 0},
        {"queries": 1e6},
        {"groups": 1},
        {"queries": 1 << 30},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    """Too few groups among them: nobody's privacy is spent on reports that could not be decoded."""
    with pytest.raises(ParameterError):
        HeavyHitters(Bits(48), **settings)


@pytest.mark.parametrize("domain", [Categories(("a", "b")), Integers(0, 255), 48, None])
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError, match="`domain`"):
        HeavyHitters(domain)


@pytest.mark.parametrize(
    ("domain", "settings", "lengths"),
    [
        (Bits(64), {"groups": 6}, (14, 24, 34, 44, 54, 64)),
        (Bits(128), {"top": 256, "groups": 12}, tuple(range(18, 129, 10))),
        (Bits(8), {"top": 1, "groups": 2}, (5, 8)),
        (Bits(40), {"threshold": 0.05, "groups": 5}, (12, 19, 26, 33, 40)),
    ],
)
def test_stated_groups_are_equal_and_their_prefixes_as_long_as_published(domain, settings, lengths):
    plan = HeavyHitters(domain, **settings)
    assert plan.lengths == lengths
    assert asking(plan).opening.ask.weights == ()


def test_a_document_from_before_layouts_asks_what_it_asked():
    """Its plan states groups and no layout, and is written again as it was."""
    content = codec.document(asking(HeavyHitters(Bits(48), groups=4, queries=1 << 20)))
    assert set(content["plan"]) == {"kind", "top", "threshold", "groups", "queries"}
    read = codec.task(codec.parse(codec.canonical(content)))
    assert [question.mechanism.bits for question in read.opening.ask.members] == [15, 26, 37, 48]
    assert codec.document(read) == content


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"layout": GroupLayout((10, 40), (1, 1))}, "end with the bits"),
        ({"layout": GroupLayout((10, 48), (1, 1)), "groups": 3}, "`groups`"),
        ({"layout": (10, 48)}, "`layout`"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        HeavyHitters(Bits(48), **settings)


@pytest.mark.parametrize("bits", [2, 16, 40, 160, 480])
@pytest.mark.parametrize("threshold", [0.0, 1 / MAX_KEPT, 0.01, 0.3])
def test_however_many_are_followed_the_next_group_can_be_decoded(bits, threshold):
    plan = HeavyHitters(Bits(bits), threshold=threshold)
    assert plan.limits.max_prefixes >= min(plan.limits.kept, 32)
    assert candidate_count(plan.lengths, plan.limits.max_prefixes) <= len(plan.lengths) << 24
    steps = np.diff((0, *plan.lengths))
    assert (plan.limits.max_prefixes << steps[1:].astype(int) <= MAX_CANDIDATES).all()


def searched(task, batches, *, ties=1, pooled=True):
    """The twin: every candidate is hashed by itself, and every rule is written out.

    Returns labels and counts of the values found.
    """
    plan, domain, limits = task.plan, task.plan.domain, task.plan.limits
    everybody = sum(len(batch.reports) for batch in batches.values())
    kept, shorter, values, sizes, spreads = [0], 0, {}, [], []
    for group, length in enumerate(plan.lengths):
        reports = batches[Address(0, group)].reports
        mechanism = task.opening.ask.members[group].mechanism
        sizes.append(len(reports))

        def votes(numbers, mechanism=mechanism, reports=reports, length=length):
            counts = mechanism.support(reports, indices_of(numbers, length)).sum(axis=0)
            return (counts - len(reports) * mechanism.q) / (mechanism.p - mechanism.q)

        unheld = sqrt(mechanism.q * (1 - mechanism.q)) / (mechanism.p - mechanism.q)
        spreads.append(len(reports) * unheld**2)
        if values:
            known = sorted(values)
            added = votes([number >> (domain.bits - length) for number in known])
            for number, vote in zip(known, added.tolist(), strict=True):
                values[number]["votes"].append(vote)
        step = length - shorter
        candidates = [one << step | low for one in kept for low in range(1 << step)]
        vote_of = dict(zip(candidates, votes(candidates).tolist(), strict=True))
        whole = {one for one in candidates if is_whole(domain, one, length)}
        kept = []
        for chosen, limit in ((whole, limits.values), (set(candidates) - whole, limits.kept)):
            possible = [one for one in candidates if one in chosen]
            possible = [one for one in possible if domain.possible(one, length)]
            ranked = sorted(possible, key=lambda one: (-vote_of[one], ties * one))
            level = unheld * sqrt(len(reports)) * -NormalDist().inv_cdf(1 / max(len(chosen), 2))
            out = [one for one in ranked[limit:] if vote_of[one] > level]
            followed = ranked[:limit] + out[: max(0, limits.max_prefixes - limit)]
            if plan.threshold:
                followed = [one for one in ranked if vote_of[one] > plan.threshold * len(reports)]
            if chosen is whole:
                for one in followed:
                    entry = {"votes": [vote_of[one]], "first": group, "tested": len(whole)}
                    values[one << (domain.bits - length)] = entry
            else:
                kept = sorted(followed)
        shorter = length

        for entry in values.values():
            users = sum(sizes[entry["first"] :])
            entry["count"] = everybody * sum(entry["votes"]) / users
            quantile = -NormalDist().inv_cdf(1 / max(entry["tested"], 2))
            error = everybody / users * sqrt(sum(spreads[entry["first"] :]))
            entry["score"] = entry["count"] - quantile * error
        score_of = {number: entry["score"] for number, entry in values.items()}
        best = sorted(score_of, key=lambda number: (-score_of[number], ties * number))
        if not plan.threshold:
            values = {number: values[number] for number in best[: limits.values]}
    found = best[: plan.top]
    if plan.threshold:
        found = [one for one in values if values[one]["count"] > plan.threshold * everybody]
    total_of = {number: values[number]["count"] for number in found}
    if not pooled:
        total_of = {one: everybody * values[one]["votes"][-1] / sizes[-1] for one in found}
    found = sorted(found, key=lambda number: (-round(total_of[number], 6), ties * number))
    return [(domain.shown(number), total_of[number]) for number in found]


def is_whole(domain, number, length):
    """A value is known if no other one of the domain begins with these bits."""
    if length == domain.bits:
        return True
    whole_bytes, open_bits = divmod(length, 8)
    if isinstance(domain, Bits) or not whole_bytes:
        return False
    return number & ((1 << (8 + open_bits)) - 1) == 0


FEW = [
    HeavyHitters(Bits(8), 4, groups=2),
    HeavyHitters(Bits(8), 1, groups=3),
    HeavyHitters(Bits(70), 2, groups=17),
    HeavyHitters(Bits(8), threshold=0.2, groups=2),
    HeavyHitters(Strings(1), 4, groups=2),
    HeavyHitters(Strings(3), 3, groups=5),
    HeavyHitters(Strings(3), 3, layout=GroupLayout((8, 12, 16, 24), (1, 2, 1, 1))),
]


@pytest.mark.parametrize("plan", FEW, ids=settings_of)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_search_ends_where_direct_hashing_and_written_rules_end(plan, seed):
    """Equal estimates abound, so that the order of equals counts at every step."""
    task = asking(plan)
    messages = messages_of_few(task, seed)
    wanted = searched(task, batches_of(task, task.opening, messages))
    answer = sv.answer(task, messages)
    assert sorted(answer.labels) == sorted(label for label, _ in wanted)
    found = dict(zip(answer.labels, answer.estimate.totals, strict=True))
    assert found == pytest.approx(dict(wanted))
    assert (np.diff(answer.estimate.totals) <= 1e-9).all()


def test_the_written_rules_catch_ties_broken_the_other_way_and_counts_of_one_group():
    task = asking(FEW[0])
    messages = crowd.messages(task, [1] * 80, rng=SeededRng(1))
    batches = batches_of(task, task.opening, messages)
    assert searched(task, batches) != searched(task, batches, ties=-1)
    task = asking(FEW[-1])
    messages = crowd.messages(task, ["a"] * 80, rng=SeededRng(1))
    batches = batches_of(task, task.opening, messages)
    assert searched(task, batches) != searched(task, batches, pooled=False)


def test_equal_values_come_in_their_own_order():
    """Two people and 256 values: among those of one estimate the smaller number stands first."""
    answer = sv.simulate(asking(HeavyHitters(Bits(8), 256)), [7, 9], seed=3)
    rows = list(zip(-answer.estimate.totals, answer.labels, strict=True))
    assert len(set(answer.estimate.totals)) <= 3
    assert rows == sorted(rows)


@pytest.mark.parametrize(("domain", "values"), [(Bits(4), 16), (Bits(3), 8), (Bits(2), 4)])
def test_few_values_are_simply_all_estimated(domain, values):
    """As many sought as there are: no group, no prefix, the plain estimate of the whole domain."""
    task = asking(HeavyHitters(domain, 16))
    messages = crowd.messages(task, [one % values for one in range(500)], rng=SeededRng(4))
    (question,) = task.opening.ask.members
    reports = batches_of(task, task.opening, messages)[Address()].reports
    plain = question.mechanism.estimate(question.mechanism.tally(reports)).totals
    answer = sv.answer(task, messages)
    assert sorted(answer.labels) == [domain.label(one) for one in range(values)]
    assert answer.estimate.totals == pytest.approx(
        [plain[int(label, 16)] for label in answer.labels]
    )


def test_fewer_possible_values_than_sought_are_all_returned():
    answer = sv.simulate(asking(HeavyHitters(Strings(1), 256)), ["a", "b"] * 200, seed=5)
    assert sorted(answer.labels) == sorted(Strings(1).shown(code) for code in range(128))


@pytest.mark.parametrize("seed", range(3))
def test_impossible_texts_are_never_answers(seed):
    """Nearly all noise: of the texts that it invents, every one could have been somebody's."""
    domain = Strings(4)
    answer = sv.simulate(
        asking(HeavyHitters(domain, 64), 0.5), ["grün", "weiß", "€"] * 30, seed=seed
    )
    assert len(answer.labels) == 64
    assert all("\ufffd" not in label and "\0" not in label for label in answer.labels)
    plain = [
        label for label in answer.labels if "\\" not in label
    ]  # the others have something escaped
    assert plain
    assert [domain.label(number) for number in domain.indices(plain).tolist()] == plain


def test_what_others_sent_cannot_move_a_cursor():
    answer = sv.simulate(
        asking(HeavyHitters(Strings(6), 4), 4.0), ["\x1b[2Jx", "fine"] * 2000, seed=1
    )
    assert "\\x1b[2Jx" in answer.labels
    assert all(label.isprintable() for label in answer.labels)


PLANTED = {
    "8 bits": (Bits(8), [3, 200, 77], lambda rng: int(rng.integers(256))),
    "48 bits": (Bits(48), [3, 1 << 47, 0xABCDEFABCDEF], lambda rng: int(rng.integers(1 << 48))),
    "64 bits": (Bits(64), [0, 1 << 63, (1 << 64) - 1], lambda rng: int.from_bytes(rng.bytes(8))),
    "20 bytes": (
        Strings(20),
        ["https://example.org/", "grüße", ""],
        lambda rng: "https://example." + "".join(chr(code) for code in rng.integers(97, 123, 4)),
    ),
}


@pytest.mark.parametrize("where", PLANTED)
def test_planted_values_are_found_with_their_numbers(where):
    """Each within five of its standard errors, the drawing of groups included."""
    domain, planted, strangers = PLANTED[where]
    users, shares = 12_000, (0.35, 0.25, 0.2)
    values = population(users, dict(zip(planted, shares, strict=True)), strangers)
    answer = sv.simulate(asking(HeavyHitters(domain, 4), 4.0), values, seed=6)
    assert set(answer.labels) >= {domain.label(_number(domain, value)) for value in planted}
    found = dict(
        zip(
            answer.labels,
            zip(answer.estimate.totals, answer.estimate.errors, strict=True),
            strict=True,
        )
    )
    for value in planted:
        total, error = found[domain.label(_number(domain, value))]
        truth = values.count(value)
        print(where, "estimate", total, "truth", truth, "error", error)
        assert abs(total - truth) < 5 * error
    assert answer.estimate.population == users


def _number(domain, value):
    row = domain.indices([value])[0].tolist()
    return (
        row if isinstance(row, int) else sum(word << 32 * place for place, word in enumerate(row))
    )


RUNS, PEOPLE, SHARE = 300, 1000, 0.15


@pytest.fixture(scope="module")
def repeated():
    """Votes, group sizes and the numbers they were scaled to, of one planted value in many
    collections.
    """
    plan = HeavyHitters(Bits(12), 2, groups=4)
    task, found = asking(plan, 5.0), []
    values = np.array(
        population(PEOPLE, {5: SHARE, 4000: 0.2}, lambda rng: int(rng.integers(4096)))
    )
    for seed in range(RUNS):
        answer = sv.simulate(task, values, seed=seed)
        place = answer.labels.index("0x005")
        found.append(
            (answer.estimate.votes[place], answer.estimate.users, answer.estimate.totals[place])
        )
    votes, users, totals = np.array(found).T
    return (
        task.opening.ask.members[-1].mechanism,
        np.count_nonzero(values == 5),
        votes,
        users,
        totals,
    )


def scores(repeated, totals, *, drawing=1.0):
    """Sigmas of the mean and of the variance of standardised errors.

    A total has variance n^2/N (unheld + f held) from the randomiser; drawing N of n people adds
    n^2/N (n - N)/(n - 1) f (1 - f).  With N = n/g that is g n sigma^2 + c (g - 1)(1 - f); the
    published c (g - 1) is for totals scaled by g, these are scaled by the reports that came.
    """
    mechanism, count, _, users, _ = repeated
    share, noise = count / PEOPLE, mechanism.noise
    drawn = drawing * (PEOPLE - users) / (PEOPLE - 1) * share * (1 - share)
    errors = (totals - count) / np.sqrt(
        PEOPLE**2 / users * (noise.unheld + share * noise.held + drawn)
    )
    return errors.mean() * np.sqrt(RUNS), ((errors**2).mean() - 1) / np.sqrt(2 / RUNS)


def test_reported_numbers_are_right_on_average_and_vary_as_theory_says(repeated):
    mean, spread = scores(repeated, repeated[-1])
    print("runs", RUNS, "mean", mean, "variance", spread, "expected within 5 sigma")
    assert abs(mean) < 5
    assert abs(spread) < 5


def test_the_same_check_catches_numbers_that_are_not_scaled_up(repeated):
    """The broken twin leaves the votes of one group as they are."""
    mean, _ = scores(repeated, repeated[2])
    assert abs(mean) > 5


def test_the_same_check_catches_a_variance_without_the_drawing_of_groups(repeated):
    _, spread = scores(repeated, repeated[-1], drawing=0.0)
    assert spread > 5


def test_groups_are_of_the_size_that_public_coins_deal(repeated):
    """A quarter of the people each: 5 sigma of the mean group."""
    users = repeated[3]
    assert abs(users.mean() - PEOPLE / 4) < 5 * np.sqrt(PEOPLE * 3 / 16 / RUNS)


def test_a_threshold_keeps_all_above_it_and_nothing_else():
    domain = Bits(32)
    shares = {1 << 31: 0.3, 12345: 0.2, 54321: 0.16, 99: 0.05}
    values = population(20_000, shares, lambda rng: int(rng.integers(1 << 32)))
    answer = sv.simulate(asking(HeavyHitters(domain, 1, threshold=0.11), 4.0), values, seed=7)
    assert answer.labels == tuple(domain.label(one) for one in (1 << 31, 12345, 54321))
    assert (answer.estimate.frequencies > 0.11).all()
    assert answer.about["candidates_left_out"] is False


def test_a_threshold_that_nothing_reaches_is_no_data():
    rng = np.random.default_rng(8)
    task = asking(HeavyHitters(Bits(48), threshold=0.4), 4.0)
    with pytest.raises(NoDataError, match="threshold"):
        sv.simulate(task, rng.integers(0, 1 << 48, 4000), seed=8)


def test_more_candidates_above_a_threshold_than_are_followed_are_cut_and_said_to_be():
    """Fifty people: half of 65,536 values exceed the smallest threshold by noise alone."""
    plan = HeavyHitters(Bits(16), threshold=1 / MAX_KEPT)
    answer = sv.simulate(asking(plan, 1.0), [7] * 50, seed=9)
    assert len(answer.labels) == MAX_KEPT
    assert answer.about["candidates_left_out"] is True


def test_a_group_without_reports_is_an_error():
    task = asking(HeavyHitters(Bits(16), 4, groups=3))
    messages = crowd.messages(task, [1] * 90, rng=SeededRng(1))
    batches = batches_of(task, task.opening, messages)
    del batches[Address(0, 1)]
    with pytest.raises(NoDataError, match="member 1"):
        drive(task, lambda asked: batches)
    with pytest.raises(NoDataError):
        sv.answer(task, messages[:1])


def test_there_is_exactly_one_round():
    task, asked = asking(HeavyHitters(Strings(8), 4)), []
    messages = crowd.messages(task, ["one", "two"] * 300, rng=SeededRng(2))

    def gather(opened: Round):
        asked.append(opened)
        return batches_of(task, opened, messages)

    drive(task, gather)
    assert asked == [task.opening]


@pytest.mark.parametrize("where", ["48 bits", "20 bytes"])
def test_messages_of_a_crowd_give_the_same_kind_of_answer(where):
    domain, planted, strangers = PLANTED[where]
    values = population(6000, dict(zip(planted, (0.4, 0.3, 0.25), strict=True)), strangers)
    task = asking(HeavyHitters(domain, 3), 4.0)
    sent, simulated = (
        sv.answer(task, crowd.messages(task, values, rng=SeededRng(3))),
        sv.simulate(task, values, seed=3),
    )
    assert set(sent.labels) == set(simulated.labels)
    assert set(sent.about) == set(simulated.about)
    assert (sent.mechanism, sent.estimate.population) == (
        simulated.mechanism,
        simulated.estimate.population,
    )
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in sent.rows())


def test_devices_answer_one_by_one():
    """Ninety devices of their own with the system's randomness; chances of another outcome are
    below 1e-9.
    """
    task = asking(HeavyHitters(Strings(6), 2), 10.0)
    clients = [Client(task, ":memory:") for _ in range(90)]
    messages = [client.answer("weiß") for client in clients]
    assert len({len(message) for message in messages}) == 1
    assert {client.ledger.spent for client in clients} == {10.0}
    answer = sv.answer(task, messages)
    assert answer.labels[0] == "weiß"
    assert answer.estimate.population == 90


def test_an_answer_says_what_it_could_have_seen():
    answer = sv.simulate(asking(HeavyHitters(Bits(48), 16)), np.arange(4000) % 3, seed=1)
    about = answer.about
    assert about["groups"] == 3
    assert about["prefix_lengths"] == [17, 33, 48]
    assert about["candidates"] == answer.estimate.tested == 32 << 15
    last = prefixes.sensitivity(2.0, 32 << 15, answer.estimate.users)
    assert last <= about["sensitivity"] < 1.5 * last
    assert (about["population"], about["epsilon"], about["mechanism"]) == (
        4000,
        2.0,
        "affine_prefix",
    )


ALIKE = {
    domain: asking(HeavyHitters(domain, 8)).opening
    for domain in (Bits(48), Bits(100), Strings(7), Strings(20))
}
BYTES = np.random.default_rng(10).bytes(1 << 12)


@settings(max_examples=40)
@given(some.data())
def test_what_is_sent_has_one_length_and_takes_the_same_draws_whatever_the_value(data):
    domain = data.draw(some.sampled_from(list(ALIKE)))
    texts = some.text(
        some.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30
    )
    values = texts if isinstance(domain, Strings) else some.integers(0, domain.size - 1)
    pair = [domain.indices([data.draw(values)]) for _ in range(2)]
    for question in ALIKE[domain].ask.members:
        used = []
        for held in pair:
            rng = RecordedRng(BYTES)
            sent = question.mechanism.pack(question.privatize(held, rng))
            assert len(sent) == ALIKE[domain].width
            used.append(rng.consumed)
        assert used[0] == used[1]


FALSE_VALUE = 60_000
HELD = [7] * 12_000 + [40_000] * 8_000 + list(range(10_000, 20_000))


@pytest.mark.parametrize("dealt", [True, False])
def test_robust_to_flags_planted_values_and_spares_the_frequent_ones(dealt):
    """5 % of all plant one value, which nobody holds; two values are held by many.

    Fewer liars than ``robust_to`` could not have brought a value among the found, and 5 % did bring
    the planted one: it is flagged.  The twin without attackers does not find it.  Where nobody
    deals the groups, all liars may have answered in one, so that fewer were needed.
    """
    collection = Collection(enrolment=True) if dealt else None
    task = sv.Task("values", HeavyHitters(Bits(16), 3), epsilon=4.0, collection=collection)
    attack = SupportTarget(task.plan.domain, (FALSE_VALUE,))
    answer = sv.simulate(task, HELD, seed=1, attack=attack, share=0.05)
    robust_to = {row["value"]: row["robust_to"] for row in answer.rows()}
    print(robust_to)
    assert robust_to[task.plan.domain.shown(FALSE_VALUE)] <= 0.05
    groups = 1 if dealt else task.plan.groups
    for held in (7, 40_000):
        assert robust_to[task.plan.domain.shown(held)] > 0.05 / groups
    quiet = sv.simulate(task, HELD, seed=1)
    assert task.plan.domain.shown(FALSE_VALUE) not in {row["value"] for row in quiet.rows()}


def test_above_a_threshold_the_lead_is_that_over_the_threshold():
    """(f - threshold) / (up - threshold): of all reports, those of liars are left out as well."""
    task = sv.Task("values", HeavyHitters(Bits(8), threshold=0.2, groups=1), epsilon=4.0)
    answer = sv.simulate(task, [7] * 3000 + [9] * 2000 + [11] * 500, seed=1)
    up = answer.estimate.law.cells(1)[0].up
    for row in answer.rows():
        assert row["robust_to"] == pytest.approx((row["share"] - 0.2) / (up - 0.2))


def test_where_every_candidate_is_reported_liars_are_not_needed():
    task = sv.Task("values", HeavyHitters(Bits(2), 4), epsilon=4.0)
    answer = sv.simulate(task, [0, 1, 2, 3] * 500, seed=1)
    assert [row["robust_to"] for row in answer.rows()] == [1.0] * 4


def test_fakes_make_a_search_see_less():
    """The stated sensitivity grows with the error of a value that nobody holds."""
    plan = HeavyHitters(Bits(16), 4)
    values = np.repeat([7, 40_000], [2_000, 1_000])
    alone = sv.simulate(Task("alone", plan, 3.0), values, seed=1)
    mixed = sv.simulate(Task("mixed", plan, 3.0, shuffle=shuffle(3.0, 3_000)), values, seed=1)
    ratio = mixed.about["sensitivity"] / alone.about["sensitivity"]
    users = alone.users / mixed.users
    assert ratio**2 == pytest.approx(users * mixed.estimate.noise.inflation, rel=1e-9)
    assert mixed.estimate.noise.inflation > 1.5


def test_texts_that_nobody_holds_are_hardly_ever_findings():
    """Everybody holds one text, which all groups but the first count; 1 in 20 is promised.

    The broken twin is a normal law with the variance of a value that nobody holds.
    """
    plan = HeavyHitters(Strings(6), 16, queries=1 << 14)
    task = asking(plan, 6.0)
    false = np.zeros((60, 2), bool)
    for seed in range(len(false)):
        answer = draw_answer(task, {"the": 1000}, seed)
        counts = answer.estimate
        others = np.array(answer.labels) != "the"
        assert counts.significant()[~others].all()
        unheld = np.sqrt(counts.noise.unheld_variances(counts.votes, counts.users))
        normal = NormalDist().inv_cdf(1 - 0.05 / counts.tested) * unheld
        found = (counts.significant(), counts.totals >= normal)
        false[seed] = [bool((rows & others).any()) for rows in found]
    exact, normal_law = false.sum(axis=0)
    promised = 0.05 * len(false)
    print(f"false findings in {exact} of {len(false)} searches, by a normal law in {normal_law}")
    assert exact <= promised + 5 * sqrt(promised * 0.95)
    assert normal_law > 30
