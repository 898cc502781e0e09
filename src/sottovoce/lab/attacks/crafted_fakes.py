"""A shuffler that crafts its fakes: instead of drawing them from the blanket, it supports a target.

A hop adds a stated number of fakes, of which the collector knows the law and which it takes away
again.  What they add beyond that law stays in the answer.  One hop can craft at most its own fakes.

Source: docs/shuffling.md.
"""

from dataclasses import dataclass

from sottovoce.core.rng import Rng
from sottovoce.engine.memory import ReportBatch
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim, CraftedReports, HopAttack, RoundAtHop
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.batches import Batches, beside, with_fakes


@dataclass(frozen=True)
class CraftedFakes(HopAttack, kind="fakes"):
    """A hop sends the reports of an ``attack`` in place of fakes, a share of all messages."""

    attack: CraftedReports

    @classmethod
    def aimed(cls, aim: Aim) -> "CraftedFakes":
        return cls(SupportTarget.aimed(aim))

    def mixed(self, batch: RoundAtHop, rng: Rng) -> Batches:
        people = sum(len(reports.reports) for reports in batch.batches.values())
        crafted = round(batch.share * (people + batch.fakes))
        if crafted > batch.fakes_of_hop:
            raise ParameterError(
                f"`share` asks for {crafted:,} crafted fakes, but a hop of this task adds"
                f" {batch.fakes_of_hop:,}: lower the share"
            )
        honest = with_fakes(batch.batches, batch.asked, batch.fakes - crafted, rng)
        reports = self.attack.reports(batch.asked, crafted, rng)
        return beside(honest, {address: ReportBatch(made) for address, made in reports.items()})
