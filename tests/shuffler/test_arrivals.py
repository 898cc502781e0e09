"""Arrivals are told by the minute and to the nearest ten."""

from shuffler.hops import Clock
from sottovoce.shuffler.arrivals import Arrivals, rounded


def test_a_minute_is_told_when_it_is_over_and_only_rounded():
    clock, told = Clock(600.0), []
    arrivals = Arrivals(clock, lambda task, outcomes: told.append((task, outcomes)))
    for _ in range(17):
        arrivals.add("count", {"accepted": 1})
    clock.now += 59
    arrivals.flush()
    assert told == []
    clock.now += 1
    arrivals.flush()
    assert told == [("count", {"accepted": 20})]
    arrivals.add("count", {"accepted": 4})
    clock.now += 60
    arrivals.add("count", {"accepted": 1})
    assert told[1:] == [("count", {"accepted": 0})]


def test_counts_are_rounded_to_the_nearest_ten():
    assert [rounded(count) for count in (0, 4, 5, 10, 14, 99)] == [0, 0, 10, 10, 10, 100]
