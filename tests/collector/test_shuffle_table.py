"""The table of a shuffle in a task file."""

import pytest

from sottovoce.collector import shuffle_table
from sottovoce.errors import CodecError, ParameterError
from sottovoce.plans.shuffled_settings import WantedShuffle
from sottovoce.tasks.shuffle import Hop

KEY = "A" * 43
OTHER_KEY = "B" * 42 + "A"
TABLE = {"hops": [f"https://mix-a.example#{KEY}"], "users": 1_000, "delta": 1e-9}


def own_key():
    return OTHER_KEY


def test_the_collector_fills_in_its_key_and_leaves_the_rest_open():
    assert shuffle_table.wishes(TABLE, own_key) == WantedShuffle(
        hops=(Hop("https://mix-a.example", KEY),), key=OTHER_KEY, users=1_000, delta=1e-9
    )


def test_hops_may_be_tables_and_delta_may_be_text():
    hop = {"url": "https://mix-b.example/under", "key": OTHER_KEY}
    table = {**TABLE, "hops": [*TABLE["hops"], hop], "delta": "1e-9", "key": KEY, "fakes": 7}
    wishes = shuffle_table.wishes(table, None)
    assert wishes.hops[1] == Hop("https://mix-b.example/under", OTHER_KEY)
    assert (wishes.delta, wishes.key, wishes.fakes) == (1e-9, KEY, 7)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quorum": 3}, "the settings of a shuffle are: against_users, central"),
        ({"hops": "https://mix-a.example"}, "`hops` must be a list"),
        ({"hops": ["https://mix-a.example"]}, "URL#KEY"),
        ({"hops": [7]}, "URL#KEY, or a table"),
        ({"hops": [{"url": "https://mix-a.example"}]}, "a table of url and key"),
        ({"delta": "tiny"}, "`delta` of the shuffle must be a number"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(changes, words):
    with pytest.raises((CodecError, ParameterError), match=words):
        shuffle_table.wishes({**TABLE, **changes}, own_key)


@pytest.mark.parametrize("name", ["hops", "users", "delta"])
def test_what_nobody_can_choose_must_be_stated(name):
    table = {key: value for key, value in TABLE.items() if key != name}
    with pytest.raises(CodecError, match=f"`{name}` is missing"):
        shuffle_table.wishes(table, own_key)


def test_without_a_collector_the_key_must_be_stated():
    with pytest.raises(ParameterError, match="publishing the task fills in"):
        shuffle_table.wishes(TABLE, None)
