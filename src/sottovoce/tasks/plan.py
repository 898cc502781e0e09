"""A plan: looks at what was collected, and says what to ask next or gives the answer.

A plan also describes itself, so that no shell (command line, dashboard, collector, laboratory)
needs to know its class.  All descriptions have defaults; a new plan must state its domain and
``step`` only.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError
from sottovoce.tasks.advice import Advice, CollectionAdvice
from sottovoce.tasks.collected import Blocks, Collected, NothingCollected
from sottovoce.tasks.moved_number import MovedNumber
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits

if TYPE_CHECKING:
    from sottovoce.accounting.batch import ShuffledBatch
    from sottovoce.accounting.targets import CentralTarget
    from sottovoce.answers.measure import Measure
    from sottovoce.answers.outcome import Outcome
    from sottovoce.domains.base import Domain


class Plan(ABC):
    """A pure state machine: what was collected in, the next round or the outcome out."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Plan"]] = Registry("plan", "sottovoce.plans", nested=True)
    longitudinal: ClassVar[bool] = False  # whether it asks the same users again and again
    answers_sql: ClassVar[bool] = False  # whether its outcome answers questions in SQL
    # Whether all its numbers come from ``collected.estimate``, which takes away what fakes add.
    takes_fakes: ClassVar[bool] = False

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

    def later_rounds(self, opening: Round) -> RoundLimits | None:
        """Return what rounds after the opening may be; a plan with one round has no others.

        Neither has a longitudinal plan: its rounds ask what the opening asks.
        """
        return None

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        """Return what speaks against collecting like this, known before anybody is asked."""
        return ()

    @property
    def concerns_of_free_coins(self) -> tuple[str, ...]:
        """Return what speaks against collecting where nobody checks coins, without tokens."""
        return ()

    def moved_numbers(self, epsilon: float, *, coins_checked: bool) -> tuple[MovedNumber, ...]:
        """Return numbers of the answers that are more than one count, with the influence on them.

        A plan with such numbers states its counts as well: they are made of several questions.
        """
        return ()

    def so_far(self, collected: Collected) -> "Outcome | None":
        """Return what may be shown before the plan has finished, if anything."""
        return None

    def candidates(self, collected: Collected, address: Address) -> Blocks | None:
        """Return the values at an address that can become part of the outcome; None for all."""
        return None

    def cell_label(self, asked: Round, address: Address, cell: int) -> str:
        """Return how people call a value of the mechanism at an address."""
        domain: Domain = self.domain
        if asked.question(address).encoding is None and domain.listed:
            return domain.labels[cell]
        return f"cell {cell:,}"

    # --- how a plan describes itself: notebooks, task files, advice, answers, simulations ---

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the kind of the plan, its domain and its settings."""
        from sottovoce.answers.notebook import html_text

        settings = {name: entry for name, entry in vars(self).items() if name != "domain"}
        shown = {"plan": self.kind, "domain": self.domain.described, **settings}
        return html_text(shown, type(self).__name__)

    @classmethod
    def check_settings(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return settings of a task file, or refuse what the constructor would misread."""
        return settings

    def for_shuffling(
        self, target: "CentralTarget", batch: "ShuffledBatch", max_local: float
    ) -> "Plan":
        """Return this plan with everything chosen that it leaves open, for shuffled reports."""
        return self

    def advise(self, users: int, epsilon: float) -> Advice:
        """Return what to expect; plans may add keyword arguments for what else they can answer."""
        opening = self.step(NothingCollected(epsilon))
        if not isinstance(opening, Round):
            raise ParameterError("a plan must ask something before it gives an outcome")
        kinds = sorted({question.mechanism.kind for question in opening.ask.representatives()})
        return CollectionAdvice(
            plan=self.kind,
            users=users,
            epsilon=epsilon,
            mechanisms=tuple(kinds),
            asked_first=opening.part(users),
            reports_per_person=opening.slots,
            report_bytes=opening.width,
            concerns=(*self.concerns(epsilon), *self.concerns_of_free_coins),
        )

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the post-processing methods for its outcome; ``none`` is the first."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods())

    @property
    def unprocessed(self) -> str:
        """Return in a few words what an outcome is like without post-processing."""
        return "raw, unbiased estimates"

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the names by which a part of the outcome can be chosen that is not listed."""
        return ()

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return some of the ``attributes`` in the order of the plan, or refuse unknown ones."""
        unknown = [name for name in names if name not in self.attributes]
        if unknown:
            raise ParameterError(
                f"`marginal` must name some of: {', '.join(self.attributes) or 'nothing'}"
            )
        return tuple(name for name in self.attributes if name in names)

    def select(self, outcome: "Outcome", names: Sequence[str]) -> "Outcome":
        """Return the part of the outcome about the named ``attributes``."""
        return outcome.select(names)

    def part_domain(self, name: str) -> "Domain | None":
        """Return the domain behind one part of the outcome, None where a part mixes several."""
        domain: Domain = self.domain
        return domain.part(name)

    def unit(self, name: str) -> str:
        """Return what one part of the outcome counts: people, or records."""
        return "people"

    def truth(self, values: Any, outcome: "Outcome") -> dict[str, dict[str, float]]:
        """Return the true number of every row, by part, given what people hold."""
        indices = self.domain.indices(values)
        true: dict[str, dict[str, float]] = {}
        for name, part in outcome.questions().items():
            domain = self.part_domain(name)
            if domain is None:
                raise ParameterError(
                    f"the truth about {name!r} is unknown: it mixes several domains"
                )
            labels = [row["value"] for row in part.rows()]
            true[name] = dict(domain.counts(self.domain.part_indices(indices, name), labels))
        return true

    def sought(self, values: Any) -> dict[str, int]:
        """Return what a search should find, most frequent first; nothing if nothing is sought."""
        return {}

    def assess(self, values: Any, outcome: "Outcome") -> "tuple[Measure, ...]":
        """Return further measures of how far the outcome is from what people hold."""
        return ()

    def draw(self, path: Path, values: Any, outcome: "Outcome", level: float = 0.95) -> None:
        """Draw the outcome beside what people hold, with intervals of a confidence level."""
        true = self.truth(values, outcome)
        outcome.at(level).plot(path, truth=true[outcome.name] if outcome.single else true)
