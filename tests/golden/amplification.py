"""The vectors of amplification by shuffling: the bound that devices compute, in sixty digits.

The sums are written out over listed probabilities, without a tail, a saddle point or a continued
fraction, so that they share nothing with the code that they judge but the definition of the bound.
"""

from decimal import Decimal, localcontext
from itertools import accumulate
from math import ceil, comb

SINGLES_TAIL, BOTH_TAIL = Decimal("1e-24"), Decimal("1e-12")
DRAWS_TAIL, FIRST_GUESS = Decimal("1e-3"), Decimal("1e-15")
MARGIN, CHORD = Decimal("1e-9"), Decimal("0.1")
MIN_BLOCKS, MAX_BLOCKS, MAX_NODES = 16, 400, 48
BLOCK, GROUP = Decimal("5e-5"), Decimal("0.002")

# local epsilon, share, overlap; users, fakes, epsilon
ROWS = [
    ("2.0", "0.25", "0.0", 1, 0, "0.5"),
    ("2.0", "0.25", "0.0", 2, 0, "0.0"),
    ("2.0", "0.25", "0.0", 60, 0, "1.0"),
    ("2.0", "0.25", "0.0", 200, 0, "0.5"),
    ("2.0", "0.25", "0.0", 200, 50, "0.5"),
    ("2.0", "0.25", "0.0", 200, 0, "2.0"),
    ("0.7", "0.5", "0.0", 150, 0, "0.2"),
    ("0.7", "0.5", "0.0", 1, 90, "0.2"),
    ("4.0", "0.0625", "0.0", 300, 0, "1.5"),
    ("4.0", "0.0625", "0.0625", 300, 0, "1.5"),
    ("4.0", "0.0625", "0.0625", 1, 200, "2.5"),
    ("1.0", "0.5", "0.5", 120, 0, "0.4"),
    ("1.0", "0.5", "0.5", 40, 30, "0.1"),
    ("3.0", "0.125", "0.06451612903225806", 250, 20, "1.0"),
    ("1.5", "0.32082130082460703", "0.32082130082460703", 90, 0, "0.5"),
    ("5.0", "0.75", "0.6666666666666666", 80, 10, "2.0"),
    ("6.0", "0.0009765625", "0.0", 200, 60, "3.0"),
    ("6.5", "0.001953125", "0.0009775171065493646", 1, 150, "4.0"),
]


def amplification():
    about = (
        "bounds: blanket (local epsilon, share, overlap), users, fakes, epsilon -> the upper bound "
        "of delta that a device computes, to 1e-9."
    )
    return "amplification.json", {"about": about, "version": 1, "bounds": list(bounds())}


def bounds():
    for local, share, overlap, users, fakes, epsilon in ROWS:
        with localcontext(prec=60):
            blanket = tuple(Decimal(float(number)) for number in (local, share, overlap))
            bound = delta(blanket, users, fakes, Decimal(float(epsilon)))
        yield {
            "blanket": {"epsilon_local": local, "share": share, "overlap": overlap},
            "users": users,
            "fakes": fakes,
            "epsilon": epsilon,
            "delta": f"{bound:.16e}" if bound else "0.0",
        }


def delta(blanket, users, fakes, epsilon):
    first = bound_with(blanket, users, fakes, epsilon, FIRST_GUESS)
    return min(first, bound_with(blanket, users, fakes, epsilon, DRAWS_TAIL * first))


def bound_with(blanket, users, fakes, epsilon, tail):
    """Replace the number of draws by its lower quantile, and add the probability below it."""
    local, share, overlap = blanket
    if epsilon >= local:
        return Decimal(0)
    mass = 1 / (1 + share * (local.exp() - 1))
    below = sums_below(binomial(users - 1, mass))
    draws = max(count for count in range(users) if below[count] <= tail)
    gap = mass * (local.exp() - epsilon.exp())
    alone = gap * share * (1 - overlap)
    hidden = delta_of(blanket, 1 + draws + fakes, epsilon)
    return min(Decimal(1), (1 + MARGIN) * (hidden + below[draws] * alone))


