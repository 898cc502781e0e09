"""What a device has spent of what it may: as plain data, and in plain words for its owner."""

from typing import Any

from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.budget import Window, total


def spending(ledger: DiskLedger) -> dict[str, Any]:
    """Return what was spent under which limits, ready for JSON."""
    return {
        "spent": ledger.spent,
        "cap": ledger.cap,
        "windows": [_window(window, ledger) for window in ledger.windows],
    }


def explain(device: dict[str, Any]) -> str:
    """Return it in plain words."""
    windows = [
        f"Within {window['seconds']:g} seconds it may spend {window['epsilon']:g} in {window['reports']} answers, "
        f"and has spent {window['spent']:g} in {window['used']}."
        for window in device["windows"]
    ]
    return " ".join([f"This device has spent {device['spent']:g} of {device['cap']:g} so far.", *windows])


def _window(window: Window, ledger: DiskLedger) -> dict[str, Any]:
    recent = ledger.recent(window)
    limits = {"seconds": window.seconds, "epsilon": window.epsilon, "reports": window.reports}
    return {**limits, "spent": float(total(recent)), "used": len(recent)}
