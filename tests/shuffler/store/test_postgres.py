"""The store of several nodes: an inbox is not closed while another node is taking messages."""

import threading

import pytest

from shuffler.store.rounds import KEY_SET, SET_SIGNATURE, TASK, new_round, task
from sottovoce.shuffler.store.base import BatchState, SealedOffer, TakeVerdict
from sottovoce.shuffler.store.postgres import PostgresHopStore


@pytest.fixture
def url(postgres_server):
    return postgres_server.create("hop_postgres")


class SlowStore(PostgresHopStore):
    """A node that stops after it has inserted, before it commits."""

    def __init__(self, url):
        super().__init__(url)
        self.inserted, self.may_commit = threading.Event(), threading.Event()

    def take(self, offers):
        with self._writing() as connection:
            self._take_turns(connection, offers)
            verdicts = [self._take_one(connection, offer) for offer in offers]
            self.inserted.set()
            self.may_commit.wait()
            return verdicts


def test_closing_waits_for_a_node_that_is_taking(url):
    slow, other = SlowStore(url), PostgresHopStore(url)
    other.add_task(task())
    other.open_round(new_round())
    other.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    taken, closed = [], []
    offers = [SealedOffer(TASK, 0, [b"m" * 40])]
    taking = threading.Thread(target=lambda: taken.extend(slow.take(offers)))
    taking.start()
    slow.inserted.wait()
    closing = threading.Thread(target=lambda: closed.append(other.close_inbox(TASK, 0, 1)))
    closing.start()
    closing.join(0.3)
    assert closing.is_alive()  # a close that did not wait would have lost the message
    slow.may_commit.set()
    taking.join()
    closing.join()
    assert taken == [[TakeVerdict.ACCEPTED]]
    assert closed == [True]
    assert other.count_inbox(TASK, 0) == 1
    assert other.find_round(TASK, 0).state == BatchState.CLOSING
    slow.close()
    other.close()
