"""The status: rounded while a round is open, with the triple at the actual number of users."""

import pytest

from shuffler.hops import USERS, one_hop, people
from sottovoce.accounting import amplification
from sottovoce.mechanisms.grr import GRR
from sottovoce.shuffler.status import hop_status
from sottovoce.shuffler.store.base import SealedOffer


def test_counts_of_an_open_round_are_rounded_and_those_of_a_batch_exact(tmp_path):
    with one_hop(tmp_path, fakes=20, users=USERS + 4) as (hop, receiver):
        _, sealed = people(receiver, USERS + 6)
        fingerprint = receiver.notice.fingerprint
        hop.store.take([SealedOffer(fingerprint, 0, sealed[: USERS - 1])])
        [line] = hop_status(hop).tasks[0].rounds
        assert (line.state, line.messages, line.privacy) == ("open", 10, None)
        hop.store.take([SealedOffer(fingerprint, 0, sealed)])
        hop.advance()
        [line] = hop_status(hop).tasks[0].rounds
        assert (line.state, line.messages, line.batch) == ("erased", USERS + 6, USERS + 26)
        blanket = GRR(6.0, 16).blanket
        central = amplification.epsilon(blanket, blanket.batch(USERS + 6, 20), 1e-9)
        against = amplification.epsilon(blanket, blanket.batch(1, 20), 1e-9)
        assert line.privacy.users == USERS + 6
        assert line.privacy.central == pytest.approx(min(central, 6.0))
        assert line.privacy.against_users == pytest.approx(min(against, 6.0))
        assert line.privacy.local == 6.0
