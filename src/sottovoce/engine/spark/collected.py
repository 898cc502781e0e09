"""Sealed rounds tallied, scored and joined by Spark, with the kernels of one machine.

Bring a session, and say where the log of every round is: a file, a folder of files, or several of
them, anywhere that Spark can read.  The package must be installed where the executors run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine import tables
from sottovoce.engine.base import TaskCollected, drive, estimate_people, people_among
from sottovoce.engine.duckdb import PEOPLE
from sottovoce.engine.memory import names
from sottovoce.engine.parquet import listed_parts
from sottovoce.engine.spark import frames
from sottovoce.engine.spark.frames import LogPaths
from sottovoce.engine.tables import Sums
from sottovoce.errors import MismatchError, NoDataError, ParameterError
from sottovoce.tasks.collected import Blocks, Columns, Scored
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire.envelope import ID_BYTES

_MERGERS = 16  # Spark tasks that add up the sums of all parts, before the driver adds up theirs


@dataclass(frozen=True, eq=False)
class SparkCollected(TaskCollected):
    """The collected reports of a task: the logs of its rounds, which are read when needed."""

    task: Task
    spark: Any = field(repr=False)
    rounds: tuple[Round, ...] = ()
    logs: Mapping[int, LogPaths] = field(default_factory=dict)
    # What is known of the logs already: frames, counts and "one report each" by round, and tallies.
    read: dict[int, Any] = field(default_factory=dict, repr=False)
    counted: dict[int, dict[Address, int]] = field(default_factory=dict, repr=False)
    alone: dict[int, bool] = field(default_factory=dict, repr=False)
    tallied: dict[Address, Tally] = field(default_factory=dict, repr=False)

    def users(self, round_number: int) -> int:
        counts = self.report_counts(round_number)
        messages = sum(count for address, count in counts.items() if address.slot == 0)
        return people_among(messages, self.fakes(round_number))

    def tally(self, address: Address) -> Tally:
        if address not in self.tallied:
            self._check(address)
            counts = self.report_counts(address.round)
            cells = sum(self._question(counted).mechanism.size for counted in counts)
            if cells <= tables.MAX_CELLS_AT_ONCE:
                self._tally_all(self._log(address.round), address.round)
            else:
                self._tally_all(self._reports_at(address), address.round)
        return self.tallied[address]

    def tallies(self, round_number: int) -> dict[Address, Tally]:
        addresses = self.report_counts(round_number)
        if not all(address in self.tallied for address in addresses):
            self._tally_all(self._log(round_number), round_number)
        return {address: self.tallied[address] for address in addresses}

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        if among is None:
            estimate = self._question(address).mechanism.estimate(self.tally(address))
            return estimate_people(self, address, estimate)
        mechanism = self._question(address).mechanism.pure()
        supports = tables.Supports(self.rounds[address.round], among)
        (tally,) = self._sums(self._reports_at(address), supports).values()
        report = self._one_report(address)
        estimate = tables.estimate_of_supports(mechanism, tally, report, among)
        return estimate_people(self, address, estimate)

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        """Return the subject and the score of every report, in the order of the report ids."""
        mechanism = self._question(address).mechanism.pure()
        has_subjects = "subject" in self.task.declares
        columns = ("id", "subject") if has_subjects else ("id",)
        scored = Scored((address.slot,), 1, tables.Vote(mechanism, target))
        with frames.answering():
            frame = self._scored(self._reports_at(address), address.round, scored, columns)
            table = frame.toArrow()
        order = np.argsort(_names(table["id"]), kind="stable")
        subjects = _names(table["subject"])[order] if has_subjects else np.arange(len(order))
        return subjects, table["s0"].to_numpy()[order]

    def reports(self, address: Address) -> Iterator[Reports]:
        question = self._question(address)
        width = self.rounds[address.round].width
        for piece in frames.pieces(self._reports_at(address).select("payload"), width):
            payloads = np.frombuffer(piece["payload"][0], np.uint8).reshape(-1, width)
            yield question.mechanism.unpack(payloads[:, : question.width].tobytes())

    def report_counts(self, round_number: int) -> dict[Address, int]:
        if round_number not in self.counted:
            log = self._log(round_number)
            with frames.answering():
                grouped = log.groupBy("member", "slot").count()
                table = grouped.orderBy("member", "slot").toArrow()
            columns = [tables.numbers(table[name]).tolist() for name in table.column_names]
            counts = {
                Address(round_number, member, slot): count
                for member, slot, count in zip(*columns, strict=True)
            }
            with tables.refusing(self.rounds[round_number]):
                for address in counts:
                    self._question(address)
            self.counted[round_number] = counts
        return self.counted[round_number]

    def relations(self, round_number: int) -> "SparkRelations":
        if "subject" not in self.task.declares:
            raise ParameterError("SQL queries need reports that carry the subject of their person")
        return SparkRelations(self, round_number)

    def one_report_each(self, round_number: int) -> bool:
        """Return whether everybody who answered a round has exactly one report in every slot."""
        from pyspark.sql import functions

        if round_number not in self.alone:
            slots = len({address.slot for address in self.report_counts(round_number)})
            other_count = functions.count("*") != slots
            other_slots = functions.size(functions.collect_set("slot")) != slots
            with frames.answering():
                people = self._log(round_number).groupBy("subject")
                odd = people.agg((other_count | other_slots).alias("odd")).filter("odd")
                self.alone[round_number] = not odd.take(1)
        return self.alone[round_number]

    def select(
        self,
        round_number: int,
        scored: Mapping[str, Scored],
        public: Mapping[str, bool],
        statement: Any,
    ) -> Columns:
        """Return the columns of a relational statement over the reports of a round."""
        log = self._log(round_number)
        one_report_each = self.one_report_each(round_number)
        relations = {PEOPLE: frames.people(log, public, one_report_each=one_report_each)}
        for name, scoring in scored.items():
            reports = log.filter(log["slot"].isin(*scoring.slots))
            frame = self._scored(reports, round_number, scoring, ("subject",))
            relations[name] = frame.withColumnRenamed("subject", "person")
        with frames.answering(), frames.views(self.spark, relations, statement) as text:
            table = self.spark.sql(text).toArrow()
        return {name: frames.array(table[name]) for name in table.column_names}

    def after(self, asked: Round, paths: LogPaths, checksum: str) -> "SparkCollected":
        """Return the collection with the log of one more round.

        ``checksum`` is that of the seal.  Any other log is refused, because a missing or repeated
        part would silently change every answer.
        """
        number = asked.number
        collected = replace(
            self,
            rounds=(*self.rounds, asked),
            logs={**self.logs, number: paths},
            # Copies: what becomes known of this log is not known of another for the same round.
            read={**self.read},
            counted={**self.counted},
            alone={**self.alone},
            tallied={**self.tallied},
        )
        collected._verify(asked, checksum)
        if not collected.report_counts(number):
            raise NoDataError(f"round {number} of task {self.task.name!r} has no reports")
        return collected

    def _verify(self, asked: Round, checksum: str) -> None:
        """Refuse a log that is not the one that was sealed.

        A folder of the collector states the checksums of its parts, which executors compute
        alone.  The checksum of any other log is over all reports in order.
        """
        number = asked.number
        refusal = MismatchError(f"the log of round {number} is not the one that was sealed")
        log, paths = self._log(number), self.logs[number]
        text = frames.seal_text(self.spark, paths)
        if text is None:
            if frames.checksum(log) != checksum:
                raise refusal
            return
        stated = {part.name: part.checksum for part in listed_parts(text, asked, checksum)}
        if frames.part_checksums(self.spark, paths) != stated:
            raise refusal

    def _check(self, address: Address) -> None:
        if address not in self.report_counts(address.round):
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")

    def _log(self, round_number: int) -> Any:
        """Return the reports of a round as a frame."""
        if round_number not in self.read:
            if round_number not in self.logs:
                raise NoDataError(f"the log of round {round_number} is missing")
            paths = self.logs[round_number]
            self.read[round_number] = frames.read(self.spark, paths, self.task.declares)
        return self.read[round_number]

    def _reports_at(self, address: Address) -> Any:
        """Return the reports at an address as a frame; refuses an address without reports."""
        self._check(address)
        log = self._log(address.round)
        return log.filter((log["member"] == address.member) & (log["slot"] == address.slot))

    def _one_report(self, address: Address) -> Reports:
        """Return one of the reports at an address."""
        question = self._question(address)
        with frames.answering():
            payload = self._reports_at(address).select("payload").first()[0]
        return question.mechanism.unpack(bytes(payload)[: question.width])

    def _tally_all(self, frame: Any, round_number: int) -> None:
        """Remember the tallies of all addresses in a frame of reports of a round."""
        sums = self._sums(frame, tables.Tallies(self.rounds[round_number]))
        for (member, slot), tally in sums.items():
            self.tallied[Address(round_number, member, slot)] = tally

    def _sums(self, frame: Any, sums: Any) -> Sums:
        """Return the sums over some reports: part by part, added up by a few tasks, and here."""
        from pyspark.sql import functions

        reports = frame.select("member", "slot", "payload")
        parts = frames.mapped(reports, tables.Summed(sums), "sums binary")
        merger = functions.spark_partition_id() % _MERGERS
        parts = parts.withColumn("merger", merger).repartition("merger")
        with frames.answering():
            table = frames.mapped(parts.select("sums"), tables.Added(), "sums binary").toArrow()
        return tables.added(tables.parts([table["sums"]]))

    def _scored(
        self, frame: Any, round_number: int, scored: Scored, columns: tuple[str, ...]
    ) -> Any:
        """Return a frame of the scores s0, s1, ... of reports beside some columns of bytes."""
        types = [f"{name} binary" for name in columns]
        types += [f"s{number} double" for number in range(scored.width)]
        reports = frame.select(*columns, "member", "slot", "payload")
        score = tables.Scores(self.rounds[round_number], scored, columns)
        return frames.mapped(reports, score, ", ".join(types))


@dataclass(frozen=True, eq=False)
class SparkRelations:
    """The reports of one round as relations over people."""

    collected: SparkCollected
    round_number: int

    @property
    def one_report_each(self) -> bool:
        return self.collected.one_report_each(self.round_number)

    def select(
        self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any
    ) -> Columns:
        """Return the columns of a relational statement."""
        return self.collected.select(self.round_number, scored, public, statement)


def answer(
    task: Task, spark: Any, logs: Mapping[int, LogPaths], checksums: Mapping[int, str]
) -> Outcome:
    """Return the outcome of the sealed logs of a task's rounds.

    ``logs`` and ``checksums`` are by the number of the round; a checksum is that of the seal.
    """

    def gather(collected: SparkCollected, asked: Round) -> SparkCollected:
        number = asked.number
        if number not in logs:
            raise NoDataError(f"the log of round {number} is missing")
        if number not in checksums:
            raise ParameterError(
                f"`checksums` must have the checksum of round {number}: its seal states it"
            )
        return collected.after(asked, logs[number], checksums[number])

    return drive(task, SparkCollected(task, spark), gather)


def checksum(task: Task, spark: Any, paths: LogPaths) -> str:
    """Return the checksum of all reports of a log in order, to compare it with that of the seal.

    The seal of a folder of parts has another one, which ``answer`` checks part by part.
    """
    return frames.checksum(frames.read(spark, paths, task.declares))


def _names(column: Any) -> Values:
    """Return a column of ids or subjects as one array that sorts and compares."""
    return names(tables.rows(column, ID_BYTES))
