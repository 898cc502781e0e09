"""How one node accepts in a transaction: what is refused is withdrawn."""

from itertools import count

import pytest

from collector.store.offers import (
    DIGEST,
    NOW,
    bundles,
    close_round,
    hashed,
    report_id,
    singles,
    task,
    token,
)
from sottovoce.collector.store.base import Verdict
from sottovoce.collector.store.postgres import PostgresStore
from sottovoce.collector.store.postgres_accept import accept
from sottovoce.web.store.postgres import PostgresConnection, lock_number

NUMBERS = count()


@pytest.fixture
def url(postgres_server):
    return postgres_server.create(f"accept_{next(NUMBERS)}")


@pytest.fixture
def store(url):
    opened = PostgresStore(url)
    opened.publish(task(), "opening")
    yield opened
    opened.close()


@pytest.fixture
def node(url, store):
    """The connection of a node, in a transaction of its own."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url) as connection:
        yield PostgresConnection(connection)


def seen(node):
    return {bytes(row[0]) for row in node.execute("select id from seen").fetchall()}


def claimed(node):
    return {bytes(row[0]) for row in node.execute("select hash from claims").fetchall()}


def test_a_lock_has_the_same_number_on_every_node_and_another_for_another_name():
    assert lock_number("round a 0") == lock_number("round a 0")
    assert lock_number("round a 0") != lock_number("round a 1")
    numbers = [lock_number(f"round {number}") for number in range(100)]
    assert all(-(1 << 63) <= number < 1 << 63 for number in numbers)
    assert len(set(numbers)) == 100


def test_question_marks_and_many_ids_become_what_the_driver_takes(node):
    assert node.execute("select ? + ?", (1, 2)).fetchone() == (3,)
    pieces = [report_id(name) for name in "abc"]
    but_one = (
        "select id from (select ?::bytea as without) as t, unnest(%b::bytea[]) as new (id)"
        " where id <> without"
    )
    assert node.among(pieces, but_one, report_id("a")) == {report_id("b"), report_id("c")}
    assert node.among([], "this is not even read") == set()


def test_new_messages_are_kept_and_duplicates_within_a_call_are_seen(node):
    verdicts = accept(node, [singles("ab"), singles("bc")], NOW)
    assert verdicts == [
        [Verdict.ACCEPTED, Verdict.ACCEPTED],
        [Verdict.DUPLICATE, Verdict.ACCEPTED],
    ]
    assert seen(node) == {report_id(name) for name in "abc"}
    assert node.execute("select sum(users) from progress").fetchone() == (3,)


def test_the_ids_of_a_bundle_that_is_not_accepted_are_withdrawn(node):
    accept(node, [singles("a")], NOW)
    ((verdict,),) = accept(node, [bundles([["a", "new"]])], NOW)
    assert verdict is not Verdict.ACCEPTED
    assert seen(node) == {report_id("a")}, "what came with a known id may still come alone"


def test_a_token_that_bought_nothing_is_not_spent(store, node):
    store.add_tokens([token("ann"), token("bob")])
    accept(node, [singles("a", tokens=["ann"])], NOW)
    ((verdict,),) = accept(node, [singles("a", tokens=["bob"])], NOW)
    assert verdict is Verdict.DUPLICATE
    assert claimed(node) == {hashed("ann")}


def test_a_closed_round_takes_nothing_but_knows_what_it_took(store, node):
    store.accept([singles("a")], {}, NOW)
    close_round(store)
    ((known, new),) = accept(node, [singles("ab")], NOW)
    assert known is Verdict.DUPLICATE
    assert new not in (Verdict.ACCEPTED, Verdict.DUPLICATE)
    assert seen(node) == {report_id("a")}


def test_a_round_that_is_not_there_yet_is_too_early(node):
    assert accept(node, [singles("ab", number=1)], NOW) == [[Verdict.TOO_EARLY] * 2]
    assert seen(node) == set()


def test_nothing_is_there_before_the_transaction_ends(store, node):
    accept(node, [singles("a")], NOW)
    assert store.rounds(DIGEST)[0].users == 0
    node.execute("rollback")
    assert store.accept([singles("a")], {}, NOW) == [[Verdict.ACCEPTED]]
