"""Amplification by shuffling, in plain floats: what a device computes before it believes a claim.

One person hides among m - 1 draws from the blanket: those of the other honest people, whose number
B is binomial, and the fakes.  With e = e^epsilon, E = e^epsilon_local, share s and overlap c,

    delta_m(epsilon) = mass (E - 1) (e + 1) / m * E[excess(K, distance)]
    distance = tanh(epsilon / 2) (K / 2 + N + m / (E - 1))

where, of the m draws, K ~ Bin(m, 2 s (1 - c)) support exactly one of the two values that are to be
told apart, N | K ~ Bin(m - K, s c / (1 - 2 s (1 - c))) support both, and

    excess(K, d) = E[(X - K / 2 - d)+]        X ~ Bin(K, 1/2)

Then delta(epsilon) <= E[delta_m] over m = 1 + B + fakes.  Every simplification below is an upper
bound:

* delta_m falls with m, because the collector could add blanket draws itself.  So B is replaced by
  its lower quantile, and the probability of being below is added.
* A block of neighbouring K counts with the spread of its largest and the distance of its smallest
  K: more coins spread more, and the excess falls with the distance.  N falls with K, so that a
  group of blocks has the N of its largest K.
* The excess is convex and falling in N.  So it lies below the chords between a few nodes, and
  beyond the last node below its value there.
* The result is raised by ``MARGIN``, far more than all roundings together: a relative error of
  1e-12 for each probability, times at most (d / sigma)^2 < 200 for the cancellation in the excess.

``binomial_sums`` is the same with SciPy and with several blocks of B.  The TypeScript client has
this module as ``accounting/amplification.ts``.

Source: Balle et al. 2019, section 5; docs/shuffling.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, exp, expm1, floor, inf, log, sqrt, tanh

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.blanket import Blanket
from sottovoce.core import settings
from sottovoce.maths import binomial
from sottovoce.maths.crossing import crossing

MARGIN = 1e-9  # relative, for roundings
DRAWS_TAIL = 1e-3  # of delta: the probability that there are fewer blanket draws than assumed
FIRST_GUESS = 1e-15  # of that probability, while delta is not known
_TOLERANCE = 1e-7  # of the epsilon that is found, as a part of the local one
_FAR_BELOW = 1e-6  # of delta: bounds below it are not told apart while searching

_SINGLES_TAIL = 1e-24  # probability of a K beyond the blocks: no smaller delta can be told
_BOTH_TAIL = 1e-12  # probability of an N beyond the nodes
_CHORD = 0.1  # of a standard deviation of X: how far a node of N moves the distance
_BLOCK = 5e-5  # of K: how wide a block may be
_GROUP = 0.002  # of a standard deviation of X: how far a group of blocks moves the distance
_MIN_BLOCKS = 16
_MAX_BLOCKS = 400
_MAX_NODES = 48


def delta(blanket: Blanket, batch: ShuffledBatch, epsilon: float) -> float:
    """Return an upper bound of delta at this epsilon.

    ``batch`` is what ``blanket.batch`` returns.

    >>> direct = Blanket(epsilon_local=2.0, share=1 / 4)
    >>> delta(direct, direct.batch(1000), 0.41) < 1e-6 < delta(direct, direct.batch(1000), 0.40)
    True
    """
    settings.real("epsilon", epsilon, 0)
    first = _bound(blanket, batch, epsilon, FIRST_GUESS)
    return min(first, _bound(blanket, batch, epsilon, DRAWS_TAIL * first))


def is_within(blanket: Blanket, batch: ShuffledBatch, epsilon: float, limit: float) -> bool:
    """Return whether ``delta`` is at most ``limit``, in a fraction of the time.

    A stranger's document makes a device ask this.  The second bound is computed only if the first
    one is too large, and no further than to the limit.
    """
    settings.real("epsilon", epsilon, 0)
    first = _bound(blanket, batch, epsilon, FIRST_GUESS)
    if first <= limit:
        return True
    return _bound(blanket, batch, epsilon, DRAWS_TAIL * first, limit) <= limit


def epsilon(blanket: Blanket, batch: ShuffledBatch, delta: float) -> float:
    """Return an upper bound of epsilon at this delta, at most the local epsilon."""
    settings.open_share("delta", delta)
    tail = DRAWS_TAIL * delta
    return smallest_epsilon(
        lambda candidate: _bound(blanket, batch, candidate, tail), delta, blanket.epsilon_local
    )


def smallest_epsilon(
    delta_at: Callable[[float], float], delta: float, epsilon_local: float
) -> float:
    """Return the smallest epsilon, at most the local one, at which a bound is at most ``delta``."""

    def surplus(candidate: float) -> float:
        return log(max(delta_at(candidate) / delta, _FAR_BELOW))

    if surplus(0.0) <= 0:
        return 0.0
    return crossing(surplus, 0.0, epsilon_local, _TOLERANCE * epsilon_local)


# A task, its notice and every device check the same promises, each in a good part of a second.
@lru_cache(maxsize=1024)
def _bound(
    blanket: Blanket, batch: ShuffledBatch, epsilon: float, tail: float, limit: float = inf
) -> float:
    """Return the bound with as many blanket draws as all but ``tail`` of the batches have.

    Of a bound above ``limit`` it returns only a part that is above it as well.
    """
    if epsilon >= blanket.epsilon_local:
        return 0.0
    draws = binomial.lower_quantile(tail, batch.others, blanket.mass)
    missing = binomial.fewer_than(draws, batch.others, blanket.mass)
    hidden = HiddenReport(blanket, 1 + draws + batch.fakes, epsilon)
    return min(1.0, (1 + MARGIN) * (hidden.delta(limit) + missing * hidden.delta_alone()))


@dataclass(frozen=True)
class HiddenReport:
    """One person's report among ``draws`` - 1 draws from the blanket, at one epsilon."""

    blanket: Blanket
    draws: int
    epsilon: float

    @cached_property
    def single(self) -> float:
        """Return the probability that a draw supports exactly one of the two values."""
        return min(1.0, 2 * self.blanket.share * (1 - self.blanket.overlap))

    @cached_property
    def both(self) -> float:
        """Return the probability that a draw supports both values, if not exactly one."""
        if self.blanket.overlap == 0 or self.single == 1:
            return 0.0
        return min(1.0, self.blanket.share * self.blanket.overlap / (1 - self.single))

    @property
    def gap(self) -> float:
        """Return mass (E - e): the most that one draw can add."""
        return self.blanket.mass * (exp(self.blanket.epsilon_local) - exp(self.epsilon))

    @cached_property
    def scale(self) -> float:
        """Return mass (E - 1) (e + 1) / m."""
        odds = expm1(self.blanket.epsilon_local)
        return self.blanket.mass * odds * (exp(self.epsilon) + 1) / self.draws

    def distance(self, singles: float, both: float) -> float:
        """Return tanh(epsilon / 2) (K / 2 + N + m / (E - 1))."""
        neither = self.draws / expm1(self.blanket.epsilon_local)
        return tanh(self.epsilon / 2) * (singles / 2 + both + neither)

    def delta_alone(self) -> float:
        """Return delta_1: what holds however few the other draws are."""
        return self.gap * self.blanket.share * (1 - self.blanket.overlap)

    def delta(self, limit: float = inf) -> float:
        """Return an upper bound of delta_m, or a part of it that is above ``limit``."""
        low = 0
        total = 0.0
        for high in self._block_ends:
            chance = binomial.between(low, high + 1, self.draws, self.single)
            if chance > 0:
                total += chance * self._excess(low, high)
            if self.scale * total > limit:
                return self.scale * total
            low = high + 1
        # Beyond the blocks a draw adds at most mass (E - e) K / m.
        beyond = binomial.at_least(self._block_ends[-1], self.draws - 1, self.single)
        return self.scale * total + self.gap * self.single * beyond

    def _excess(self, low: int, high: int) -> float:
        """Return an upper bound of the mean excess for all K from ``low`` to ``high``."""
        nodes = self._nodes
        if len(nodes) == 1:
            return binomial.fair_excess(high, self.distance(low, 0))
        weights = self._chord_weights(self.draws - self._last_of_group(high))
        return sum(
            weight * binomial.fair_excess(high, self.distance(low, node))
            for weight, node in zip(weights, nodes, strict=True)
        )

    def _last_of_group(self, high: int) -> int:
        """Return the largest K of the group of blocks in which N follows one law.

        N ~ Bin(m - K, both) falls with K, so that the law of the largest K is safe for all.
        """
        first = self._block_ends[0]
        spread = sqrt(max(1.0, self.draws * self.single)) / 2
        turn = tanh(self.epsilon / 2) * self.both
        width = self.draws
        if turn * self.draws > _GROUP * spread:
            width = max(1, floor(_GROUP * spread / turn))
        return min(self._block_ends[-1], first + ((high - first) // width + 1) * width - 1)

    def _chord_weights(self, rest: int) -> list[float]:
        """Return how much each node counts if N ~ Bin(rest, both) is interpolated linearly."""
        if rest not in self._weights:
            self._weights[rest] = self._new_chord_weights(rest)
        return self._weights[rest]

    @cached_property
    def _weights(self) -> dict[int, list[float]]:
        return {}

    def _new_chord_weights(self, rest: int) -> list[float]:
        nodes = self._nodes
        below = [binomial.fewer_than(node, rest, self.both) for node in nodes]
        # E[N; N < node] = n p P[Bin(n - 1, p) < node - 1]
        fewer = max(rest - 1, 0)
        means = [
            rest * self.both * binomial.fewer_than(node - 1, fewer, self.both) for node in nodes
        ]
        weights = [0.0] * len(nodes)
        for left in range(len(nodes) - 1):
            chance = max(0.0, below[left + 1] - below[left])
            above_left = means[left + 1] - means[left] - nodes[left] * chance
            to_right = min(chance, max(0.0, above_left / (nodes[left + 1] - nodes[left])))
            weights[left] += chance - to_right
            weights[left + 1] += to_right
        weights[-1] += binomial.at_least(nodes[-1], rest, self.both)
        return weights

    @cached_property
    def _block_ends(self) -> list[int]:
        """Return the largest K of every block; the first block begins at 0."""
        last = binomial.upper_quantile(_SINGLES_TAIL, self.draws, self.single)
        first = min(last, binomial.lower_quantile(_SINGLES_TAIL, self.draws, self.single))
        count = _MIN_BLOCKS + ceil((last - first) / (_BLOCK * max(1, last)))
        return with_rest_below(evenly(first, last, min(count, _MAX_BLOCKS)))

    @cached_property
    def _nodes(self) -> list[int]:
        """Return the values of N between which chords are drawn; the first is 0."""
        most = self.draws - self._block_ends[0]
        if self.both == 0 or most == 0:
            return [0]
        fewest = self.draws - self._block_ends[-1]
        first = binomial.lower_quantile(_BOTH_TAIL, fewest, self.both)
        last = binomial.upper_quantile(_BOTH_TAIL, most, self.both)
        count = node_count(self, last - first, _CHORD)
        nodes = evenly(first, last, min(count, _MAX_NODES))
        return nodes if nodes[0] == 0 else [0, *nodes]


def node_count(hidden: HiddenReport, width: int, chord: float) -> int:
    """Return how many nodes keep the chords of N short over a range of this width."""
    deviation = sqrt(max(1.0, hidden.draws * hidden.single)) / 2
    return 2 + ceil(width * tanh(hidden.epsilon / 2) / (chord * deviation))


def with_rest_below(ends: list[int]) -> list[int]:
    """Return the ends of blocks that begin at 0: what is below the first end is one more block.

    >>> with_rest_below([7, 9]), with_rest_below([0, 1])
    ([6, 7, 9], [0, 1])
    """
    return [ends[0] - 1, *ends] if ends[0] > 0 else ends


def evenly(first: int, last: int, most: int) -> list[int]:
    """Return at most ``most`` whole numbers from ``first`` to ``last``, both of them included.

    >>> evenly(0, 10, 3), evenly(4, 6, 10)
    ([0, 5, 10], [4, 5, 6])
    """
    steps = min(last - first, max(most, 2) - 1)
    if steps == 0:
        return [first]
    return [first + (last - first) * step // steps for step in range(steps + 1)]
