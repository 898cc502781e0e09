"""Options of ``sottovoce simulate`` for joint tables of several columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import click

from sottovoce.cli.described import Described
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.tasks.plan import Plan


@dataclass(frozen=True)
class JointOptions:
    """The options that describe joint tables."""

    OPTIONS: ClassVar = (
        click.option(
            "--marginals", is_flag=True, help="Ask for the joint tables of several columns."
        ),
        click.option(
            "--order",
            type=click.IntRange(min=1),
            default=2,
            help="With --marginals: columns of a table.",
        ),
    )

    marginals: bool
    order: int

    @property
    def wanted(self) -> bool:
        """Return whether the options ask for joint tables."""
        return self.marginals

    def plan(self, described: Described) -> "Plan":
        """Return the plan for the columns of a file."""
        from sottovoce.domains.records import Records
        from sottovoce.plans.marginals.marginals import Marginals

        described.refuse_mechanism("--marginals")
        if len(described.cells) < 2:
            raise ParameterError("--marginals needs at least two columns: give --column for each")
        domains = described.values.of(described.cells)
        records = Records(tuple(domains), tuple(domains.values()))
        return Marginals(records, described.people, self.order)
