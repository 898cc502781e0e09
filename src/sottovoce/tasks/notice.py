"""A notice: what a device needs of a task."""

from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.domains.base import Domain
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.limits import check_declared, check_name, check_price
from sottovoce.tasks.round import Round


@dataclass(frozen=True)
class Notice:
    """The price, the domain and the opening round of a task; a device never needs the plan."""

    name: str
    description: str
    digest: str
    domain: Domain
    epsilon: float
    declares: tuple[str, ...]
    opening: Round
    collection: Collection | None = None
    distinct: int | None = None

    def __post_init__(self) -> None:
        settings.epsilon("epsilon", self.epsilon)
        check_name(self.name)
        check_declared(self.declares)
        self.check(self.opening)

    def check(self, asked: Round) -> Round:
        """Return the round, or refuse one that costs more than the task stated."""
        check_price(asked, self.epsilon, self.distinct)
        return asked
