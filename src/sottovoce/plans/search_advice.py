"""Advice before a search: what share of people must hold a value, or have an item, for it to be
found.

A value counts as findable if it passes every step of the search 19 times in 20, while one candidate
that nobody holds is expected to pass as well.  ``heavy_hitters/advice.py`` and
``itemsets/advice.py`` compute it, by formulas of the plan that would be run; nothing is simulated.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.core.settings import open_share, whole
from sottovoce.errors import ParameterError
from sottovoce.maths.bisection import bisect_whole
from sottovoce.tasks.advice import Advice

FOUND = 0.95  # of the searches, by which a findable value is found
MIN_USERS = 100
_FIRST_USERS = 1024  # the first number that is tried for a wished share
_MAX_USERS = 1 << 50

FindableShare = Callable[[int], float | None]  # of so many users; None if nothing is findable


@dataclass(frozen=True)
class SearchAdvice(Advice):
    """What a search would find.

    ``findable`` is a share of all users, None if not even a value that everybody holds would be
    found. ``error`` is the standard error of the share of a rare value that is found.
    """

    plan: str
    users: int
    epsilon: float
    top: int
    findable: float | None
    error: float
    rounds: int
    reason: str
    users_needed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        found = "nothing"
        if self.findable is not None:
            found = f"what at least {100 * self.findable:.3g} % of people hold"
        lines = [
            f"Advice for {self.users:,} users, the top {self.top}, epsilon {self.epsilon:g}",
            "",
            f"  plan      {self.plan}: {self.reason}",
            f"  finds     {found}, 19 times in 20",
            f"  error     {100 * self.error:.3g} %"
            " (standard error of the share of a rare one that is found)",
            f"  rounds    {self.rounds}; everybody answers in one of them, with the whole epsilon",
        ]
        if self.users_needed is not None:
            lines.append(f"  users     {self.users_needed:,} would be needed for the wished share")
        return "\n".join(lines)


def check_search(users: int, share: float | None) -> None:
    """Refuse a search of too few users, and a wished share that is none."""
    whole("users", users, MIN_USERS)
    if share is not None:
        open_share("share", share)


def users_for_share(findable: FindableShare, share: float | None) -> int | None:
    """Return the fewest users for whom a wished share is findable, to one in a hundred.

    None if no share is wished.
    """
    if share is None:
        return None

    def too_few(users: int) -> bool:
        found = findable(users)
        return found is None or found > share

    users = _FIRST_USERS
    while too_few(users):
        users *= 2
        if users > _MAX_USERS:
            raise ParameterError("`share` must be larger: no number of users would be enough")
    return bisect_whole(too_few, users // 2, users, parts=100)
