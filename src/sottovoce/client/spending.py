"""What a device has spent and what it may spend, as facts for the statement.

The limits are on local epsilons, which hold against everybody.  Beside them stands what collectors
can have learned if of every chain one shuffler is honest: the sum of the central epsilons of
shuffled answers and of the local ones of all others, except with the sum of the deltas.
"""

from fractions import Fraction
from typing import Any

from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.budget import SpendingWindow, total


def spending(ledger: DiskLedger) -> dict[str, Any]:
    """Return what was spent and under which limits, ready for JSON."""
    return {
        "spent": ledger.spent,
        "cap": ledger.cap,
        "windows": [_within(window, ledger) for window in ledger.windows],
        "collectors": _collectors(ledger),
    }


def _collectors(ledger: DiskLedger) -> dict[str, float] | None:
    """Return what collectors can have learned, or nothing if no answer was shuffled."""
    entries = ledger.entries()
    shuffled = [entry.conditional for entry in entries if entry.conditional is not None]
    if not shuffled:
        return None
    direct = [entry.epsilon for entry in entries if entry.conditional is None]
    epsilon = total([*direct, *(conditional.epsilon for conditional in shuffled)])
    delta = sum(Fraction(repr(conditional.delta)) for conditional in shuffled)
    return {"epsilon": float(epsilon), "delta": float(delta)}


def _within(window: SpendingWindow, ledger: DiskLedger) -> dict[str, Any]:
    """Return the limits of a window and what was charged within it."""
    recent = ledger.recent(window)
    return {
        "seconds": window.seconds,
        "epsilon": window.epsilon,
        "reports": window.reports,
        "spent": float(total(recent)),
        "used": len(recent),
    }
