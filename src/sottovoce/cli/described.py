"""The columns of a file as the options of ``sottovoce simulate`` describe them."""

from dataclasses import dataclass

from sottovoce.cli.columns import Column
from sottovoce.cli.domains import DomainOptions
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Described:
    """The columns to ask about, the options about their values, and the mechanism."""

    cells: dict[str, Column]
    values: DomainOptions
    mechanism: str

    @property
    def people(self) -> int:
        """Return how many rows the file has."""
        return len(next(iter(self.cells.values())))

    def only_column(self, reason: str) -> tuple[str, Column]:
        """Return the only column, or say why there must be one."""
        if len(self.cells) > 1:
            raise ParameterError(f"give --column once: {reason}")
        return next(iter(self.cells.items()))

    def refuse_mechanism(self, option: str) -> None:
        """Refuse --mechanism where the plan chooses its own."""
        if self.mechanism:
            raise ParameterError(
                f"--mechanism does not go with {option}, which chooses its own mechanisms"
            )
