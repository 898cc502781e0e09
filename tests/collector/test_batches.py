"""Parts of a batch: kept once, believed by signature, complete when the hash is right."""

import hashlib

import pytest

from collector.people import text
from collector.shuffled import Chain, shuffled_for
from sottovoce.collector import batches
from sottovoce.errors import MismatchError, StateError
from sottovoce.web.problems import RequestError

VALUES = [1, 2, 3, 4, 5, 6, 7]


@pytest.fixture
def chain():
    return Chain.of(2)


@pytest.fixture
def task(collector, chain):
    task = shuffled_for(collector, chain)
    collector.create(text(task), toml=False)
    chain.push(collector, task)
    return task


@pytest.fixture
def mixed(collector, chain, task):
    from collector.shuffled import envelopes_of, plain_message

    messages = [plain_message(task, envelopes_of(task, value)) for value in VALUES]
    return chain.mix(task, chain.seal(collector, task, messages))


def receive(collector, task, part, body, number=0):
    return batches.receive(collector.store, collector.find(task.name), (number, part), body)


def refused(collector, task, part, body, number=0):
    with pytest.raises(RequestError) as caught:
        receive(collector, task, part, body, number)
    return caught.value.code


def test_parts_come_in_any_order_and_as_often_as_they_like(collector, chain, task, mixed):
    parts = chain.parts(task, mixed)
    assert len(parts) == 3
    record, is_new = receive(collector, task, 2, parts[2])
    assert (record.received, record.parts, record.complete, is_new) == (1, 3, False, True)
    record, is_new = receive(collector, task, 2, parts[2])
    assert (record.received, is_new) == (1, False)
    receive(collector, task, 0, parts[0])
    record, is_new = receive(collector, task, 1, parts[1])
    assert (record.received, record.complete, is_new) == (3, True, True)
    collector.advance()
    record, is_new = receive(collector, task, 1, parts[1])
    assert (record.complete, record.opened, is_new) == (True, 3, False), "after opening, too"


def test_a_part_of_other_content_does_not_replace_the_first(collector, chain, task, mixed):
    parts = chain.parts(task, mixed)
    receive(collector, task, 0, parts[0])
    for other in (
        chain.parts(task, mixed[::-1], batch_hash=_hash(mixed)),  # the same batch, says the hop
        chain.parts(task, mixed[::-1]),
        chain.parts(task, mixed, in_part=2),
    ):
        with pytest.raises(MismatchError, match=r"and (it|they) stays?"):
            receive(collector, task, 0, other[0])
    assert receive(collector, task, 0, parts[0])[0].received == 1


def test_a_batch_with_a_wrong_hash_is_dropped_whole(collector, chain, task, mixed):
    wrong = chain.parts(task, mixed, batch_hash=bytes(32))
    receive(collector, task, 0, wrong[0])
    receive(collector, task, 1, wrong[1])
    assert refused(collector, task, 2, wrong[2]) == "conflict"
    assert collector.store.batch(collector.find(task.name).digest, 0) is None
    for number, body in chain.parts(task, mixed).items():
        record, _ = receive(collector, task, number, body)
    assert record.complete


def test_a_crash_before_the_last_check_is_made_good_by_the_next_part(collector, chain, task, mixed):
    """All parts are stored, and the process dies before it has compared the hash."""
    parts = chain.parts(task, mixed)
    digest = collector.find(task.name).digest
    for number, body in parts.items():
        part = batches.read_part(collector.find(task.name), (0, number), body)
        collector.store.add_part(digest, 0, part)
    assert not collector.store.batch(digest, 0).complete
    record, is_new = receive(collector, task, 0, parts[0])
    assert (record.complete, is_new) == (True, False)


def test_what_the_last_hop_has_not_signed_is_refused(collector, chain, task, mixed):
    good = chain.parts(task, mixed)[0]
    assert refused(collector, task, 1, good) == "bad-signature", "another place"
    assert refused(collector, task, 0, good[:-1]) == "bad-signature"
    assert refused(collector, task, 0, bytes(64) + good[64:]) == "bad-signature"
    by_stranger = Chain.of(2).parts(task, mixed)[0]
    assert refused(collector, task, 0, by_stranger) == "bad-signature"
    first_hop = Chain(chain.signing[::-1]).parts(task, mixed)[0]
    assert refused(collector, task, 0, first_hop) == "bad-signature"
    for_other_round = chain.parts(task, mixed, number=1)[0]
    assert refused(collector, task, 0, for_other_round) == "bad-signature"


def test_what_is_no_part_is_refused(collector, chain, task, mixed):
    assert refused(collector, task, 0, b"") == "malformed-request"
    assert refused(collector, task, 0, bytes(100)) == "malformed-request"
    assert refused(collector, task, 0, bytes((1 << 20) + 101)) == "too-large"
    good = chain.parts(task, mixed)
    assert refused(collector, task, 3, good[0]) == "malformed-request", "beyond the last part"
    uneven = chain.parts(task, [b"".join(mixed)[:-1]])
    assert refused(collector, task, 0, uneven[0]) == "malformed-request"
    too_many = chain.parts(task, [mixed[0]] * 1_001, in_part=1_001)
    assert refused(collector, task, 0, too_many[0]) == "malformed-request"
    assert refused(collector, task, 0, good[0], number=1) == "not-found"


def test_a_round_with_a_complete_batch_closes_by_itself_only(collector, chain, task, mixed):
    for number, body in chain.parts(task, mixed).items():
        receive(collector, task, number, body)
    with pytest.raises(StateError, match="closes by itself"):
        collector.close(task.name)


def test_a_round_that_an_operator_closed_takes_no_batch(collector, chain, task, mixed):
    parts = chain.parts(task, mixed)
    receive(collector, task, 0, parts[0])
    digest = collector.find(task.name).digest
    assert collector.close(task.name, at_once=True)
    with pytest.raises(MismatchError, match="takes no batch any more"):
        receive(collector, task, 1, parts[1])
    collector.advance()
    assert collector.find(task.name).record.failure
    assert list(collector.store.parts(digest, 0)) == [], "what had come is erased"
    assert collector.store.private_round_key(digest, 0) is None


def _hash(batch):
    return hashlib.sha256(b"".join(batch)).digest()
