"""A shuffled batch: how many people's reports leave the shuffler together, and how many fakes."""

from dataclasses import dataclass

from sottovoce.core import settings

MAX_REPORTS = 1 << 34  # twice the people there are; devices still account for them in seconds


@dataclass(frozen=True)
class ShuffledBatch:
    """The reports of ``users`` honest people and ``fakes`` reports that the shuffler adds.

    ``users`` includes the person whose privacy is accounted for.  So a batch of 1 describes a
    collector that colludes with everybody else: only the fakes still hide that person.

    >>> ShuffledBatch(users=100_000, fakes=20_000).others
    99999
    """

    users: int
    fakes: int = 0

    def __post_init__(self) -> None:
        settings.whole("users", self.users, 1, MAX_REPORTS)
        settings.whole("fakes", self.fakes, 0, MAX_REPORTS)

    @property
    def others(self) -> int:
        """Return how many honest people there are beside the one who is accounted for."""
        return self.users - 1
