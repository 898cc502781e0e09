"""The tests of a round as plain data."""

import json

from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity.result import Integrity, Suspects

QUIET = PlausibilityTest("buckets", 1.0, 5.0, 0.5, 100)
LOUD = PlausibilityTest("load", 9.0, 7.0, 1e-9, 100)
SUSPECTS = Suspects("load", 0, 0, ("a", "b"), ((0.0, 3.5), (3.5, 0.0)))


def test_a_round_alarms_if_any_test_does():
    assert not Integrity(0, 100, (QUIET,)).alarm
    assert Integrity(0, 100, (QUIET, LOUD)).alarms == ("load",)


def test_plain_data_is_read_back():
    integrity = Integrity(3, 100, (QUIET, LOUD), (SUSPECTS,), 0.05)
    written = json.loads(json.dumps(integrity.to_dict()))
    assert Integrity.from_dict(written) == integrity
    assert written["alarm"]
    assert [test["alarm"] for test in written["tests"]] == [False, True]
