"""One attribute of a record: the question that a survey puts to one of its groups."""

from dataclasses import dataclass

from sottovoce.arrays import Values
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Attribute(Encoding, kind="attribute"):
    """Yield the value in one column of a record."""

    column: int

    def __post_init__(self) -> None:
        settings.whole("column", self.column, 0)

    def __call__(self, values: Values, rng: Rng) -> Values:
        return values[:, self.column]

    def outputs(self, domain: Domain) -> int:
        if self.column >= domain.attribute_count:
            raise ParameterError(
                f"the question asks about the attribute in column {self.column},"
                f" but the domain has {domain.attribute_count} attributes"
            )
        return domain.attribute_size(self.column)
