"""Permanent responses: a device that is asked again and again about one value draws its noise once.

The noise comes from a secret that never leaves the device, so that all reports of one value
together reveal what its permanent response reveals.  Every further distinct value has a response of
its own; the task declares how many it pays for, and after these a device repeats its last one.
When a value changes, reports that look different may show that it changed: the budget bounds what
they tell about the values, not about the moment.

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

MAX_ENCODED_VALUES = 1 << 32


@dataclass(frozen=True)
class PermanentResponses:
    """The permanent responses of one device to one longitudinal task."""

    ledger: DiskLedger
    notice: Notice

    def check(self, question: Question) -> None:
        """Refuse a question that a longitudinal task cannot ask."""
        encoding = question.encoding
        domain = self.notice.domain
        encoded_values = encoding.outputs(domain) if encoding else domain.size
        if encoded_values > MAX_ENCODED_VALUES:
            raise ParameterError(
                "`encoding` must have at most 2^32 encoded values in a longitudinal task"
            )
        # All responses of a device share one draw of the encoding, so that the draw, which hides a
        # single response, does not hide several.
        if exact.log(question.mechanism.worst_ratio) > exact.stated(question.epsilon):
            raise ParameterError(
                "in a longitudinal task the mechanism alone must keep to"
                " the `epsilon` of its question"
            )

    def report(self, indices: Values, address: Address, question: Question, rng: Rng) -> Reports:
        """Return a report of the permanent response to a value.

        The same randomness is drawn whether the response is new or remembered.
        """
        task = self.notice.digest
        mechanism = question.mechanism
        secret = self.ledger.secret(task)
        member_and_slot = address.member.to_bytes(4, "little") + address.slot.to_bytes(2, "little")
        context = codec.digest_to_bytes(task) + member_and_slot
        encoded = indices
        if question.encoding:
            encoded = question.encoding(indices, KeyedRng(secret, context))
        index = int(encoded[0])
        keyed_rng = KeyedRng(secret, context + index.to_bytes(4, "little"))
        response = mechanism.pack(mechanism.permanent(encoded, keyed_rng))
        max_responses = self.notice.distinct or 1
        kept = self.ledger.remember(task, (address.slot, index), response, max_responses)
        return mechanism.instantaneous(mechanism.unpack(kept), rng)
