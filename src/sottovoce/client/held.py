"""The index of what a person holds, or of a random value if the domain does not have it.

A device that fell silent about a value outside of the domain would give the value away: a collector
could ask for smaller and smaller domains until it does.  So such a value is answered with the
response to a random one.  The random index is always drawn, and drawn first: how much randomness a
device uses does not depend on the value either.  Public columns are sent as they are, if they are
possible, whatever the others hold.
"""

from dataclasses import dataclass
from typing import Any

from sottovoce.core.rng import SystemRng
from sottovoce.domains.base import Domain
from sottovoce.errors import DomainError

UNREADABLE = "a value must be of the kind that the task asks for"


@dataclass(frozen=True, eq=False, repr=False)  # what people hold is not printed
class HeldIndex:
    """One index in the shape that ``Domain.indices`` returns.

    ``refusal`` says why the value was replaced by a random one, without the value; it is empty if
    it was not.
    """

    indices: Any
    refusal: str = ""


def held_index(domain: Domain, value: Any) -> HeldIndex:
    """Return the index of a value, or of a random one if the domain refuses the value."""
    fallback = random_index(domain)
    try:
        return HeldIndex(domain.indices([value]))
    except DomainError as error:
        refusal = str(error)
    except Exception:  # whatever an object does that stands in for a value: its text may name it
        refusal = UNREADABLE
    try:
        return HeldIndex(domain.with_public_part(fallback, value), refusal)
    except Exception:
        return HeldIndex(fallback, refusal)


def random_index(domain: Domain) -> Any:
    """Return the index of a random value, drawn from the operating system."""
    return domain.random_value(SystemRng())
