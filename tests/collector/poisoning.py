"""A collection that somebody poisons: honest devices, and reports made from searched seeds."""

import numpy as np

import sottovoce as sv
from collector.people import digest_of, envelope
from sottovoce.domains.integers import Integers
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.crowd import messages
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Address

SIZE = 64
TARGETS = tuple(range(40, 46))


def survey(name="drinks", **settings):
    """A task about 64 values."""
    made = Collection(**({"minimum": 2, "grace": 0} | settings))
    return sv.Task(name, sv.Histogram(Integers(0, SIZE - 1), "affine"), 2.0, collection=made)


def honest(task, count=3000):
    """Messages of so many honest devices."""
    values = np.random.default_rng(1).geometric(0.2, count) % SIZE
    return messages(task, values.tolist(), rng=SeededRng(1))


def false(task, count=500):
    """Messages that promote all targets with searched seeds."""
    attack = MaximalGain(task.plan.domain, TARGETS, 200)
    reports = attack.reports(task.opening, count, SeededRng(2))[Address()]
    mechanism = task.opening.question(Address()).mechanism
    packed = [mechanism.pack(reports[index : index + 1]) for index in range(count)]
    return [envelope(digest_of(task), payload) for payload in packed]
