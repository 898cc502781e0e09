"""What can be written as plain data, and therefore as JSON."""

from abc import ABC, abstractmethod
from typing import Any

from sottovoce.answers import export


class PlainData(ABC):
    """Something that says all it knows in dictionaries, lists, texts and numbers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

    def to_json(self) -> str:
        """Return everything as JSON."""
        return export.json_text(self.to_dict())
