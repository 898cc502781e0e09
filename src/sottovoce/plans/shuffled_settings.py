"""The settings of a shuffled task: what an operator leaves open is chosen here.

An operator states the size of a batch, a delta, and what must hold against the collector alone.
The rest follows:

* ``epsilon``, which holds against everybody, is the largest one, up to ``max_local``, whose
  shuffled reports keep the central promise without any fakes.
* ``fakes`` are as many as keep the promise against the collector together with all other users,
  by default min(2, epsilon / 3).  There are none for a plan that could not take them out again.
* Where ``fakes`` are stated and a promise is not, the promise is what they give.

A plan with later rounds is accounted for as any mechanism of its epsilon is, because its promises
must hold for whatever those rounds will ask.

Every promise is one that devices confirm with their own account.  That account has one block and is
up to 4 % above the server's; devices refuse a document that promises more than it gives.

Source: docs/shuffling.md.
"""

from dataclasses import dataclass, replace
from math import ceil, floor, log10

from sottovoce.accounting import amplification
from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.targets import (
    MAX_LOCAL,
    CentralTarget,
    default_against_users,
    fakes_for,
    local_for,
)
from sottovoce.core import settings
from sottovoce.errors import ParameterError
from sottovoce.plans.shuffled_choice import BLOCKS, Yardsticks, expected_mse
from sottovoce.tasks.collected import NothingCollected
from sottovoce.tasks.limits import check_fakes
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import Hop, Shuffle, accounted_blankets
from sottovoce.tasks.task import Task

_DIGITS = 3  # of a promise that is not stated
_DECIMALS = 3  # of a local epsilon that is not stated
_FEWER = 0.99  # what is left of a local epsilon that devices would not confirm
_MORE = 1.02  # by how much fakes grow that devices would not confirm


@dataclass(frozen=True)
class WantedShuffle:
    """What an operator writes about a shuffle; what is None is chosen.

    ``max_local`` caps the local epsilon that is chosen.
    """

    hops: tuple[Hop, ...]
    key: str
    users: int
    delta: float
    central: float | None = None
    against_users: float | None = None
    fakes: int | None = None
    max_local: float = MAX_LOCAL


@dataclass(frozen=True)
class ShuffledSettings:
    """A plan, its local epsilon and its shuffle, with nothing left open."""

    plan: Plan
    epsilon: float
    shuffle: Shuffle


def settle(plan: Plan, epsilon: float | None, wishes: WantedShuffle) -> ShuffledSettings:
    """Return the settings of a shuffled task; ``epsilon`` is the local one, None to choose it."""
    if wishes.fakes is None and wishes.against_users is None and not _takes_fakes(plan):
        wishes = replace(wishes, fakes=0)
    if epsilon is not None:
        shuffle = _shuffle(_plan_blanket(plan, epsilon), wishes)
        return ShuffledSettings(plan, epsilon, shuffle)
    if wishes.central is None:
        raise ParameterError("a shuffled task must state `epsilon`, or `central` of its shuffle")
    target = CentralTarget(wishes.central, wishes.delta)
    batch = ShuffledBatch(wishes.users, wishes.fakes or 0)
    chosen = plan.for_shuffling(target, batch, wishes.max_local)

    def blanket_at(local: float) -> Blanket:
        return _plan_blanket(chosen, local)

    largest = local_for(target, batch, blanket_at, wishes.max_local, BLOCKS)
    epsilon = _rounded_down(largest, target.epsilon)
    shuffle = _shuffle(blanket_at(epsilon), wishes)
    while not _is_kept(shuffle, blanket_at(epsilon)):
        epsilon = _rounded_down(_FEWER * epsilon, target.epsilon)
        shuffle = _shuffle(blanket_at(epsilon), wishes)
    return ShuffledSettings(chosen, epsilon, shuffle)


@dataclass(frozen=True)
class ExpectedErrors:
    """Standard errors of an estimated share: shuffled, and beside it at the same central promise.

    ``gaussian`` and ``laplace`` are what a trusted curator would add, ``local`` is what reports
    without a shuffler would have.
    """

    shuffled: float
    gaussian: float
    laplace: float
    local: float


