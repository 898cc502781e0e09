"""The status: rounded while a round is open, with the triple at the actual number of users."""

from shuffler.hops import USERS, one_hop, people
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee
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
        expected = ShuffledGuarantee.of(GRR(6.0, 16).blanket, USERS + 6, 20, 1e-9)
        assert line.privacy.users == USERS + 6
        shown = line.privacy
        triple = (shown.central, shown.against_users, shown.local, shown.delta)
        stated = (expected.central, expected.against_users, expected.local, expected.delta)
        assert triple == stated
        assert 0 < shown.central < shown.against_users <= shown.local == 6.0
