"""A guarantee says its epsilon as plain data, and every outcome carries one."""

import sottovoce as sv
from sottovoce.answers.guarantee import Guarantee, ShuffledPromise

TASK = sv.Task("pets", sv.Histogram(["cat", "dog"]), epsilon=1.5)


def test_it_is_plain_data():
    assert Guarantee(1.5).to_dict() == {"local": 1.5}


def test_shuffled_reports_state_all_three_epsilons_and_what_they_rest_on():
    promise = ShuffledPromise(0.4, 1e-9, 1.1, users=131_072, fakes=40_000, hops=2)
    assert Guarantee(6.0, promise).to_dict() == {
        "local": 6.0,
        "central": 0.4,
        "delta": 1e-9,
        "against_users": 1.1,
        "users": 131_072,
        "fakes": 40_000,
        "hops": 2,
    }


def test_an_outcome_promises_what_each_device_was_charged():
    answer = sv.simulate(TASK, ["cat", "dog"] * 50, seed=1)
    assert answer.guarantee == Guarantee(TASK.epsilon)
    assert answer.to_dict()["guarantee"] == {"local": 1.5}
