"""What an outcome promises to the people behind it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """``local`` is the epsilon that each device was charged: it holds against everybody, whatever they know."""

    local: float

    def to_dict(self) -> dict[str, float]:
        """Return the guarantee as plain data."""
        return {"local": self.local}
