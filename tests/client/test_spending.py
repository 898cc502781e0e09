"""What a device says about its spending."""

from client.clock import Clock
from sottovoce.client import spending
from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.budget import Spend, SpendingWindow


def test_spending_is_stated_under_its_limits():
    clock = Clock()
    ledger = DiskLedger(":memory:", cap=5.0, windows=[SpendingWindow(60, 2.0, 4)], clock=clock)
    ledger.answer(Spend("old", 1.5), lambda: b"m")
    clock.time += 100
    ledger.answer(Spend("new", 0.5), lambda: b"m")
    device = spending.spending(ledger)
    window = {"seconds": 60.0, "epsilon": 2.0, "reports": 4, "spent": 0.5, "used": 1}
    assert device == {"spent": 2.0, "cap": 5.0, "windows": [window]}
