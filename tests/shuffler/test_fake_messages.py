"""Fakes look like messages of people, and their tokens survive a crash."""

import numpy as np
import pytest

from shuffler.hops import one_hop
from sottovoce.core.rng import SystemRng
from sottovoce.errors import StateError
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.shuffler.collector_link import CollectorLink
from sottovoce.shuffler.fake_messages import FakeMessages, finished_tokens
from sottovoce.wire import envelope, tokens
from sottovoce.wire.seal import LayerOpener
from sottovoce.wire.shuffled_message import MessageFormat

FAKES = 4


@pytest.fixture(params=[False, True], ids=["open", "issuer"])
def site(request, tmp_path):
    with one_hop(tmp_path / "hop", fakes=FAKES, issuer=request.param) as (hop, receiver):
        [task] = hop.tasks()
        yield hop, receiver, task, CollectorLink(task)


def made(site, count=FAKES):
    hop, receiver, task, link = site
    asked = receiver.rounds[0]
    kept = finished_tokens(hop.store, link, task, asked, hop.signing.private_key)
    fakes = FakeMessages(task, asked, link.round_keys(0), kept)
    sealed = fakes.make(0, count, SystemRng())
    opener = LayerOpener(receiver.own_keys[0].private_key, task.context(asked), 1)
    return [opener.open(message) for message in sealed]


def test_fakes_are_messages_that_the_collector_can_read(site):
    _, receiver, task, _ = site
    messages = made(site)
    message_format = MessageFormat.of(task.notice, receiver.rounds[0])
    ids = set()
    for message in messages:
        token, data = message_format.split(message)
        [envelopes] = envelope.read([data], receiver.rounds[0].width)
        assert envelopes.digest == task.fingerprint
        assert envelopes.round == 0
        ids.add(envelopes.ids.tobytes())
        if receiver.issuer:
            signed = tokens.Token.from_bytes(token)
            tokens.verify(signed, receiver.issuer.public_key, task.fingerprint)
    assert len(ids) == FAKES


def test_fakes_are_uniform_over_the_reports(tmp_path):
    """5 sigma from the blanket of GRR, which has every report with one probability."""
    count = 4_000
    with one_hop(tmp_path / "hop", fakes=FAKES) as (hop, receiver):
        [task] = hop.tasks()
        asked = receiver.rounds[0]
        drawn = [payload for _, payload in asked.ask.fake_reports(count, SeededRng(5))]
        counts = np.bincount([payload[0] for payload in drawn], minlength=16)
        assert task.fingerprint
    share = 1 / 16
    sigma = (count * share * (1 - share)) ** 0.5
    print(counts, count * share, sigma)
    assert (abs(counts - count * share) < 5 * sigma).all()


def test_tokens_are_asked_for_with_the_same_bytes_after_a_crash(tmp_path):
    with one_hop(tmp_path / "hop", fakes=FAKES, issuer=True) as (hop, receiver):
        [task] = hop.tasks()
        asked, link = receiver.rounds[0], CollectorLink(task)
        receiver.failing = 1
        with pytest.raises(Exception, match="cannot serve"):
            finished_tokens(hop.store, link, task, asked, hop.signing.private_key)
        pending = {token.pending for token in hop.store.fake_tokens(task.fingerprint, 0)}
        first = finished_tokens(hop.store, link, task, asked, hop.signing.private_key)
        again = finished_tokens(hop.store, link, task, asked, hop.signing.private_key)
        kept = {token.pending for token in hop.store.fake_tokens(task.fingerprint, 0)}
        assert kept == pending
        assert first == again
        assert len(receiver.signed_blinded) == FAKES


def test_more_tokens_than_fakes_are_refused_by_the_collector(tmp_path):
    with one_hop(tmp_path / "hop", fakes=FAKES, issuer=True) as (hop, receiver):
        [task] = hop.tasks()
        link = CollectorLink(task)
        finished_tokens(hop.store, link, task, receiver.rounds[0], hop.signing.private_key)
        pending = tokens.blind(receiver.issuer.public_key, task.fingerprint)
        with pytest.raises(StateError, match="conflict"):
            link.sign_fake_tokens(0, [pending.blinded], hop.signing.private_key)


def test_fakes_have_the_seeds_of_their_tokens(tmp_path):
    """The twin is a task without the defence, whose fakes draw their seeds."""
    for defence, expected in (("seeds", [True] * FAKES), ("", [False] * FAKES)):
        plan = Histogram(range(16), "affine")
        changes = {"plan": plan, "defence": defence, "fakes": FAKES}
        with one_hop(tmp_path / f"hop{defence}", issuer=True, **changes) as (hop, receiver):
            [task] = hop.tasks()
            asked, mechanism = receiver.rounds[0], receiver.rounds[0].ask.mechanism
            layout = MessageFormat.of(task.notice, asked)
            carrying = []
            for message in made((hop, receiver, task, CollectorLink(task))):
                token, data = layout.split(message)
                [envelopes] = envelope.read([data], asked.width)
                draw = tokens.Token.from_bytes(token).seed_draw(task.fingerprint, 0)
                reports = mechanism.unpack(envelopes.payloads.tobytes())
                draws = np.array([draw], np.uint64)
                carrying += mechanism.carries_seeds(reports, draws).tolist()
            assert carrying == expected
