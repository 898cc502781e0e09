"""Results of the tests of a round: plain data that is kept when the reports are erased."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.core.plausibility import PlausibilityTest


@dataclass(frozen=True)
class Suspects:
    """Values that reports support together, or in turn, more often than honest ones would.

    ``scores`` are those of all pairs: standard normal numbers if the reports are honest.
    """

    test: str
    member: int
    slot: int
    values: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Integrity:
    """Whether the reports of a round can be honest.

    ``share`` is the estimated share of reports that are not, where a test alarms and it can be
    estimated.
    """

    round: int
    reports: int
    tests: tuple[PlausibilityTest, ...]
    suspects: tuple[Suspects, ...] = ()
    share: float | None = None

    @property
    def alarm(self) -> bool:
        """Return whether any test alarms."""
        return any(test.alarm for test in self.tests)

    @property
    def alarms(self) -> tuple[str, ...]:
        """Return the names of the tests that alarm."""
        return tuple(test.name for test in self.tests if test.alarm)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        tests = [{**asdict(test), "alarm": test.alarm} for test in self.tests]
        return {
            "round": self.round,
            "reports": self.reports,
            "alarm": self.alarm,
            "tests": tests,
            "suspects": [asdict(each) for each in self.suspects],
            "share": self.share,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Integrity":
        """Return the results that ``to_dict`` wrote."""
        tests = [
            PlausibilityTest(**{name: value for name, value in test.items() if name != "alarm"})
            for test in content["tests"]
        ]
        suspects = [
            Suspects(
                test=each["test"],
                member=each["member"],
                slot=each["slot"],
                values=tuple(each["values"]),
                scores=tuple(tuple(row) for row in each["scores"]),
            )
            for each in content["suspects"]
        ]
        return cls(
            content["round"],
            content["reports"],
            tuple(tests),
            tuple(suspects),
            content["share"],
        )
