"""Several threads, several processes, and processes that die: each message counts once, and what
was said is kept.
"""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from collector.store.child import start
from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    bundles,
    close_round,
    hashed,
    messages,
    singles,
    stored,
    task,
    token,
    users,
)
from sottovoce.collector.store.base import State
from sottovoce.errors import StateError

NAMES = [f"user {number}" for number in range(200)]


def test_two_threads_offer_the_same_messages_and_each_counts_once(open_store, round_open):
    """In opposite orders, so that a careless store deadlocks."""
    stores = [round_open, open_store(), round_open, open_store()]
    orders = [NAMES, NAMES[::-1], NAMES[::-1], NAMES]

    def offer(store, names):
        chunks = [names[first : first + 40] for first in range(0, len(names), 40)]
        return [accept(store, *(singles(chunk[part::2]) for part in (0, 1))) for chunk in chunks]

    with ThreadPoolExecutor(4) as pool:
        given = [
            word
            for call in pool.map(offer, stores, orders)
            for offers in call
            for part in offers
            for word in part
        ]
    assert given.count("accepted") == len(NAMES)
    assert given.count("duplicate") == 3 * len(NAMES)
    assert stored(round_open) == messages(*([name] for name in NAMES))
    assert users(round_open) == len(NAMES)


def test_threads_race_for_tokens_and_each_buys_one_message(open_store, round_open):
    tokens = [f"token {number}" for number in range(100)]
    round_open.add_tokens([token(name) for name in tokens])
    stores = [round_open, open_store()]

    def offer(index):
        order = tokens if index else tokens[::-1]
        return accept(stores[index], singles([f"{index} {name}" for name in order], tokens=order))[
            0
        ]

    with ThreadPoolExecutor(2) as pool:
        given = [word for words in pool.map(offer, range(2)) for word in words]
    assert given.count("accepted") == given.count("token-spent") == len(tokens)
    assert users(round_open) == len(stored(round_open)) == len(tokens)


def test_two_processes_offer_the_same_messages_and_each_counts_once(place, round_open):
    children = [start(place, "accept_all", len(NAMES)) for _ in range(2)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    ours = [int(child.communicate()[0]) for child in children]
    assert sum(ours) == len(NAMES)
    assert stored(round_open) == messages(*([name] for name in NAMES))
    assert users(round_open) == len(NAMES)


def test_exactly_one_of_many_callers_turns_a_round(open_store, round_open):
    stores = [round_open, open_store(), open_store(), open_store()]
    with ThreadPoolExecutor(4) as pool:
        turned = list(
            pool.map(lambda store: store.turn(DIGEST, 0, State.OPEN, State.CLOSING, NOW), stores)
        )
    assert turned.count(True) == 1


def test_exactly_one_of_many_callers_publishes_a_task(open_store):
    stores = [open_store() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert (
            list(pool.map(lambda store: store.publish(task(), "opening"), stores)).count(True) == 1
        )


def test_many_may_open_a_new_store_at_once(place):
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: place.open(), range(4)))
    for store in stores:
        store.check()
        store.close()


def test_sealing_sees_every_report_that_was_acknowledged(open_store, round_open):
    """Nodes accept without a pause while another turns the round: it gets its turn, and nothing
    slips in behind.
    """
    stop = threading.Event()
    acknowledged = []

    def flood(store, index):
        number = 0
        while not stop.is_set():
            names = [f"{index} {number} {one}" for one in range(20)]
            (words,) = accept(store, singles(names))
            acknowledged.extend(
                name for name, word in zip(names, words, strict=True) if word == "accepted"
            )
            number += 1
            if words[0] == "too-late":
                return

    nodes = [open_store() for _ in range(3)]
    threads = [
        threading.Thread(target=flood, args=(node, index)) for index, node in enumerate(nodes)
    ]
    for thread in threads:
        thread.start()
    while users(round_open) < 100:
        pass
    close_round(round_open)
    log = stored(round_open)
    stop.set()
    for thread in threads:
        thread.join()
    assert log == stored(round_open) == messages(*([name] for name in acknowledged))


def test_a_killed_process_loses_nothing_it_acknowledged(place, round_open):
    """Killed at random moments: what was said is there, the rest whole or not at all, and nothing
    twice.
    """
    random.seed(7)
    acknowledged = set()
    for trial in range(4):
        child = start(place, "accept_forever", trial * 10**6)
        with child:
            assert child.stdout.readline() == "ready\n"
            for _ in range(random.randrange(1, 40)):
                acknowledged.add(int(child.stdout.readline()))
            threading.Event().wait(random.random() / 200)
            child.kill()
            acknowledged.update(int(line) for line in child.stdout if line.endswith("\n"))
    _check_crashed(round_open, acknowledged)


def _check_crashed(store, acknowledged):
    def pairs(number):
        return [[f"{number} {index} a", f"{number} {index} b"] for index in range(5)]

    # A server may still be committing what a killed child sent: turning the round waits for that.
    assert store.turn(DIGEST, 0, State.OPEN, State.CLOSING, NOW)
    log = stored(store)
    assert len(set(log)) == len(log) == users(store) == store.arrivals(DIGEST, 0)[0][1]
    assert set(messages(*(pair for number in acknowledged for pair in pairs(number)))) <= set(log)
    for number in acknowledged:
        assert accept(store, bundles(pairs(number))) == [["duplicate"] * 5]
    # At most one call of each child was cut off after its commit and before its answer.
    assert len(acknowledged) * 5 <= len(log) <= len(acknowledged) * 5 + 4 * 5
    assert len(log) % 5 == 0


def test_a_reader_in_another_thread_sees_only_whole_calls(open_store, round_open):
    other = open_store()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(
            lambda: [
                accept(round_open, singles([f"{n} {i}" for i in range(10)])) for n in range(30)
            ]
        )
        while not writing.done():
            assert len(stored(other)) % 10 == 0
            assert users(other) % 10 == 0
    assert users(other) == 300


def test_a_token_revoked_by_another_process_counts_no_more(open_store, round_open):
    other = open_store()
    other.add_tokens([token("ann")])
    assert round_open.token(hashed("ann"), NOW) == token("ann")
    other.revoke(hashed("ann"))
    assert accept(round_open, singles("a", tokens=["ann"])) == [["token-unknown"]]


def test_a_round_sealed_by_another_process_is_sealed_here(open_store, round_open):
    close_round(open_store(), sealed=True)
    assert accept(round_open, singles("a")) == [["too-late"]]
    with pytest.raises(StateError):
        stored(round_open)
