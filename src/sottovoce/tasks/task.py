"""Documents: what is asked, of whom, at what price.  Same digest, same meaning, for ever.

A ``Question`` is randomised by one mechanism.  A ``Round`` puts it to the users whose public coin
falls in its share, alone or through two combinators: a ``Choice`` lets the coin pick one member of a
family, a ``Bundle`` asks several things of one user for the sum of their budgets.  A ``Task`` binds a
domain, a plan and the opening round under one digest.  A ``Plan`` looks at what was collected and says
what to ask next, or answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias
from unicodedata import normalize

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values, grouped
from sottovoce.core.estimate import Estimate
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collection import Collection

if TYPE_CHECKING:
    from sottovoce.answers.answer import Answer, Answers
    from sottovoce.answers.measures import Measures

FIELDS_A_TASK_MAY_DECLARE = ("subject", "public")
SHORTEST_WAIVER, LONGEST_WAIVER = 20, 1000  # characters


@dataclass(frozen=True)
class Question:
    """One mechanism, what is computed before it, and the epsilon of both together.

    With a ``waiver``, the operator's statement in writing, the epsilon is that of a weaker guarantee than local
    differential privacy; devices refuse such a question unless they were built to accept it.
    """

    mechanism: Mechanism
    encoding: Encoding | None = None
    epsilon: float = 0.0
    waiver: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.check_epsilon(self.epsilon or self.mechanism.epsilon))
        exceeds = exact.log(self._worst) > exact.stated(self.epsilon)
        if self.waived:
            object.__setattr__(self, "waiver", _check_waiver(self.waiver, exceeds=exceeds))
            if exact.log(self.mechanism.worst_part) > exact.stated(self.epsilon):
                raise ParameterError("a waiver is about parts of an answer together: each alone keeps to the epsilon")
        elif exceeds:
            raise ParameterError("this question spends more than the epsilon it states")

    @property
    def waived(self) -> bool:
        """Return whether the stated epsilon is that of a weaker guarantee."""
        return self.waiver is not None

    @property
    def epsilon_pure(self) -> float:
        """Return the epsilon of local differential privacy that the report really spends."""
        return exact.at_least(exact.log(self._worst))

    @property
    def _worst(self) -> Fraction:
        return self.encoding.worst_ratio(self.mechanism) if self.encoding else self.mechanism.worst_ratio

    @property
    def width(self) -> int:
        """Return the bytes of one packed report."""
        return self.mechanism.width

    def check_domain(self, domain: Domain) -> None:
        """Refuse a domain with values that the mechanism cannot take: silence would give them away."""
        if (self.encoding.outputs(domain) if self.encoding else domain.size) > self.mechanism.size:
            raise ParameterError("this question has no answer for some values of its task's domain")

    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one report per value of the task's domain, given as its ``indices`` gives them."""
        return self.mechanism.privatize(self.encoding(values, rng) if self.encoding else values, rng)


