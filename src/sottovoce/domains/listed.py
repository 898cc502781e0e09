"""The domain that a list of labels or a range stands for."""

from collections.abc import Iterable, Mapping
from typing import Any

from sottovoce.domains.base import Domain, normalized_labels
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.errors import ParameterError


def domain_of(
    values: "Domain | Iterable[Any]", *, declinable: bool = False
) -> "Categories | Integers":
    """Return the domain that a list of labels or a range names.

    >>> domain_of(range(5))
    Integers(low=0, high=4)
    """
    if isinstance(values, Domain) and values.listed:
        return values  # type: ignore[return-value]
    if isinstance(values, range) and values.step == 1 and not declinable:
        if len(values) < 2:
            raise ParameterError(f"a domain must have at least 2 values, not {len(values)}")
        return Integers(values.start, values.stop - 1)
    if isinstance(values, (str, bytes, Domain, Mapping)) or not isinstance(values, Iterable):
        raise ParameterError(
            f"a domain must be a list of labels or a range, not {type(values).__name__}"
        )
    return Categories(normalized_labels("labels", values), declinable=declinable)
