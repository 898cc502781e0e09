"""What a plan may look at: the rounds so far and the reports that answered them.

An engine implements ``Collected`` (in memory, from sealed files, on Spark); a plan never knows
which.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.errors import ParameterError
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

Columns: TypeAlias = Mapping[str, Values]


@dataclass(frozen=True)
class Blocks:
    """Candidates too many to list: every extension by some bits of every prefix, in order."""

    prefixes: tuple[int, ...]
    extension: int

    def __len__(self) -> int:
        return len(self.prefixes) << self.extension

    def __getitem__(self, index: int) -> int:
        prefix = self.prefixes[index >> self.extension]
        suffix = index & ((1 << self.extension) - 1)
        return prefix << self.extension | suffix


def member_alone(slot: int, member: int) -> Any:
    """Return what no two members have in common."""
    return member


@dataclass(frozen=True)
class Scored:
    """How the reports in some slots are scored for ``width`` targets.

    ``score`` takes the slot, the member and the reports of an address and returns (reports, width).
    Instead of one member it takes one for every report, if all of them are ``alike``: members of a
    slot for which that returns equal values share their work.
    """

    slots: tuple[int, ...]
    width: int
    score: Callable[[int, int | Ints, Reports], Floats]
    alike: Callable[[int, int], Any] = member_alone

    def together(self, addresses: Iterable[Address]) -> list[list[Address]]:
        """Return the addresses in groups whose reports are scored in one call."""
        groups: dict[Any, list[Address]] = {}
        for address in addresses:
            key = (address.slot, self.alike(address.slot, address.member))
            groups.setdefault(key, []).append(address)
        return list(groups.values())

    def scores(self, addresses: Sequence[Address], reports: Sequence[Reports]) -> Floats:
        """Return the scores of the reports at some addresses of one group, end to end."""
        slot = addresses[0].slot
        if len(addresses) == 1:
            return self.score(slot, addresses[0].member, reports[0])
        members = np.array([address.member for address in addresses])
        counts = [len(batch) for batch in reports]
        return self.score(slot, np.repeat(members, counts), np.concatenate(reports))


class Relations(Protocol):
    """The reports of one round as relations, one row per person, for plans that answer in SQL."""

    @property
    def one_report_each(self) -> bool:
        """Return whether everybody who answered has exactly one report in every slot."""

    def select(
        self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any
    ) -> Columns:
        """Return the columns of a relational statement.

        Its relations are one for each of ``scored``, with the columns person, s0, s1, ..., and
        ``people``, with person and the ``public`` columns p0, p1, ..., each marked as numeric or
        not.
        """


class Collected(Protocol):
    """The rounds of a task and the reports that answered them."""

    @property
    def epsilon(self) -> float:
        """Return what one answer may spend."""

    @property
    def seed(self) -> bytes:
        """Return the public randomness of the task: tie-breaks drawn from it replay exactly."""

    @property
    def coins_checked(self) -> bool:
        """Return whether enrolment tokens dealt all coins, so that nobody chose a round or group.

        A collector refuses reports whose coin is not that of their token.
        """

    @property
    def rounds(self) -> tuple[Round, ...]:
        """Return the rounds that have been answered."""

    def users(self, round_number: int) -> int:
        """Return how many users answered a round; fakes are not users."""

    def fakes(self, round_number: int) -> int:
        """Return how many fakes the shufflers added to the reports of a round.

        Tallies, report counts, scores and reports include those of fakes; estimates do not.
        """

    def tally(self, address: Address) -> Tally:
        """Return the sums over the reports at an address."""

    def tallies(self, round_number: int) -> Mapping[Address, Tally]:
        """Return the sums over the reports at every address of a round that somebody answered."""

    def report_counts(self, round_number: int) -> Mapping[Address, int]:
        """Return how many reports there are at every address of a round."""

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        """Return totals scaled to the round's users, without what fakes add.

        They are for the mechanism's whole domain, or ``among`` some candidates.
        """

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        """Return the subject and the score of every report at an address."""

    def reports(self, address: Address) -> Iterator[Reports]:
        """Yield the reports at an address in batches."""

    def relations(self, round_number: int) -> Relations:
        """Return the reports of a round as relations over people."""


def yes_counts(collected: Collected, round_number: int) -> tuple[Ints, Ints]:
    """Return how often each member of a yes-or-no round was asked, and how often it got a yes."""
    ask = collected.rounds[round_number].ask
    mechanism = ask.shared_mechanism
    if mechanism is None or mechanism.size != 2:
        raise ParameterError(
            "yes and no can be counted only if one mechanism for two values randomises all members"
        )
    asked = np.zeros(ask.member_count, np.int64)
    yes = np.zeros(ask.member_count, np.int64)
    for address, tally in collected.tallies(round_number).items():
        asked[address.member] = tally.users
        yes[address.member] = tally["support"][1]
    return asked, yes


@dataclass(frozen=True)
class NothingCollected:
    """What has been collected before the first round."""

    epsilon: float
    seed: bytes = b""
    rounds: tuple[Round, ...] = ()
    coins_checked: bool = False

    def users(self, round_number: int) -> int:
        """Return 0: nobody has answered yet."""
        return 0

    def fakes(self, round_number: int) -> int:
        """Return 0: there are no reports."""
        return 0

    def _refuse(self, *_: Any) -> Any:
        raise ParameterError("nothing has been collected yet")

    tally = tallies = report_counts = estimate = scores = reports = relations = _refuse
