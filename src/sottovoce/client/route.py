"""Routes: how the messages of a device travel to the collector.

A device makes a message and puts it into its outbox; the route carries it when it is due.  A
message is filed under the address of its route and leaves by that route only, because what an
answer reveals may depend on who sees it arrive.
"""

from abc import ABC, abstractmethod

from sottovoce.client.transport import CollectorApi, Receipt


class Route(ABC):
    """How messages travel."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Return the address that messages are sent to."""

    @abstractmethod
    def send(self, task_name: str, message: bytes, token: str | None) -> Receipt:
        """Send one message, with an enrolment token if its task needs one.

        Raises ``UnavailableError`` if nothing can be sent by this route now.
        """


class DirectRoute(Route):
    """Messages go straight to the collector, over HTTP."""

    def __init__(self, api: CollectorApi) -> None:
        self._api = api

    @property
    def url(self) -> str:
        return self._api.url

    def send(self, task_name: str, message: bytes, token: str | None) -> Receipt:
        return self._api.send(task_name, [message], [] if token is None else [token])
