"""Options of ``sottovoce simulate`` about a number: its mean, or its whole distribution."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import click

from sottovoce.cli.described import Described
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.tasks.plan import Plan


@dataclass(frozen=True)
class NumericOptions:
    """The options that ask about a number."""

    OPTIONS: ClassVar = (
        click.option(
            "--mean", metavar="LOW:HIGH", help="Ask for the mean of a number in this range."
        ),
        click.option(
            "--distribution",
            metavar="LOW:HIGH",
            help="Ask for the distribution of a number in this range.",
        ),
        click.option(
            "--buckets",
            type=click.IntRange(2, 4096),
            help="Intervals of --distribution (default: 512, and 64 with --defence).",
        ),
        click.option(
            "--clamp",
            is_flag=True,
            help="Move numbers outside of LOW:HIGH to its ends, do not refuse them.",
        ),
        click.option(
            "--defence",
            type=click.Choice(["graded"]),
            help="Ask in graded groups, which find and remove false reports.",
        ),
    )

    mean: str | None
    distribution: str | None
    buckets: int | None
    clamp: bool
    defence: str | None

    @property
    def wanted(self) -> bool:
        """Return whether the options ask about a number."""
        return bool(self.mean or self.distribution)

    def plan(self, described: Described) -> "Plan":
        """Return the plan that the options describe."""
        from sottovoce.plans.numbers.distribution import Distribution
        from sottovoce.plans.numbers.mean import Mean

        described.only_column("--mean and --distribution ask about one number")
        described.refuse_mechanism("--mean and --distribution")
        if described.values.given:
            raise ParameterError(
                "--mean and --distribution state the range: give no other option about values"
            )
        if self.mean and self.distribution:
            raise ParameterError("give either --mean or --distribution, not both")
        if self.mean:
            return Mean(*_bounds(self.mean), clamped=self.clamp, defence=self.defence)
        low, high = _bounds(self.distribution or "")
        return Distribution(low, high, self.buckets, clamped=self.clamp, defence=self.defence)


def _bounds(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise ParameterError("the range of a number must be LOW:HIGH, two numbers") from None
