"""A hop in front of a receiver, with a task of eight users and no fakes."""

import pytest

from shuffler.hops import one_hop, served_hop


@pytest.fixture
def hop_and_receiver(tmp_path):
    with one_hop(tmp_path / "hop") as both:
        yield both


@pytest.fixture
def hop(hop_and_receiver):
    return hop_and_receiver[0]


@pytest.fixture
def receiver(hop_and_receiver):
    return hop_and_receiver[1]


@pytest.fixture
def client(hop):
    with served_hop(hop) as served:
        yield served
