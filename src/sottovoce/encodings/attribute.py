"""One attribute of a record: the question a survey puts to one of its groups."""

from dataclasses import dataclass

from sottovoce.arrays import Values
from sottovoce.core.rng import Rng
from sottovoce.domains.base import Domain
from sottovoce.domains.records import Records
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class Attribute(Encoding, kind="attribute"):
    """Keep the column that the question asks about."""

    column: int

    def __call__(self, values: Values, rng: Rng) -> Values:
        return values[:, self.column]

    def outputs(self, domain: Domain) -> int:
        if not isinstance(domain, Records) or not 0 <= self.column < len(domain.attributes):
            raise ParameterError("this question asks about an attribute that the domain does not have")
        return domain.attributes[self.column].size