class Family(ABC):
    """Questions too many to list: their number, and the one at an index."""

    kind: ClassVar[str]
    alike: ClassVar[bool] = False  # whether all are randomised by the same mechanism
    kinds: ClassVar[Registry["Family"]] = Registry("family", "sottovoce.encodings")

    def __init_subclass__(cls, kind: str, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        Family.kinds.add(kind, cls)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> Question: ...

    def different(self) -> Iterable[int]:
        """Return members that stand for all: every mechanism that any of them has."""
        return range(1 if self.alike else len(self))

    def encoded(self, members: Ints, values: Values, rng: Rng) -> Values:
        """Return what is randomised for people who are asked different members; only of those that are alike."""
        found = np.zeros(len(members), np.int64)
        for member, places in grouped(members):
            encoding = self[member].encoding
            found[places] = encoding(values[places], rng) if encoding else values[places]
        return found


@dataclass(frozen=True)
class Choice:
    """One member of a family, picked by the user's public coin; all pack to one length."""

    members: "tuple[Question | Bundle, ...] | Family"
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.members):
            raise ParameterError("a choice needs at least one member")
        if self.weights and (len(self.weights) != len(self.members) or min(self.weights) < 1):
            raise ParameterError("a choice needs one positive whole weight for every member")
        listed = () if isinstance(self.members, Family) else self.members
        if any(isinstance(part, Choice) for one in listed if isinstance(one, Bundle) for part in one.parts):
            raise ParameterError("a report has one member and one slot: choices and bundles nest once")
        if (sum(self.weights) or len(self.members)) >= 1 << 32:
            raise ParameterError("the weights of a choice must sum to less than 2^32")

    @cached_property
    def epsilon(self) -> float:
        """Return the most that any member spends: the coin is public and independent of the value."""
        return max(one.epsilon for one in self._different)

    @cached_property
    def epsilon_pure(self) -> float:
        """Return the most that any member spends of local differential privacy."""
        return max(one.epsilon_pure for one in self._different)

    @cached_property
    def waived(self) -> bool:
        """Return whether some member states the epsilon of a weaker guarantee."""
        return any(one.waived for one in self._different)

    @cached_property
    def width(self) -> int:
        return max(one.width for one in self._different)

    @property
    def _different(self) -> "Iterator[Question | Bundle]":
        """Return members that stand for all."""
        listed = self.members.different() if isinstance(self.members, Family) else range(len(self.members))
        return (self.members[index] for index in listed)

    @property
    def bundled(self) -> bool:
        """Return whether some member is a bundle."""
        return not isinstance(self.members, Family) and any(isinstance(one, Bundle) for one in self.members)

    def pick(self, coins: Values) -> Values:
        """Return the member that each 64-bit coin picks."""
        bounds = np.cumsum(np.array(self.weights, np.uint64))
        whole = int(bounds[-1]) if self.weights else len(self.members)
        # floor(coin * whole / 2^64), in two 32-bit halves
        low, high = coins & np.uint64(0xFFFFFFFF), coins >> np.uint64(32)
        position = (high * np.uint64(whole) + (low * np.uint64(whole) >> np.uint64(32))) >> np.uint64(32)
        return np.searchsorted(bounds, position, side="right") if self.weights else position.astype(np.int64)


