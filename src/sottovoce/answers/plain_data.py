"""What can be written as plain data, and therefore as JSON and as HTML; with rows, also as CSV and
as a frame.
"""

from abc import ABC, abstractmethod
from typing import Any

from sottovoce.answers import export, notebook


class PlainData(ABC):
    """Something that says all it knows in dictionaries, lists, texts and numbers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

    def to_json(self) -> str:
        """Return everything as JSON."""
        return export.json_text(self.to_dict())

    def to_show(self) -> dict[str, Any]:
        """Return the data that a notebook shows; of a long outcome, a part of its rows."""
        return self.to_dict()

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return notebook.html_text(self.to_show(), getattr(self, "name", ""))


class PlainRows(PlainData):
    """Plain data in rows, which are also written as CSV and as frames."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return one record per row."""

    def to_csv(self) -> str:
        """Return the rows as CSV with a header."""
        return export.csv_text(self.rows())

    def frame(self, library: str = "pandas") -> Any:
        """Return the rows as a frame of pandas, polars or pyarrow."""
        return export.frame_of(self.rows(), library)
