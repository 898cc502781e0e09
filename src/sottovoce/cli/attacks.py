"""Options of ``sottovoce simulate`` and ``sottovoce audit`` for attacks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import click

from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.domains.base import Domain
    from sottovoce.lab.attacks.base import Attack
    from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class AimOptions:
    """The options that say what an attack is after."""

    OPTIONS: ClassVar = (
        click.option(
            "--target",
            "targets",
            multiple=True,
            metavar="VALUE",
            help="A value that attackers promote; of a task with several columns as JSON.",
        ),
        click.option("--against", is_flag=True, help="Attackers demote their target instead."),
        click.option(
            "--tries",
            type=click.IntRange(min=1),
            default=1000,
            help="Seeds that an attacker tries for one report.",
        ),
        click.option(
            "--each",
            type=click.IntRange(min=1),
            default=2,
            help="With --attack mga_a: targets that one report promotes.",
        ),
        click.option(
            "--member",
            "members",
            type=click.IntRange(min=0),
            multiple=True,
            help="With --attack coins: the group, level, layer or view that attackers choose.",
        ),
        click.option(
            "--in-round",
            "round_number",
            type=click.IntRange(min=0),
            help="With --attack coins: the round in which all attackers answer.",
        ),
    )

    targets: tuple[str, ...]
    against: bool
    tries: int
    each: int
    members: tuple[int, ...]
    round_number: int | None

    def settings(self, domain: "Domain", separator: str = ";") -> dict[str, Any]:
        """Return the settings of an aim at a task with this domain."""
        return {
            "targets": target_values(domain, self.targets, separator),
            "against": self.against,
            "tries": self.tries,
            "each": self.each,
            "members": self.members,
            "round_number": self.round_number,
        }


@dataclass(frozen=True)
class AttackOptions:
    """The options of a simulated attack."""

    OPTIONS: ClassVar = (
        click.option(
            "--attack",
            metavar="KIND",
            help="Let some people attack: rpa, ima, spa, mga, mga_a, gba, mla, coins, query, ...",
        ),
        click.option(
            "--share",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            help="With --attack: the share of attackers among all who answer.",
        ),
    )

    attack: str | None
    share: float | None
    aim: AimOptions

    def made(self, task: "Task", queries: Sequence[str], separator: str) -> "Attack | None":
        """Return the attack on a task, None without one."""
        from sottovoce.lab.attacks.base import Aim, Attack

        if self.attack is None:
            if self.share is not None:
                raise ParameterError("--share needs --attack KIND")
            if self.aim.targets:
                raise ParameterError("--target needs --attack KIND")
            return None
        if self.share is None:
            raise ParameterError("--attack needs --share: the share of attackers among all")
        query = queries[0] if queries else ""
        settings = self.aim.settings(task.plan.domain, separator)
        return Attack.kinds[self.attack].aimed(Aim(task, query=query, **settings))


def target_values(domain: "Domain", texts: Sequence[str], separator: str = ";") -> tuple[Any, ...]:
    """Return values of a domain that were given as texts, or as JSON if they have columns."""
    if not texts:
        return ()
    if domain.file_columns == {"": ()}:
        return tuple(domain.from_cells("--target", texts, separator))
    try:
        return tuple(json.loads(text) for text in texts)
    except json.JSONDecodeError:
        raise ParameterError(
            '--target must be JSON for a task with columns, such as \'{"pet": "cat"}\''
        ) from None
