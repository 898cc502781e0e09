"""Sending a sealed message to the first hop of a task, or to a relay in front of it.

The request is the one that devices make (``client/transport.py``), with one message in it.
"""

from sottovoce.client.transport import ShufflerApi
from sottovoce.collector.key_exchange import shuffle_of
from sottovoce.collector.published import Published
from sottovoce.errors import MismatchError, StateError


class FirstHop:
    """The door of the first hop for one round of a task; a ``relay`` takes the place of its URL."""

    def __init__(self, published: Published, number: int, relay: str = "") -> None:
        self._api = ShufflerApi(relay or shuffle_of(published).hops[0].url)
        self._fingerprint = published.fingerprint
        self._number = number

    def send(self, sealed: bytes) -> None:
        """Send one message; raise unless the hop has it."""
        receipt = self._api.send(self._fingerprint, self._number, [sealed])
        if not receipt.refused:
            return
        if receipt.refused[0].code == "too-early":
            raise StateError("the first hop does not take messages of this round yet: try later")
        raise MismatchError("the first hop refuses a canary, as it would refuse a device's message")
