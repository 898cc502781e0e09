"""Searches of few people, which the tests of several plans decode anew by written rules."""

import sottovoce as sv
from sottovoce.domains.strings import Strings
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng


def settings_of(plan):
    """The settings of a search as the name of a test."""
    return f"{plan.domain}, {plan.top}, {plan.threshold}, {plan.groups}"


def asking(plan, epsilon=2.0):
    """The task of a search."""
    return sv.Task("what is frequent", plan, epsilon=epsilon)


def messages_of_few(task, seed):
    """Forty people a group, who hold two values: equal estimates abound."""
    first, second = ("a", "z") if isinstance(task.plan.domain, Strings) else (1, 2)
    half = 20 * task.plan.groups
    return crowd.messages(task, [first] * half + [second] * half, rng=SeededRng(seed))
