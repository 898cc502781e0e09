"""Errors at a position in a text, such as a query."""

from sottovoce.errors import ParameterError


class LocatedError(ParameterError):
    """An error at a ``line`` and a ``column`` of a text, both counted from 1.

    The text itself is not part of the message, which may be logged.
    """

    def __init__(self, message: str, line: int, column: int, text: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self._source = _line_of(text, line)
        self._arguments: tuple[object, ...] = (message, line, column, text)

    def __reduce__(self) -> tuple[type["LocatedError"], tuple[object, ...]]:
        return type(self), self._arguments  # errors travel between processes

    @property
    def before(self) -> str:
        """Return the refused line up to the position."""
        return self._source[: self.column - 1]

    @property
    def after(self) -> str:
        """Return the refused line from the position on."""
        return self._source[self.column - 1 :]

    @property
    def caret(self) -> str:
        """Return the refused line with a caret below the position.

        >>> print(LocatedError("this is not expected here", 1, 8, "SELECT 1").caret)
        SELECT 1
               ^
        """
        indent = "".join("\t" if letter == "\t" else " " for letter in self.before)
        return f"{self._source}\n{indent}^"


def _line_of(text: str, line: int) -> str:
    lines = text.split("\n")
    return lines[line - 1] if line <= len(lines) else ""
