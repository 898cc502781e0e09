"""From the guarantee that is wanted to the settings that give it.

``local_for`` finds the largest local epsilon whose shuffled reports meet a central target, and
``fakes_for`` how many fakes protect a person against a collector that colludes with all others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

from sottovoce.accounting import binomial_sums
from sottovoce.accounting.batch import MAX_REPORTS, ShuffledBatch
from sottovoce.accounting.blanket import BLOCKS, Blanket
from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.maths.crossing import crossing

MAX_LOCAL = 6.0  # what a report may spend against everybody, unless an operator decides otherwise
MAX_AGAINST_USERS = 2.0  # what a report may spend if all other users collude, by default
LOCAL_PART = 3  # by default, fakes also cut the local epsilon by this factor
_TOLERANCE = 1e-6  # of the local epsilon that is found
_FAR_BELOW = 1e-6  # of delta: bounds below it are not told apart while searching


@dataclass(frozen=True)
class CentralTarget:
    """The (epsilon, delta) that must hold against the collector alone."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", settings.epsilon("epsilon", self.epsilon))
        object.__setattr__(self, "delta", settings.open_share("delta", self.delta))

    def surplus(self, blanket: Blanket, batch: ShuffledBatch, blocks: int) -> float:
        """Return the logarithm of the proven delta over the wanted one; at most 0 if it is met."""
        counted = blanket.batch(batch.users, batch.fakes)
        bound = binomial_sums.delta_near(blanket, counted, (self.epsilon, self.delta), blocks)
        return log(max(bound / self.delta, _FAR_BELOW))


def local_for(
    target: CentralTarget,
    batch: ShuffledBatch,
    blanket_at: Callable[[float], Blanket],
    max_local: float = MAX_LOCAL,
    blocks: int = BLOCKS,
) -> float:
    """Return the largest local epsilon, at most ``max_local``, that meets the target.

    ``blanket_at`` gives the blanket for a local epsilon.  The result is never below the target's
    epsilon, which needs no shuffling, unless ``max_local`` is.

    >>> target = CentralTarget(epsilon=0.1, delta=1e-9)
    >>> round(local_for(target, ShuffledBatch(100_000), lambda local: Blanket(local, 1 / 16)), 2)
    3.44
    """
    max_local = settings.epsilon("max_local", max_local)
    if max_local <= target.epsilon:
        return max_local

    def surplus(below_max: float) -> float:
        return target.surplus(blanket_at(max_local - below_max), batch, blocks)

    if surplus(0.0) <= 0:
        return max_local
    return max_local - crossing(surplus, 0.0, max_local - target.epsilon, _TOLERANCE)


def fakes_for(blanket: Blanket, target: CentralTarget) -> int:
    """Return the fewest fakes that meet a target against a collector and all other users.

    >>> fakes_for(Blanket(6.0, 1 / 16), CentralTarget(epsilon=1.0, delta=1e-9))
    1051
    """
    if target.epsilon >= blanket.epsilon_local:
        return 0

    def suffices(fakes: int) -> bool:
        return target.surplus(blanket, ShuffledBatch(1, fakes), BLOCKS) <= 0

    enough = 1
    while not suffices(enough):
        enough *= 2
        if enough > MAX_REPORTS:
            raise ParameterError("`epsilon` is too small for any number of fakes")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if suffices(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def default_against_users(epsilon_local: float) -> float:
    """Return the epsilon that fakes should give by default: min(2, local epsilon / 3)."""
    return min(MAX_AGAINST_USERS, epsilon_local / LOCAL_PART)
