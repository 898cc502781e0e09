"""The embedded store: what it erases is gone from its files, and arrival leaves no trace."""

import os

from shuffler.store.rounds import KEY_SET, KEYS, SET_SIGNATURE, TASK, new_round, task
from sottovoce.shuffler.store.base import MixedBatch, SealedOffer
from sottovoce.shuffler.store.sqlite import SqliteHopStore


def bytes_on_disk(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_erased_messages_and_keys_are_in_no_file(tmp_path):
    store = SqliteHopStore(tmp_path / "shuffler.db")
    store.add_task(task())
    store.open_round(new_round())
    store.keep_key_set(TASK, 0, KEY_SET, SET_SIGNATURE)
    messages = [os.urandom(300) for _ in range(50)]
    for message in messages:
        store.take([SealedOffer(TASK, 0, [message])])
    assert any(message[:100] in bytes_on_disk(tmp_path) for message in messages)
    assert KEYS.private_key in bytes_on_disk(tmp_path)
    store.close_inbox(TASK, 0, 1)
    store.note_mixed(TASK, 0, MixedBatch(b"h" * 32, 50, 0))
    store.note_delivered(TASK, 0)
    store.erase(TASK, 0)
    left = bytes_on_disk(tmp_path)
    assert not any(message[:100] in left or message[-50:] in left for message in messages)
    assert KEYS.private_key not in left
    store.close()


def test_two_orders_of_arrival_give_the_same_rows(tmp_path):
    messages = [os.urandom(60) for _ in range(20)]
    rows = []
    for name, arriving in (("a", messages), ("b", messages[::-1])):
        store = SqliteHopStore(tmp_path / f"{name}.db")
        store.add_task(task())
        store.open_round(new_round())
        for message in arriving:
            store.take([SealedOffer(TASK, 0, [message])])
        rows.append([message for page in store.inbox(TASK, 0, 7) for message in page])
        store.close()
    assert rows[0] == rows[1]
