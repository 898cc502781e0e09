"""Many machines: sealed rounds tallied, scored and joined by Spark, with the kernels and the integers of one machine.

Bring a session, and say where the log of every round lies: a file, a folder of many, or several of them, anywhere that
Spark can read.  The package must be installed where the executors run.

    database = spark.answer(task, session, {0: "s3a://lake/orders/round-0"})
    database.sql("SELECT COUNT(*) FROM orders WHERE amount > 100")
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.tally import Tally
from sottovoce.engine.base import drive
from sottovoce.engine.duckdb import PEOPLE
from sottovoce.engine.memory import names
from sottovoce.engine.spark import frames, workers
from sottovoce.engine.spark.frames import Places
from sottovoce.engine.spark.workers import Sums
from sottovoce.errors import MismatchError, NoDataError, ParameterError
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.tasks.collected import Blocks, Columns, Scored
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec
from sottovoce.wire.envelope import ID_BYTES

_MERGERS = 16  # tasks that add up the sums of all parts, before the driver adds up theirs
_CELLS_TOGETHER = 1 << 22  # of all tallies of a round that are made in one pass


@dataclass(frozen=True, eq=False)
class SparkCollected:
    """What a task has collected, in the logs of its rounds; nothing is read before somebody asks."""

    task: Task
    spark: Any = field(repr=False)
    rounds: tuple[Round, ...] = ()
    logs: Mapping[int, Places] = field(default_factory=dict)
    read: dict[int, Any] = field(default_factory=dict, repr=False)  # what is known of the logs already
    counted: dict[int, dict[Address, int]] = field(default_factory=dict, repr=False)
    alone: dict[int, bool] = field(default_factory=dict, repr=False)
    tallied: dict[Address, Tally] = field(default_factory=dict, repr=False)

    @property
    def epsilon(self) -> float:
        return self.task.response_epsilon

    @property
    def seed(self) -> bytes:
        return codec.seed(self.task)

    def users(self, round_number: int) -> int:
        return sum(count for address, count in self.report_counts(round_number).items() if not address.slot)

    def tally(self, address: Address) -> Tally:
        if address not in self.tallied:
            self._check(address)
            together = sum(self._question(one).mechanism.size for one in self.report_counts(address.round))
            frame = self._log(address.round) if together <= _CELLS_TOGETHER else self._at(address)
            sums = self._sums(frame, workers.Tallies(self.rounds[address.round]))
            self.tallied.update({Address(address.round, *key): tally for key, tally in sums.items()})
        return self.tallied[address]

    def estimate(self, address: Address, among: Values | Blocks | None = None) -> Estimate:
        mechanism = self._question(address).mechanism
        if among is None:
            return mechanism.estimate(self.tally(address)).of(self.users(address.round))
        if not isinstance(mechanism, PureMechanism):
            raise ParameterError("candidates can be chosen only for a pure mechanism")
        law = _estimate(mechanism, self._any(address), among).noise  # that of any number of reports
        supports = workers.Supports(self.rounds[address.round], among)
        (tally,) = self._sums(self._at(address), supports).values()
        estimate = replace(mechanism.estimate_counts(tally["support"], tally.users), noise=law)
        return estimate.of(self.users(address.round))

    def tallies(self, round_number: int) -> dict[Address, Tally]:
        addresses = self.report_counts(round_number)
        if not all(address in self.tallied for address in addresses):
            sums = self._sums(self._log(round_number), workers.Tallies(self.rounds[round_number]))
            self.tallied.update({Address(round_number, *key): tally for key, tally in sums.items()})
        return {address: self.tallied[address] for address in addresses}

    def scores(self, address: Address, target: Floats) -> tuple[Values, Floats]:
        """Return the subject and the score of every report at an address, in the order of the reports' ids."""
        mechanism = self._question(address).mechanism
        if not isinstance(mechanism, PureMechanism):
            raise ParameterError("only a pure mechanism scores reports")
        scored = Scored((address.slot,), 1, workers.Vote(mechanism, target))
        keys = ("id", *(["subject"] if "subject" in self.task.declares else []))
        with frames.answering():
            found = self._scored(self._at(address), address.round, scored, keys).toArrow()
        ids = names(workers.rows(found["id"], ID_BYTES))
        order = np.argsort(ids, kind="stable")
        subjects = names(workers.rows(found["subject"], ID_BYTES)) if len(keys) > 1 else np.arange(len(ids))
        return subjects[order] if len(keys) > 1 else subjects, found["s0"].to_numpy()[order]

    def reports(self, address: Address) -> Iterator[Reports]:
        question, width = self._question(address), self.rounds[address.round].width
        for piece in frames.pieces(self._at(address).select("payload"), width):
            payloads = np.frombuffer(piece["payload"][0], np.uint8).reshape(-1, width)
            yield question.mechanism.unpack(payloads[:, : question.width].tobytes())

    def report_counts(self, number: int) -> dict[Address, int]:
        if number not in self.counted:
            with frames.answering():
                found = self._log(number).groupBy("member", "slot").count().orderBy("member", "slot").toArrow()
            rows = zip(*(workers.numbers(found[name]).tolist() for name in found.column_names), strict=True)
            counted = {Address(number, member, slot): count for member, slot, count in rows}
            with workers.refusing(self.rounds[number]):
                list(map(self._question, counted))
            self.counted[number] = counted
        return self.counted[number]

    def relations(self, round_number: int) -> "SparkRelations":
        if "subject" not in self.task.declares:
            raise ParameterError("questions in SQL need reports that carry the subject of their person")
        return SparkRelations(self, round_number)

    def one_report_each(self, number: int) -> bool:
        """Return whether everybody who answered a round has exactly one report in every slot."""
        from pyspark.sql import functions

        if number not in self.alone:
            slots = len({address.slot for address in self.report_counts(number)})
            reports = functions.count("*") != slots
            different = functions.size(functions.collect_set("slot")) != slots
            with frames.answering():
                people = self._log(number).groupBy("subject").agg((reports | different).alias("odd"))
                self.alone[number] = not people.filter("odd").take(1)
        return self.alone[number]

    def select(self, number: int, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any) -> Columns:
        """Return the columns of a relational statement over the reports of a round."""
        log = self._log(number)
        relations = {PEOPLE: frames.people(log, public, single=self.one_report_each(number))}
        for name, one in scored.items():
            frame = self._scored(log.filter(log["slot"].isin(*one.slots)), number, one, ("subject",))
            relations[name] = frame.withColumnRenamed("subject", "person")
        with frames.answering(), frames.views(self.spark, relations, statement) as text:
            table = self.spark.sql(text).toArrow()
        return {name: frames.array(table[name]) for name in table.column_names}

    def after(self, asked: Round, places: Places, checksum: str = "") -> "SparkCollected":
        """Return what is collected with the log of one more round; refuses another log than was sealed."""
        number = asked.number
        made = replace(
            self,
            rounds=(*self.rounds, asked),
            logs={**self.logs, number: places},
            read={**self.read},  # what becomes known of this log is not known of another for the same round
            counted={**self.counted},
            alone={**self.alone},
            tallied={**self.tallied},
        )
        if checksum and frames.checksum(made._log(number)) != checksum:
            raise MismatchError(f"the log of round {number} is not the one that was sealed")
        if not made.report_counts(number):
            raise NoDataError(f"round {number} of task {self.task.name!r} has no reports")
        return made

    def _question(self, address: Address) -> Question:
        return self.rounds[address.round].question(address)

    def _check(self, address: Address) -> None:
        if address not in self.report_counts(address.round):
            raise NoDataError(f"member {address.member} of round {address.round} has no reports")

    def _log(self, number: int) -> Any:
        """Return the reports of a round."""
        if number not in self.read:
            if number not in self.logs:
                raise NoDataError(f"the log of round {number} is missing")
            self.read[number] = frames.read(self.spark, self.logs[number], self.task.declares)
        return self.read[number]

    def _at(self, address: Address) -> Any:
        """Return the reports at an address, of which there are some."""
        self._check(address)
        log = self._log(address.round)
        return log.filter((log["member"] == address.member) & (log["slot"] == address.slot))

    def _any(self, address: Address) -> Reports:
        """Return one of the reports at an address."""
        question = self._question(address)
        with frames.answering():
            payload = self._at(address).select("payload").first()[0]
        return question.mechanism.unpack(bytes(payload)[: question.width])

    def _sums(self, frame: Any, sums: Any) -> Sums:
        """Return the sums over some reports: made part by part, added up by a few tasks, and here."""
        from pyspark.sql import functions

        parts = frames.mapped(frame.select("member", "slot", "payload"), workers.Summed(sums), "sums binary")
        parts = parts.withColumn("merger", functions.spark_partition_id() % _MERGERS).repartition("merger")
        with frames.answering():
            found = frames.mapped(parts.select("sums"), workers.Added(), "sums binary").toArrow()
        return workers.added(workers.parts([found["sums"]]))

    def _scored(self, frame: Any, number: int, scored: Scored, keys: tuple[str, ...]) -> Any:
        columns = "".join(f", s{at} double" for at in range(scored.width))
        score = workers.Scores(self.rounds[number], scored, keys)
        return frames.mapped(
            frame.select(*keys, "member", "slot", "payload"), score, f"{' binary, '.join(keys)} binary{columns}"
        )


@dataclass(frozen=True, eq=False)
class SparkRelations:
    """The reports of one round as relations over people."""

    collected: SparkCollected
    round_number: int

    @property
    def one_report_each(self) -> bool:
        return self.collected.one_report_each(self.round_number)

    def select(self, scored: Mapping[str, Scored], public: Mapping[str, bool], statement: Any) -> Columns:
        """Return the columns of a relational statement."""
        return self.collected.select(self.round_number, scored, public, statement)


def answer(task: Task, spark: Any, logs: Mapping[int, Places], checksums: Mapping[int, str] | None = None) -> Outcome:
    """Return the outcome of the sealed logs of a task's rounds, by number."""

    def gather(collected: SparkCollected, asked: Round) -> SparkCollected:
        if asked.number not in logs:
            raise NoDataError(f"the log of round {asked.number} is missing")
        return collected.after(asked, logs[asked.number], (checksums or {}).get(asked.number, ""))

    return drive(task, SparkCollected(task, spark), gather)


def _estimate(mechanism: PureMechanism, reports: Reports, among: Values | Blocks) -> Estimate:
    if isinstance(among, Blocks):
        return mechanism.estimate_blocks(reports, among.prefixes, among.extension)
    return mechanism.estimate_among(reports, among)
