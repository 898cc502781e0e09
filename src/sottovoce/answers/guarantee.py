"""What an outcome promises to the people behind it."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class ShuffledPromise:
    """What shuffling adds: two epsilons that hold except for ``delta``, and what they rest on.

    ``central`` holds against the collector alone, ``against_users`` against the collector together
    with all other users.  ``users`` people and ``fakes`` fake reports were mixed by ``hops`` hops.
    """

    central: float
    delta: float
    against_users: float
    users: int
    fakes: int
    hops: int


@dataclass(frozen=True)
class Guarantee:
    """``local`` is the epsilon that each device spent: it holds against whoever sees reports.

    ``shuffled`` is there if the reports were shuffled; the three epsilons are only quoted together.
    """

    local: float
    shuffled: ShuffledPromise | None = None

    def to_dict(self) -> dict[str, float]:
        """Return the guarantee as plain data."""
        if self.shuffled is None:
            return {"local": self.local}
        return {"local": self.local, **asdict(self.shuffled)}
