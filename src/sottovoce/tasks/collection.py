"""How a collector treats a task: when a round closes, what may be released, how long reports are kept.

These settings are part of the task's document, and so of its digest: a device sees them before it
answers, and a collector that wants others publishes another task.
"""

from dataclasses import dataclass, fields

from sottovoce.errors import ParameterError

SMALLEST_CROWD = 2  # a crowd of one is a person


@dataclass(frozen=True)
class Collection:
    """Durations in seconds, but ``retention`` in days; 0 users of a quota or 0 seconds mean no such limit."""

    quota: int = 0  # users of the whole task; a round closes when its share of them has answered
    seconds: int = 0  # time after which a round closes, once the minimum is in
    grace: int = 60  # time for late reports after a round has closed
    minimum: int = 50  # users below which nothing is released
    crowd: int = 0  # estimated users below which one value is not released
    retention: int = 90  # days until sealed reports are erased and only sums remain
    enrolment: bool = False  # whether a report needs a token, which buys one bundle for this task
    sandbox: bool = False  # whether devices answer at random, for a rehearsal that costs nobody anything

    def __post_init__(self) -> None:
        numbers = [getattr(self, one.name) for one in fields(self) if one.type is int]
        if any(type(number) is not int or not 0 <= number < 1 << 32 for number in numbers):
            raise ParameterError("the settings of a collection are whole numbers from 0 to 2^32 - 1")
        if self.minimum < SMALLEST_CROWD or 0 < self.crowd < SMALLEST_CROWD:
            raise ParameterError(f"a minimum or a crowd is at least {SMALLEST_CROWD} users")
        if 0 < self.quota < self.minimum:
            raise ParameterError("a quota below the minimum would close rounds that may not be released")
        if self.retention < 1:
            raise ParameterError("reports are kept for at least 1 day")
