"""The published prefix extending method: its lengths, its groups, and where it ends."""

from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from plans.heavy_hitters.searches import asking, messages_of_few, settings_of
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.engine.memory import batches_of
from sottovoce.lab import crowd
from sottovoce.lab.baselines.pem import PrefixExtending
from sottovoce.lab.baselines.pem1 import pem1
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.hashing import indices_of
from sottovoce.tasks.question import Address


@pytest.mark.parametrize(
    ("domain", "settings", "lengths"),
    [
        (Bits(64), {"groups": 6}, (4, 14, 24, 34, 44, 54, 64)),
        (Bits(64), {}, (4, 16, 28, 40, 52, 64)),
        (Bits(48), {}, (4, 15, 26, 37, 48)),
        (Bits(32), {}, (4, 18, 32)),
        (Bits(128), {"top": 256, "groups": 12}, tuple(range(8, 129, 10))),
        (Bits(10), {}, (4, 10)),
        (Bits(4), {}, (4, 4)),
        (Bits(3), {}, (3, 3)),
        (Bits(8), {"top": 1, "groups": 2}, (1, 5, 8)),
        (Bits(40), {"threshold": 0.05, "groups": 5}, (5, 12, 19, 26, 33, 40)),
    ],
)
def test_prefixes_are_as_long_as_published(domain, settings, lengths):
    assert PrefixExtending(domain, **settings).lengths == lengths


@pytest.mark.parametrize(("bits", "groups"), [(64, 5), (48, 4), (32, 2), (160, 13)])
def test_there_are_as_few_groups_as_the_published_budget_allows(bits, groups):
    assert PrefixExtending(Bits(bits)).groups == groups
    assert PrefixExtending(Bits(bits), queries=1 << 14).groups > groups


@pytest.mark.parametrize(
    ("plan", "first"), [(pem1(Bits(16), 5), 3), (pem1(Strings(2), 16), 4), (pem1(Bits(4), 16), 4)]
)
def test_pem1_adds_one_bit_with_every_group(plan, first):
    steps = [longer - shorter for shorter, longer in pairwise(plan.lengths)]
    assert plan.lengths[0] == first
    assert steps == [1] * (plan.domain.bits - first) or plan.lengths == (first, first)


def searched(task, batches, *, ties=1):
    """The twin, in Python integers: every candidate hashed by itself, the order written out;
    returns counts too.
    """
    plan, kept, shorter = task.plan, [0], 0
    for group, length in enumerate(plan.lengths[1:]):
        reports = batches[Address(0, group)].reports
        mechanism = task.opening.ask.members[group].mechanism
        candidates = [
            one << (length - shorter) | low
            for one in kept
            for low in range(1 << (length - shorter))
        ]
        counts = mechanism.support(reports, indices_of(candidates, length)).sum(axis=0).tolist()
        frequent = {
            one: (count / len(reports) - mechanism.q) / (mechanism.p - mechanism.q)
            for one, count in zip(candidates, counts, strict=True)
            if plan.domain.possible(one, length)
        }
        kept = sorted(frequent, key=lambda one: (-frequent[one], ties * one))
        if plan.threshold:
            kept = [one for one in kept if frequent[one] > plan.threshold]
        else:
            kept = kept[: plan.kept if length < plan.domain.bits else plan.top]
        shorter = length
    users = sum(len(batch.reports) for batch in batches.values())
    return [(plan.domain.shown(one), frequent[one] * users) for one in kept]


FEW = [
    PrefixExtending(Bits(8), 4, groups=2),
    PrefixExtending(Bits(8), 1, groups=3),
    PrefixExtending(Bits(70), 2, groups=17),
    PrefixExtending(Bits(8), threshold=0.2, groups=2),
    PrefixExtending(Strings(1), 4, groups=2),
    PrefixExtending(Strings(3), 3, groups=5),
    pem1(Bits(6), 3),
]


@pytest.mark.parametrize("plan", FEW, ids=settings_of)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_search_ends_where_direct_hashing_and_a_written_order_end(plan, seed):
    """Equal estimates abound, so that the order of equals counts at every step."""
    task = asking(plan)
    messages = messages_of_few(task, seed)
    wanted = searched(task, batches_of(task, task.opening, messages))
    answer = sv.answer(task, messages)
    assert answer.labels == tuple(label for label, _ in wanted)
    assert answer.estimate.totals == pytest.approx([total for _, total in wanted])
    assert (np.diff(answer.estimate.totals) <= 0).all()


def test_the_written_order_catches_ties_broken_the_other_way():
    task = asking(FEW[0])
    messages = crowd.messages(task, [1] * 80, rng=SeededRng(1))
    batches = batches_of(task, task.opening, messages)
    assert searched(task, batches) != searched(task, batches, ties=-1)
