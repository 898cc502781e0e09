"""What a device says about its spending."""

from client.clock import Clock
from sottovoce.client import spending
from sottovoce.client.ledger import DiskLedger
from sottovoce.tasks.budget import ConditionalSpend, Spend, SpendingWindow


def test_spending_is_stated_under_its_limits():
    clock = Clock()
    ledger = DiskLedger(":memory:", cap=5.0, windows=[SpendingWindow(60, 2.0, 4)], clock=clock)
    ledger.answer(Spend("old", 1.5), lambda: b"m")
    clock.time += 100
    ledger.answer(Spend("new", 0.5), lambda: b"m")
    device = spending.spending(ledger)
    window = {"seconds": 60.0, "epsilon": 2.0, "reports": 4, "spent": 0.5, "used": 1}
    assert device == {"spent": 2.0, "cap": 5.0, "windows": [window], "collectors": None}


def test_what_collectors_learn_of_shuffled_answers_is_stated_beside_the_charge():
    """0.1 and 0.2 of two shuffled tasks, and all of one that was not."""
    ledger = DiskLedger(":memory:", cap=20.0)
    for name, central in (("first", 0.1), ("second", 0.2)):
        spend = Spend(name, 6.0, conditional=ConditionalSpend(central, 1e-9))
        ledger.answer(spend, lambda: b"m")
    ledger.answer(Spend("direct", 1.0), lambda: b"m")
    device = spending.spending(ledger)
    assert device["spent"] == 13.0
    assert device["collectors"] == {"epsilon": 1.3, "delta": 2e-9}
