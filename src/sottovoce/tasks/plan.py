"""A plan: looks at what was collected, and says what to ask next or gives the answer."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from sottovoce.core.registry import Registry
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.round import Round

if TYPE_CHECKING:
    from sottovoce.answers.outcome import Outcome

_HOMES = ("frequencies", "numbers", "heavy_hitters", "itemsets", "marginals", "tables")


class Plan(ABC):
    """A pure state machine: what was collected in, the next round or the outcome out."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Plan"]] = Registry("plan", *(f"sottovoce.plans.{home}" for home in _HOMES))
    longitudinal: ClassVar[bool] = False  # whether it asks the same users again and again

    domain: Any  # what one person may hold: a Domain; its document stands once, in the task's

    def __init_subclass__(cls, kind: str, *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        if wire:  # plans of the laboratory cannot be named by a document
            Plan.kinds.add(kind, cls)

    @abstractmethod
    def step(self, collected: Collected) -> "Round | Outcome":
        """Return what to ask next, or the outcome."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the optional fields of a report that its tasks must declare."""
        return ()

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        """Return what speaks against collecting like this, known before anybody is asked."""
        return ()

    def so_far(self, collected: Collected) -> "Outcome | None":
        """Return what may be shown before the plan has finished, if anything."""
        return None
