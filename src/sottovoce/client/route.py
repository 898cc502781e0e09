"""Routes: how the messages of a device travel to the collector.

A device makes a message and puts it into its outbox; the route carries it when it is due.  A
message is filed under the address of its route and leaves by that route only, because what an
answer reveals may depend on who sees it arrive.
"""

from abc import ABC, abstractmethod

from sottovoce.client.outbox import Report
from sottovoce.client.transport import CollectorApi, Receipt, ShufflerApi
from sottovoce.errors import BudgetError


class Route(ABC):
    """How messages travel."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Return the address that messages are sent to."""

    @abstractmethod
    def send(self, report: Report) -> Receipt:
        """Send the message of one report, with its enrolment token if its task needs one.

        Raises ``UnavailableError`` if nothing can be sent by this route now.
        """


class DirectRoute(Route):
    """Messages go straight to the collector, over HTTP."""

    def __init__(self, api: CollectorApi) -> None:
        self._api = api

    @property
    def url(self) -> str:
        return self._api.url

    def send(self, report: Report) -> Receipt:
        tokens = [] if report.token is None else [report.token]
        return self._api.send(report.name, [message_of(report)], tokens)


class ShuffledRoute(Route):
    """Sealed messages go to the first shuffler of their task, or to a relay in front of it."""

    def __init__(self, api: ShufflerApi) -> None:
        self._api = api

    @property
    def url(self) -> str:
        return self._api.url

    def send(self, report: Report) -> Receipt:
        return self._api.send(report.fingerprint, report.round, [message_of(report)])


def message_of(report: Report) -> bytes:
    """Return the message of a report that has not been erased."""
    if report.message is None:
        raise BudgetError("the message of this report has been erased")
    return report.message
