"""A guarantee says its epsilon as plain data, and every outcome carries one."""

import sottovoce as sv
from sottovoce.answers.guarantee import Guarantee

TASK = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=1.5)


def test_it_is_plain_data():
    assert Guarantee(1.5).to_dict() == {"local": 1.5}


def test_an_outcome_promises_what_each_device_was_charged():
    answer = sv.simulate(TASK, ["cat", "dog"] * 50, seed=1)
    assert answer.guarantee == Guarantee(TASK.epsilon)
    assert answer.to_dict()["guarantee"] == {"local": 1.5}
