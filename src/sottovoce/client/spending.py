"""What a device has spent and what it may spend, as facts for the statement."""

from typing import Any

from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.budget import SpendingWindow, total


def spending(ledger: DiskLedger) -> dict[str, Any]:
    """Return what was spent and under which limits, ready for JSON."""
    return {
        "spent": ledger.spent,
        "cap": ledger.cap,
        "windows": [_within(window, ledger) for window in ledger.windows],
    }


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
