"""Delivery in parts: signed, in order, and to the right place."""

import hashlib
import os

import pytest

from shuffler.hops import shuffled_task
from sottovoce.errors import CodecError
from sottovoce.shuffler.added_task import AddedTask, new_task
from sottovoce.shuffler.delivery import Delivery
from sottovoce.wire import codec


class Listening:
    """A server that remembers what it is sent."""

    def __init__(self, url, answers):
        self.url, self.answers, self.paths = url, answers, []

    def put_bytes(self, path, body):
        self.paths.append(path)
        return self.answers[min(len(self.paths), len(self.answers)) - 1]


def delivery(tmp_path, hops=1, hop=0, count=2_500):
    listed = [(f"https://mix-{n}.example.org", bytes([n + 1]) * 32) for n in range(hops)]
    document = codec.canonical(codec.document(shuffled_task(listed, "A" * 43)))
    collector = "https://collector.example.org"
    task = AddedTask.read(new_task(document, collector), listed[hop][1])
    data = os.urandom(100 * count)
    (tmp_path / "batch").write_bytes(data)
    return Delivery(task, 3, tmp_path / "batch", hashlib.sha256(data).digest(), 100, count)


def test_the_last_hop_delivers_to_the_collector_by_the_name_of_the_task(tmp_path):
    servers = []

    def connect(url):
        servers.append(
            Listening(url, [{"complete": False}, {"complete": False}, {"complete": True}])
        )
        return servers[-1]

    assert delivery(tmp_path).send(b"k" * 32, connect)
    assert servers[0].url == "https://collector.example.org"
    assert servers[0].paths == [f"/v1/tasks/count/rounds/3/batch/{part}" for part in range(3)]


def test_another_hop_delivers_to_the_next_by_the_fingerprint(tmp_path):
    server = Listening("", [{"complete": True}])
    sent = delivery(tmp_path, hops=2)
    assert sent.send(b"k" * 32, lambda url: setattr(server, "url", url) or server)
    assert server.url == "https://mix-1.example.org"
    assert server.paths == [f"/v1/tasks/{sent.task.address_name}/rounds/3/batch/0"]


def test_a_receiver_that_never_has_all_parts_is_told_apart(tmp_path):
    server = Listening("", [{"complete": False}])
    assert not delivery(tmp_path).send(b"k" * 32, lambda url: server)
    with pytest.raises(CodecError, match="complete"):
        delivery(tmp_path).send(b"k" * 32, lambda url: Listening("", [{}]))
