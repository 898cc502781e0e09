"""Run one batch of PEOS with real processes, and print what every party sent and how long it took.

    python -m sottovoce.lab.peos --shufflers 3 --users 200 --fakes 50

Research cryptography: the processes talk over the loopback interface without encryption, and the
users are made up.
"""

import click
import numpy as np

from sottovoce.accounting.amplification import epsilon
from sottovoce.arrays import Values
from sottovoce.core.rng import SystemRng
from sottovoce.errors import SottovoceError
from sottovoce.lab.peos.configure import ReportShape
from sottovoce.lab.peos.encryption.base import MIN_MODULUS_BITS, MODULUS_BITS
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.processes import ProcessBatch, ProcessRun, run_processes
from sottovoce.lab.peos.traffic import Traffic

DELTA = 1e-9
MILLISECONDS = 1000


@click.command()
@click.option("--shufflers", default=3, show_default=True, help="An odd number from 3 to 9.")
@click.option("--users", default=200, show_default=True, type=click.IntRange(1))
@click.option("--fakes", default=50, show_default=True, type=click.IntRange(0))
@click.option("--scheme", default="dgk", show_default=True, type=click.Choice(SCHEMES))
@click.option(
    "--bits",
    default=MODULUS_BITS,
    show_default=True,
    type=click.IntRange(MIN_MODULUS_BITS),
    help="Of the modulus; fewer than the default are for tests.",
)
def main(shufflers: int, users: int, fakes: int, scheme: str, bits: int) -> None:
    """Shuffle the reports of made-up users with one process per party."""
    shape = ReportShape(size=10, cells=16, hashed=True)
    try:
        batch = ProcessBatch(shape, 3.0, shufflers, fakes, scheme, bits)
        # Lower values are more frequent: value v is held by about (1 + 2 (9 - v)) / 100 of them.
        ranks = (np.arange(users) + 0.5) / users
        values = (10 * (1 - np.sqrt(1 - ranks))).astype(np.int64)
        run = run_processes(batch, values, SystemRng())
    except SottovoceError as error:
        raise click.ClickException(str(error)) from None
    click.echo(report(run, values))
    if run.missing or run.extra != fakes:
        raise click.ClickException("the server did not receive the reports that were sent")


def report(run: ProcessRun, values: Values) -> str:
    """Return the page that the command prints."""
    terms = run.terms
    lines = [
        f"{run.users} users, {terms.fakes} fakes, {terms.sets.shufflers} shufflers,"
        f" {terms.public_key.scheme} with ciphertexts of {terms.public_key.width} bytes",
        f"arrived: {run.users - run.missing} of {run.users} reports, {run.extra} fakes",
        _guarantee(run),
        "",
        f"{'bytes':<20}{'shares':>12}{'ciphertexts':>13}{'agreement':>11}{'CPU':>11}",
        f"{'each user sends':<20}{8 * (terms.sets.shufflers - 1):>12,}"
        f"{terms.public_key.width:>13,}{16 * terms.sets.shufflers:>11,}"
        f"{MILLISECONDS * run.cpu_seconds_per_user:>8.1f} ms",
    ]
    for result in run.shufflers:
        name = f"shuffler {result.number} sends"
        lines.append(_row(name, result.sent, result.cpu_seconds))
    lines.append(_row("server receives", run.server.received, run.server.cpu_seconds))
    lines += ["", f"{'value':<8}{'true share':>12}{'estimate':>12}{'std. error':>12}"]
    true_shares = np.bincount(values, minlength=10) / len(values)
    errors = np.sqrt(run.estimate.variances)
    for value in range(3):
        lines.append(
            f"{value:<8}{true_shares[value]:>12.3f}{run.estimate.shares[value]:>12.3f}"
            f"{errors[value]:>12.3f}"
        )
    return "\n".join(lines)


def _guarantee(run: ProcessRun) -> str:
    """Return the three epsilons, which are only quoted together."""
    blanket = run.terms.codec.mechanism.blanket
    fakes = run.terms.fakes
    central = epsilon(blanket, blanket.batch(run.users, fakes), DELTA)
    against_users = epsilon(blanket, blanket.batch(1, fakes), DELTA)
    return (
        f"epsilon {central:.2f} against the server, {against_users:.2f} against it and all other"
        f" users (delta {DELTA:g}), {blanket.epsilon_local:g} against everybody"
    )


def _row(name: str, traffic: Traffic, cpu_seconds: float) -> str:
    return (
        f"{name:<20}{traffic.shares:>12,}{traffic.ciphertexts:>13,}{traffic.agreement:>11,}"
        f"{cpu_seconds:>9.2f} s"
    )


if __name__ == "__main__":
    main()
