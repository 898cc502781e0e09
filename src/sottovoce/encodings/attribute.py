"""One attribute of a record: the question a survey puts to one of its groups."""

from dataclasses import dataclass

from sottovoce.arrays import Values
from sottovoce.encoding import Encoding
from sottovoce.errors import DomainError
from sottovoce.rng import Rng


@dataclass(frozen=True)
class Attribute(Encoding, kind="attribute"):
    """Keep the column that the question asks about."""

    column: int

    def __call__(self, values: Values, rng: Rng) -> Values:
        if values.ndim != 2 or not 0 <= self.column < values.shape[1]:
            raise DomainError("this question asks about an attribute that the record does not have")
        return values[:, self.column]