@dataclass(frozen=True)
class Bundle:
    """Several reports of one user in numbered slots: one charge, budgets added."""

    parts: tuple[Question | Choice, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("a bundle needs at least one part")
        if any(isinstance(part, Choice) and part.bundled for part in self.parts):
            raise ParameterError("a report has one member and one slot: choices and bundles nest once")

    @property
    def epsilon(self) -> float:
        return float(sum(exact.stated(part.epsilon) for part in self.parts))

    @property
    def epsilon_pure(self) -> float:
        """Return what the parts together spend of local differential privacy."""
        return float(sum(exact.stated(part.epsilon_pure) for part in self.parts))

    @property
    def waived(self) -> bool:
        """Return whether some part states the epsilon of a weaker guarantee."""
        return any(part.waived for part in self.parts)

    @property
    def width(self) -> int:
        return max(part.width for part in self.parts)


Ask: TypeAlias = Question | Choice | Bundle


@dataclass(frozen=True, order=True)
class Address:
    """Where a report belongs: which round, which member of its choice, which slot of its bundle."""

    round: int = 0
    member: int = 0
    slot: int = 0


@dataclass(frozen=True)
class Round:
    """What the users with a coin in [low, high), in units of 2^-64, are asked."""

    number: int
    ask: Ask
    low: int = 0
    high: int = exact.UNIT

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= exact.UNIT or not 0 <= self.number < 1 << 16:
            raise ParameterError("a round claims a part of the coins, 0 <= low < high <= 2^64")

    @property
    def epsilon(self) -> float:
        return self.ask.epsilon

    @property
    def width(self) -> int:
        return self.ask.width

    def part(self, users: int) -> int:
        """Return how many of so many users of the whole task belong to the round; all rounds together, all of them."""
        first, last = ((users * bound + exact.UNIT // 2) // exact.UNIT for bound in (self.low, self.high))
        return last - first

    def asks(self, coin: int) -> bool:
        """Return whether the user with this coin belongs to the round."""
        return self.low <= coin < self.high

    def question(self, address: Address) -> Question:
        """Return the question at an address, or refuse the address."""
        ask: Ask = self.ask
        if address.round != self.number:
            raise ParameterError("this report belongs to another round")
        if isinstance(ask, Bundle):
            ask = _member(ask.parts, address.slot)
        elif address.slot and not (isinstance(ask, Choice) and ask.bundled):
            raise ParameterError("this round has no slots")
        if isinstance(ask, Choice):
            ask = _member(ask.members, address.member)
        elif address.member:
            raise ParameterError("this round offers no choice")
        if isinstance(ask, Bundle):
            ask = _member(ask.parts, address.slot)
        if address.slot and isinstance(self.ask, Choice) and ask is self.ask.members[address.member]:
            raise ParameterError("this member has no slots")
        assert isinstance(ask, Question)
        return ask

    def addresses(self, coin: Callable[[int], int]) -> list[Address]:
        """Return where a user answers: the 64-bit coin of a slot picks its member, a bundle fills every slot."""
        ask, member = self.ask, 0
        if isinstance(ask, Choice):
            member = _picked(ask, coin(0))
            ask = ask.members[member]
        parts = ask.parts if isinstance(ask, Bundle) else (ask,)
        members = [_picked(part, coin(slot)) if isinstance(part, Choice) else member for slot, part in enumerate(parts)]
        return [Address(self.number, one, slot) for slot, one in enumerate(members)]

    @property
    def slots(self) -> int:
        """Return how many slots a user fills at the most."""
        ask = self.ask
        if isinstance(ask, Choice) and not isinstance(ask.members, Family):
            return max(len(one.parts) if isinstance(one, Bundle) else 1 for one in ask.members)
        return len(ask.parts) if isinstance(ask, Bundle) else 1


@dataclass(frozen=True)
class Blocks:
    """Candidates too many to list: every extension by ``extension`` bits of every prefix, prefix by prefix."""

    prefixes: tuple[int, ...]
    extension: int

    def __len__(self) -> int:
        return len(self.prefixes) << self.extension

    def __getitem__(self, place: int) -> int:
        return self.prefixes[place >> self.extension] << self.extension | place & ((1 << self.extension) - 1)


Columns: TypeAlias = Mapping[str, Values]


@dataclass(frozen=True)
class Scored:
    """What reports in some slots say about several targets: ``score`` gets slot, member and reports of an address."""

    slots: tuple[int, ...]
    width: int
    score: Callable[[int, int, Reports], Floats]


class Collected(Protocol):
    """What the plan may look at: the rounds so far and the reports that answered them."""

    @property
    def epsilon(self) -> float: ...

    @property
    def seed(self) -> bytes: ...

    @property
    def rounds(self) -> tuple[Round, ...]: ...

    def users(self, round_number: int) -> int:
        """Return how many users answered a round."""

    def tally(self, address: Address) -> Tally:
        """Return the sums over the reports at an address."""

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        """Return totals for the mechanism's domain, or for some candidates, scaled to the round's users."""

    def yes(self, number: int) -> tuple[Ints, Ints]:
        """Return how often each member of a round of yes-or-no questions was asked, and how many reports said yes."""

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        """Return the subject and the score of every report at an address."""

    def reports(self, address: Address) -> Iterator[Reports]:
        """Yield the reports at an address in batches."""

    def answered(self, number: int) -> Mapping[Address, int]:
        """Return how many reports there are at every address of a round."""

    def single(self, number: int) -> bool:
        """Return whether everybody who answered a round is known to have exactly one report in every slot."""

    def select(
        self, number: int, scored: "Mapping[str, Scored]", public: Mapping[str, bool], statement: Any
    ) -> Columns:
        """Return the columns of a relational statement over the reports of a round.

        Its relations are one for each of ``scored``, with the columns person, s0, s1, ..., and ``people``, with person
        and the ``public`` columns p0, p1, ..., of which it is said whether they are numbers.
        """


class Plan(ABC):
    """A pure state machine: what was collected in, the next round or the answer out."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Plan"]] = Registry(
        "plan",
        *(
            f"sottovoce.{home}"
            for home in (
                "plans.frequencies",
                "plans.numbers",
                "plans.heavy_hitters",
                "plans.itemsets",
                "plans.marginals",
                "plans.tables",
                "lab.baselines",
            )
        ),
    )

    def __init_subclass__(cls, kind: str, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        Plan.kinds.add(kind, cls)

    lasting: ClassVar[bool] = False  # whether it asks the same users again, which only longitudinal tasks may

    domain: Any  # what one person may hold: a Domain; its document stands once in the task's

    @abstractmethod
    def step(self, collected: Collected) -> "Round | Answer | Answers | Measures":
        """Return what to ask next, or the answer."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the fields of a report that its tasks must declare."""
        return ()

    def concerns(self, epsilon: float) -> tuple[str, ...]:
        """Return what speaks against collecting like this, known before anybody is asked."""
        return ()

    def so_far(self, collected: Collected) -> "Answer | Answers | Measures | None":
        """Return what may be shown before the plan has finished, if anything."""
        return None


@dataclass(frozen=True)
class Task:
    """A name, a plan and a price; the opening round follows from them.

    A task with ``distinct`` is longitudinal: its rounds go to the same users, whose devices memoise one
    permanent response per value, for so many distinct values; all of them are paid for beforehand.
    """

    name: str
    plan: Plan
    epsilon: float
    description: str = ""
    declares: tuple[str, ...] = ()
    collection: Collection | None = None
    distinct: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.check_epsilon(self.epsilon))
        needed = (field for field in self.plan.needs if field not in self.declares)
        object.__setattr__(self, "declares", (*self.declares, *needed))
        _check_labels(self.name, self.declares)
        _check_distinct(self.distinct)
        if self.plan.lasting and self.distinct is None:
            raise ParameterError(
                "this plan asks the same users again: declare how many distinct values the task pays for"
            )
        _check_price(self.opening, self.epsilon, self.distinct)

    @property
    def concerns(self) -> tuple[str, ...]:
        """Return what speaks against collecting like this, known before anybody is asked."""
        return self.plan.concerns(self.response_epsilon)

    @property
    def response_epsilon(self) -> float:
        """Return what one permanent response may cost: times ``distinct`` it never exceeds the task's epsilon."""
        return exact.part(self.epsilon, self.distinct) if self.distinct else self.epsilon

    @cached_property
    def opening(self) -> Round:
        """Return the first round."""
        first = self.plan.step(_Nothing(self.response_epsilon))
        if not isinstance(first, Round):
            raise ParameterError("a plan must ask something before it answers")
        return first


@dataclass(frozen=True)
class Notice:
    """What a device needs of a task: never the plan, only its price, its domain and the round to answer."""

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
        exact.check_epsilon(self.epsilon)
        _check_labels(self.name, self.declares)
        self.check(self.opening)

    def check(self, asked: Round) -> Round:
        """Return the round, or refuse one that costs more than the task stated."""
        _check_price(asked, self.epsilon, self.distinct)
        return asked


@dataclass(frozen=True)
class _Nothing:
    """What has been collected before the first round."""

    epsilon: float
    seed: bytes = b""
    rounds: tuple[Round, ...] = ()

    def users(self, round_number: int) -> int:
        return 0

    def _refuse(self, *_: Any) -> Any:
        raise ParameterError("nothing has been collected yet")

    tally = estimate = yes = scores = reports = answered = single = select = _refuse


def _check_distinct(distinct: int | None) -> None:
    if distinct is not None and (type(distinct) is not int or not 1 <= distinct < 1 << 16):
        raise ParameterError("a longitudinal task declares from 1 to 65,535 distinct values")


def _check_price(asked: Round, epsilon: float, distinct: int | None) -> None:
    _check_distinct(distinct)
    if exact.stated(asked.epsilon) * (distinct or 1) > exact.stated(epsilon):
        raise ParameterError("this round spends more than the epsilon that its task states")
    if distinct is not None and asked.ask.waived:
        raise ParameterError("a weaker guarantee is not known to add up: no longitudinal task may state one")


def _check_waiver(waiver: str | None, *, exceeds: bool) -> str:
    text = normalize("NFC", waiver) if isinstance(waiver, str) else ""
    if not SHORTEST_WAIVER <= len(text.strip()) <= len(text) <= LONGEST_WAIVER:
        raise ParameterError(f"a waiver is a statement of {SHORTEST_WAIVER} to {LONGEST_WAIVER} characters")
    if not exceeds:
        raise ParameterError("this question spends no more than the epsilon it states: there is nothing to waive")
    return text


def _check_labels(name: str, declares: tuple[str, ...]) -> None:
    if not isinstance(name, str) or not name or len(name) > 200:
        raise ParameterError("a task needs a name of at most 200 characters")
    if set(declares) - set(FIELDS_A_TASK_MAY_DECLARE) or len(set(declares)) < len(declares):
        raise ParameterError(f"a task may declare each of {', '.join(FIELDS_A_TASK_MAY_DECLARE)} once")


def _picked(choice: Choice, coin: int) -> int:
    return int(choice.pick(np.array([coin], np.uint64))[0])


def _member(members: Any, index: int) -> Any:
    if not 0 <= index < len(members):
        raise ParameterError("this round has no such member or slot")
    return members[index]
