"""Permanent responses: a device that is asked again and again about one value draws its noise once.

The noise comes from a secret that never leaves the device, so reports of one value reveal together what its
permanent response reveals, however many there are.  Every further distinct value has a response of its own; the
task declares how many it pays for, and after these a device repeats its last one.  When a value changes, reports
that look different may show that it changed: a budget bounds what they tell about the values, not about the moment.

Source: Erlingsson 2014.
"""

from dataclasses import dataclass

from sottovoce.arrays import Reports, Values
from sottovoce.client.ledger import DiskLedger
from sottovoce.core.rng import KeyedRng, Rng
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.question import Address, Question
from sottovoce.wire import codec

LARGEST = 1 << 32  # encoded values that can be told apart


@dataclass(frozen=True)
class Memory:
    """What a device remembers of its answers to one longitudinal task."""

    ledger: DiskLedger
    notice: Notice

    def check(self, question: Question) -> None:
        """Refuse a question with more encoded values than can be remembered, or that counts on being asked once."""
        encoding, domain = question.encoding, self.notice.domain
        if (encoding.outputs(domain) if encoding else domain.size) > LARGEST:
            raise ParameterError("a longitudinal task remembers at most 2^32 different values")
        # All responses of a device share the draw of its encoding, which hides a single one and not several.
        if exact.log(question.mechanism.worst_ratio) > exact.stated(question.epsilon):
            raise ParameterError("this question hides one response, but not several of one device")

    def report(self, indices: Values, address: Address, question: Question, rng: Rng) -> Reports:
        """Return a report of the remembered response; everything is drawn alike, new or remembered."""
        task, mechanism = self.notice.digest, question.mechanism
        secret = self.ledger.secret(task)
        place = address.member.to_bytes(4, "little") + address.slot.to_bytes(2, "little")
        context = codec.digest_to_bytes(task) + place
        encoded = question.encoding(indices, KeyedRng(secret, context)) if question.encoding else indices
        index = int(encoded[0])
        drawn = mechanism.permanent(encoded, KeyedRng(secret, context + index.to_bytes(4, "little")))
        most = self.notice.distinct or 1
        kept = self.ledger.remember(task, (address.slot, index), mechanism.pack(drawn), most)
        return mechanism.instantaneous(mechanism.unpack(kept), rng)
