"""An invented shop: what its customers are like, and what they bought."""

from typing import Any

import numpy as np

from sottovoce.domains.buckets import Buckets
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.table import Table

REGIONS = ("north", "east", "south", "west", "islands")
CATEGORIES = ("books", "food", "garden", "sports")
PLANS = ("free", "premium")
MOST = 4  # purchases that count


def schema() -> Joint:
    """Return two services: who customers are, with a public plan, and what they bought."""
    customers = Table(
        {"age": range(16, 80), "income": Buckets(0, 100_000, 25), "region": REGIONS},
        public={"plan": PLANS},
    )
    purchases = Table({"amount": range(1, 65), "category": CATEGORIES}, most=MOST)
    return Joint({"customers": customers, "purchases": purchases}, fanout=8)


def shop(people: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return the tables of so many customers.

    The young buy sports, the rich pay more, and premium customers buy more often.
    """
    dice = np.random.default_rng(seed)
    age = np.clip(dice.gamma(5, 5, people).round() + 13, 16, 79).astype(np.int64)
    income = np.clip(dice.gamma(4, 9_000, people) * (0.6 + age / 100), 0, 100_000)
    region = dice.choice(len(REGIONS), people, p=(0.34, 0.26, 0.2, 0.15, 0.05))
    premium = dice.random(people) < 0.2 + 0.3 * income / 100_000
    counts = np.minimum(dice.poisson(0.8 + 1.2 * premium), MOST)
    owner = np.repeat(np.arange(people), counts)
    young = np.clip((60 - age[owner]) / 45, 0, 1)
    odds = np.stack(
        [0.9 + 0 * young, 1.3 - 0.3 * young, 0.9 - 0.6 * young, 0.2 + 2.2 * young], axis=1
    )
    category = (
        odds.cumsum(axis=1) / odds.sum(axis=1, keepdims=True) < dice.random((len(owner), 1))
    ).sum(axis=1)
    amount = (
        np.clip(dice.gamma(4, 5, len(owner)) * (0.6 + income[owner] / 60_000), 1, 64)
        .round()
        .astype(np.int64)
    )
    return {
        "customers": {
            "age": age,
            "income": income,
            "region": np.array(REGIONS)[region],
            "plan": np.array(PLANS)[premium.astype(int)],
        },
        "purchases": {"uid": owner, "amount": amount, "category": np.array(CATEGORIES)[category]},
    }