def expected_errors(task: Task) -> ExpectedErrors | None:
    """Return the errors to expect of a task with the least batch that it allows.

    They are known for a single question whose mechanism counts values; None for any other.
    """
    shuffle = task.shuffle
    ask = task.opening.ask
    if shuffle is None or ask.member_count > 1 or ask.slots > 1 or task.rounds is not None:
        return None
    question = ask.at(0, 0)
    if question.encoding is not None:
        return None
    try:
        pure = question.mechanism.pure()
    except ParameterError:
        return None
    if pure.share is None:
        return None
    batch = ShuffledBatch(shuffle.users, shuffle.total_fakes)
    target = CentralTarget(shuffle.central, shuffle.delta)
    beside = Yardsticks.of(pure.size, target, shuffle.users)
    return ExpectedErrors(
        shuffled=expected_mse(pure, batch) ** 0.5,
        gaussian=beside.gaussian**0.5,
        laplace=beside.laplace**0.5,
        local=beside.local**0.5,
    )


def _takes_fakes(plan: Plan) -> bool:
    """Return whether fakes can be taken out of the answers of a plan again."""
    try:
        check_fakes(plan, _opening(plan, MAX_LOCAL))
    except ParameterError:
        return False
    return True


def _plan_blanket(plan: Plan, epsilon: float) -> Blanket:
    """Return a blanket that the reports of all rounds of a plan have, as devices account for it."""
    opening = _opening(plan, epsilon)
    if plan.later_rounds(opening) is not None:
        return Blanket.generic(epsilon)
    return accounted_blankets(opening.ask.blanket)[0]


def _opening(plan: Plan, epsilon: float) -> Round:
    opening = plan.step(NothingCollected(settings.epsilon("epsilon", epsilon)))
    if not isinstance(opening, Round):
        raise ParameterError("a plan must ask something before it gives an outcome")
    return opening


def _shuffle(blanket: Blanket, wishes: WantedShuffle) -> Shuffle:
    """Return the shuffle of reports with a blanket, with what is left open chosen."""
    delta = settings.open_share("delta", wishes.delta)
    against_users = wishes.against_users
    fakes = wishes.fakes
    if fakes is None:
        if against_users is None:
            against_users = _default_against_users(blanket.epsilon_local)
        fakes = _enough_fakes(blanket, CentralTarget(against_users, delta))
    if against_users is None:
        against_users = _promise(blanket, ShuffledBatch(1, fakes), delta)
    central = wishes.central
    if central is None:
        central = _promise(blanket, ShuffledBatch(wishes.users, fakes), delta)
    return Shuffle(wishes.hops, wishes.key, wishes.users, fakes, central, against_users, delta)


def _default_against_users(epsilon_local: float) -> float:
    """Return what fakes give by default, with few decimals."""
    exact = default_against_users(epsilon_local)
    return round(exact, _DECIMALS) or exact


def _enough_fakes(blanket: Blanket, target: CentralTarget) -> int:
    """Return as many fakes as a device confirms to be enough for a target."""
    fakes = fakes_for(blanket, target)
    while _account(blanket, ShuffledBatch(1, fakes), target.delta) > target.epsilon:
        fakes = ceil(_MORE * fakes)
    return fakes


def _promise(blanket: Blanket, batch: ShuffledBatch, delta: float) -> float:
    """Return what a device confirms for a batch, rounded up, and at most the local epsilon."""
    account = _account(blanket, batch, delta)
    if account <= 0:
        raise ParameterError("`central` and `against_users` must be stated for so large a batch")
    unit = 10.0 ** (floor(log10(account)) + 1 - _DIGITS)
    return min(blanket.epsilon_local, float(f"{ceil(account / unit) * unit:.12g}"))


def _account(blanket: Blanket, batch: ShuffledBatch, delta: float) -> float:
    return min(
        amplification.epsilon(each, each.batch(batch.users, batch.fakes), delta)
        for each in accounted_blankets(blanket)
    )


def _is_kept(shuffle: Shuffle, blanket: Blanket) -> bool:
    try:
        shuffle.check(blanket)
    except ParameterError:
        return False
    return True


def _rounded_down(epsilon: float, least: float) -> float:
    """Return an epsilon with few decimals; never below ``least``, which needs no shuffling."""
    unit = 10.0**_DECIMALS
    return max(floor(epsilon * unit) / unit, min(epsilon, least))
