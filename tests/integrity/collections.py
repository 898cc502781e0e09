"""Small poisoned collections, made by the laboratory."""

from functools import cache

from sottovoce.lab.experiments.poisoning.scenario import Scenario, poisoned

SMALL = {"users": 20_000, "size": 256, "target_count": 8, "share": 0.1, "epsilon": 2.0}


@cache
def collection(name, seed=5, **settings):
    """A seeded collection: "none", or the number of tries of an MGA."""
    if name == "none":
        return poisoned(Scenario("none", **SMALL | {"share": 0.0} | settings), seed)
    return poisoned(Scenario(name, tries=int(name), **SMALL | settings), seed)
