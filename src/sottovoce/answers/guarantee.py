"""What an outcome promises to the people behind it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """``local`` is the epsilon that each device spent: it holds against whoever sees reports."""

    local: float

    def to_dict(self) -> dict[str, float]:
        """Return the guarantee as plain data."""
        return {"local": self.local}