def delta_of(blanket, draws, epsilon):
    """Sum over blocks of K, and in each over the chords of N."""
    local, share, overlap = blanket
    odds = local.exp()
    mass = 1 / (1 + share * (odds - 1))
    single = min(Decimal(1), 2 * share * (1 - overlap))
    both = share * overlap / (1 - single) if single < 1 else Decimal(0)
    law = binomial(draws, single)
    first, last = quantiles(law, SINGLES_TAIL)
    count = MIN_BLOCKS + ceil((last - min(first, last)) / (BLOCK * max(1, last)))
    ends = evenly(min(first, last), last, min(count, MAX_BLOCKS))
    if ends[0] > 0:
        ends.insert(0, ends[0] - 1)
    turn = (epsilon.exp() - 1) / (epsilon.exp() + 1)
    nodes = nodes_of(draws, ends, (single, both), turn)
    width = group_width(draws, single, turn * both)
    total, low = Decimal(0), 0
    for high in ends:
        group_end = ends[0] + ((high - ends[0]) // width + 1) * width - 1
        weights = chords(binomial(draws - min(last, group_end), both), nodes)
        for node, weight in zip(nodes, weights, strict=True):
            distance = turn * (Decimal(low) / 2 + node + draws / (odds - 1))
            total += sum(law[low : high + 1]) * weight * excess(high, distance)
        low = high + 1
    beyond = sum(binomial(draws - 1, single)[last:], Decimal(0))
    scale = mass * (odds - 1) * (epsilon.exp() + 1) / draws
    return scale * total + mass * (odds - epsilon.exp()) * single * beyond


def group_width(draws, single, turn):
    """Return over how many K the number of draws that support both values has one law."""
    spread = max(Decimal(1), draws * single).sqrt() / 2
    return max(1, int(GROUP * spread / turn)) if turn * draws > GROUP * spread else draws


def nodes_of(draws, ends, chances, turn):
    single, both = chances
    if both == 0 or draws == ends[0]:
        return [0]
    first, _ = quantiles(binomial(draws - ends[-1], both), BOTH_TAIL)
    _, last = quantiles(binomial(draws - ends[0], both), BOTH_TAIL)
    deviation = max(Decimal(1), draws * single).sqrt() / 2
    count = 2 + ceil((last - first) * turn / (CHORD * deviation))
    nodes = evenly(first, last, min(count, MAX_NODES))
    return nodes if nodes[0] == 0 else [0, *nodes]


def chords(law, nodes):
    """Return how much each node counts if every outcome is interpolated between its neighbours."""
    weights = [Decimal(0)] * len(nodes)
    for count, chance in enumerate(law):
        if count >= nodes[-1]:
            weights[-1] += chance
            continue
        right = next(place for place, node in enumerate(nodes) if node > count)
        width = nodes[right] - nodes[right - 1]
        weights[right] += chance * (count - nodes[right - 1]) / width
        weights[right - 1] += chance * (nodes[right] - count) / width
    return weights


def excess(trials, distance):
    mean = Decimal(trials) / 2 + distance
    above = (comb(trials, count) * (count - mean) for count in range(trials + 1) if count > mean)
    return sum(above, Decimal(0)) / 2**trials


def binomial(trials, chance):
    """List the probabilities of all counts."""
    powers = [Decimal(1)]
    others = [Decimal(1)]
    for _ in range(trials):
        powers.append(powers[-1] * chance)
        others.append(others[-1] * (1 - chance))
    return [
        comb(trials, count) * powers[count] * others[trials - count] for count in range(trials + 1)
    ]


def sums_below(law):
    return list(accumulate(law, initial=Decimal(0)))


def quantiles(law, tail):
    below = sums_below(law)
    above = sums_below(law[::-1])
    low = max(count for count in range(len(law)) if below[count] <= tail)
    high = len(law) - 1 - max(count for count in range(len(law)) if above[count] <= tail)
    return low, high


def evenly(first, last, most):
    steps = min(last - first, max(most, 2) - 1)
    return [first + (last - first) * step // max(steps, 1) for step in range(steps + 1)]
