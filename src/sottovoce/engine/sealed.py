"""Reports that stay in the sealed logs of their rounds, and are read part by part when needed.

A collector uses it for tasks with more reports than its memory may hold.  Tallies and supports are
integers that add in any order, so that answers have the digits of ``engine/memory.py``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine import tables
from sottovoce.engine.base import TaskCollected, estimate_people, people_among
from sottovoce.engine.kept_tallies import KeptTallies
from sottovoce.engine.memory import names
from sottovoce.engine.parquet import DEFAULT_MEMORY, SealedLog
from sottovoce.engine.tables import Sums
from sottovoce.errors import NoDataError
from sottovoce.tasks.collected import Blocks
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import ID_BYTES

if TYPE_CHECKING:
    from sottovoce.engine.sealed_relations import SealedRelations


@dataclass(frozen=True, eq=False)
class SealedCollected(TaskCollected):
    """The collected reports of a task: the logs of its rounds, or the tallies of erased reports.

    ``memory`` is the number of bytes that a SQL query may use; the rest goes to temporary files.
    """

    task: Task
    memory: int = DEFAULT_MEMORY
    rounds: tuple[Round, ...] = ()
    logs: Mapping[int, SealedLog] = field(default_factory=dict)
    sums: Mapping[Address, Tally] = field(default_factory=dict)
    # What has been computed already: tallies by address, and relations by round.
    tallied: KeptTallies = field(default_factory=KeptTallies, repr=False)
    related: "dict[int, SealedRelations]" = field(default_factory=dict, repr=False)

    def users(self, round_number: int) -> int:
        counts = self.report_counts(round_number)
        counts |= {
            address: tally.users
            for address, tally in self.sums.items()
            if address.round == round_number
        }
        messages = sum(count for address, count in counts.items() if address.slot == 0)
        return people_among(messages, self.fakes(round_number))

    def tally(self, address: Address) -> Tally:
        if address in self.sums:
            return self.sums[address]
        tally = self.tallied.get(address)
        if tally is None:
            log = self._log(address)
            tallies = tally_some(log, self._together(log, address))
            self.tallied.keep(tallies)
            tally = tallies[address]
        return tally

    def tallies(self, round_number: int) -> dict[Address, Tally]:
        erased = [address for address in self.sums if address.round == round_number]
        addresses = [*erased, *self.report_counts(round_number)]
        return {address: self.tally(address) for address in addresses}

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        if among is None:
            estimate = self._question(address).mechanism.estimate(self.tally(address))
            return estimate_people(self, address, estimate)
        mechanism = self._question(address).mechanism.pure()
        supports = tables.Supports(self.rounds[address.round], among)
        (tally,) = _added(self._log(address), [address], supports).values()
        report = next(self.reports(address))[:1]
        estimate = tables.estimate_of_supports(mechanism, tally, report, among)
        return estimate_people(self, address, estimate)

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        mechanism = self._question(address).mechanism.pure()
        scores = np.concatenate([mechanism.score(part, target) for part in self.reports(address)])
        if "subject" not in self.task.declares:
            return np.arange(len(scores)), scores
        parts = self._log(address).tables([address])
        subjects = [tables.rows(table["subject"], ID_BYTES) for table in parts]
        return names(np.concatenate(subjects)), scores

    def reports(self, address: Address) -> Iterator[Reports]:
        log = self._log(address)
        for table in log.tables([address]):
            for _, _, reports in tables.pieces(table, log.asked):
                yield reports

    def report_counts(self, round_number: int) -> dict[Address, int]:
        log = self.logs.get(round_number)
        return {} if log is None else dict(log.counts)

    def relations(self, round_number: int) -> "SealedRelations":
        from sottovoce.engine.sealed_relations import SealedRelations

        if round_number not in self.related:
            if round_number not in self.logs:
                raise NoDataError(
                    f"the reports of round {round_number} have been erased; SQL queries need them"
                )
            self.related[round_number] = SealedRelations(self.logs[round_number], self.memory)
        return self.related[round_number]

    def after(self, asked: Round, log: SealedLog) -> "SealedCollected":
        """Return the collection with the log of one more round."""
        return replace(
            self,
            rounds=(*self.rounds, asked),
            logs={**self.logs, asked.number: log},
            tallied=KeptTallies(self.tallied),
            related={**self.related},
        )

    def after_erasing(self, asked: Round, sums: Mapping[Address, Tally]) -> "SealedCollected":
        """Return the collection with one more round, of which only the tallies remain."""
        return replace(self, rounds=(*self.rounds, asked), sums={**self.sums, **sums})

    def _log(self, address: Address) -> SealedLog:
        if address in self.sums:
            raise NoDataError(
                f"the reports of round {address.round} have been erased; their sums remain"
            )
        log = self.logs.get(address.round)
        if log is None or address not in log.counts:
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")
        return log

    def _together(self, log: SealedLog, address: Address) -> list[Address]:
        """Return the addresses that are tallied in one pass with this one."""
        waiting = [other for other in log.counts if other not in self.tallied]
        position = waiting.index(address)
        return next(_passes(log.asked, waiting[position:]))


def tally_all(log: SealedLog) -> dict[Address, Tally]:
    """Return the tally of every address of a log that has one: what erasing leaves."""
    addresses = [
        address for address in log.counts if log.asked.question(address).mechanism.has_tally
    ]
    tallied: dict[Address, Tally] = {}
    for together in _passes(log.asked, addresses):
        tallied.update(tally_some(log, together))
    return tallied


def tally_some(log: SealedLog, addresses: list[Address]) -> dict[Address, Tally]:
    """Return the tallies of some addresses of a log."""
    sums = _added(log, addresses, tables.Tallies(log.asked))
    number = log.asked.number
    return {Address(number, member, slot): tally for (member, slot), tally in sums.items()}


def _passes(asked: Round, addresses: list[Address]) -> Iterator[list[Address]]:
    """Yield the addresses in groups whose tallies are in memory together."""
    together: list[Address] = []
    cells = 0
    for address in addresses:
        size = asked.question(address).mechanism.size
        if together and cells + size > tables.MAX_CELLS_AT_ONCE:
            yield together
            together = []
            cells = 0
        together.append(address)
        cells += size
    if together:
        yield together


def _added(log: SealedLog, addresses: list[Address], sums: Callable[[Any], Sums]) -> Sums:
    """Return the sums over the reports at some addresses, part by part."""
    return tables.added(map(sums, log.tables(addresses)))
