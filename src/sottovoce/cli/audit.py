"""``sottovoce audit``: check what a mechanism reveals, or what false reports do to it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sottovoce.cli.attacks import AimOptions
from sottovoce.cli.completion import mechanism_kinds
from sottovoce.cli.option_groups import group_of, options_of
from sottovoce.cli.output import as_json, print_json, seed

if TYPE_CHECKING:
    from sottovoce.lab.poison_audit import PoisonAudit


@click.command("audit")
@click.argument("kind", shell_complete=mechanism_kinds)
@click.option("--size", type=int, default=4, help="How many values a person may hold.")
@click.option("--epsilon", type=float, default=1.0, help="What one answer may reveal at most.")
@click.option("--samples", type=int, default=200_000, help="Reports to sample for every value.")
@click.option(
    "--confidence", type=float, default=0.999, help="Confidence of the bound that sampling proves."
)
@click.option(
    "--poison", is_flag=True, help="Show instead what each attack achieves with one false report."
)
@options_of(AimOptions)
@seed
@as_json
@click.pass_context
def command(ctx: click.Context, /, kind: str, *, as_json: bool, **options: Any) -> None:
    """Check that a mechanism does not reveal more than its epsilon.

    KIND is a mechanism: grr, affine, oue, ... It is checked exactly, and by sampled reports. The
    exit code is 1 if a check fails.

    With --poison KIND may also be the file of a task, and what each attack achieves with one false
    report is shown beside the bound that no attack exceeds.

    \b
    sottovoce audit affine --poison --size 1024 --epsilon 1
    sottovoce audit browsers.toml --poison --target lynx
    """
    from sottovoce.lab.audit import audit
    from sottovoce.mechanisms.base import Mechanism

    if options["poison"]:
        poisoned = _poisoned(kind, options)
        _print(poisoned, as_json=as_json)
        ctx.exit(0 if poisoned.passes else 1)
    mechanism_class: Any = Mechanism.kinds[kind]
    result = audit(
        mechanism_class(epsilon=options["epsilon"], size=options["size"]),
        samples=options["samples"],
        confidence=options["confidence"],
        seed=options["seed"],
    )
    _print(result, as_json=as_json)
    ctx.exit(0 if result.passes else 1)


def _poisoned(kind: str, options: dict[str, Any]) -> "PoisonAudit":
    """Return what attacks achieve on a mechanism, or on the task in a file."""
    from sottovoce.cli.task import read_task
    from sottovoce.core.rng import SystemRng
    from sottovoce.lab.attacks.base import Aim
    from sottovoce.lab.poison_audit import audit_mechanism, audit_task
    from sottovoce.lab.seeded import SeededRng
    from sottovoce.mechanisms.base import Mechanism

    rng = SystemRng() if options["seed"] is None else SeededRng(options["seed"])
    aim = group_of(AimOptions, options)
    if Path(kind).is_file():
        task = read_task(Path(kind))
        return audit_task(Aim(task, **aim.settings(task.plan.domain)), rng)
    mechanism_class: Any = Mechanism.kinds[kind]
    mechanism = mechanism_class(epsilon=options["epsilon"], size=options["size"])
    return audit_mechanism(mechanism, rng, tries=aim.tries)


def _print(result: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(str(result))
