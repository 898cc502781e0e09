"""What a device has spent and what it may spend: as plain data, and in words for its owner."""

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


def explain(device: dict[str, Any]) -> str:
    """Return the same in words."""
    overall = f"This device has spent {device['spent']:g} of {device['cap']:g} so far."
    return " ".join([overall, *map(_explain_window, device["windows"])])


def _explain_window(window: dict[str, Any]) -> str:
    return (
        f"Within {window['seconds']:g} seconds it may spend {window['epsilon']:g} in"
        f" {window['reports']} answers, and has spent {window['spent']:g} in {window['used']}."
    )


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
