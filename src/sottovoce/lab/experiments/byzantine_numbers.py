"""Poisoned numbers: how well the share of false reports and the distribution are found.

``python -m sottovoce.lab.experiments.byzantine_numbers`` prints the page that is kept in
``docs/evidence/byzantine-numbers.md``.

People are put into graded groups, a share of them attacks, and every decoder reads the same
reports.  The truth is the histogram of the honest people alone.  Distances are Jensen-Shannon
divergences in nats.

Source: Du 2025, section 6.5.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats, Ints, Reports
from sottovoce.core.rng import Rng
from sottovoce.domains.buckets import Buckets
from sottovoce.lab.attacks.base import Attack, CraftedReports
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.baselines.numbers.me_emf import me_emf
from sottovoce.lab.baselines.numbers.ostrich import averaged, ostrich
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
from sottovoce.lab.experiments.numbers import shapes
from sottovoce.lab.populations.numbers import SHAPES
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import simulate
from sottovoce.lab.truth.metrics import jensen_shannon
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.square_wave import SquareWave
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.numbers.de_emf import MAX_SHARE, METHODS
from sottovoce.plans.numbers.distribution import Distribution, DistributionAnswer
from sottovoce.plans.numbers.emf import OutputCounts, emf, unfiltered
from sottovoce.plans.numbers.graded_estimate import Group
from sottovoce.plans.numbers.graded_groups import PROBE, grades
from sottovoce.plans.numbers.group_weights import RULES
from sottovoce.plans.numbers.poison_evidence import poison_evidence
from sottovoce.plans.numbers.semf import semf
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.task import Task

USERS, BUCKETS, SEEDS = 60_000, 128, 4
EPSILONS = (0.25, 0.5, 1.5, 2.0, 2.5)
SHARES = (0.0, 0.05, 0.15, 0.25, 0.35, 0.45)
FILTERS = ("de-emf", "de-emf*", "de-remf*")
DECODERS = ("ostrich", *FILTERS, "me-emf")
BOTH_SIDES = ((1, 6), (0, 5), (2, 7), (3, 6))  # the segments of Poi(8, 2), a seed after the other
_SEGMENTS_SEED = 1_000  # the segments of an attack are drawn apart from everything else


@dataclass(frozen=True)
class Setting:
    """A collection with attackers: Poi(``segments``, ``poisoned``) by a ``share`` of all users.

    ``poison`` is the law of false reports within a segment.  With ``lie`` the attackers follow the
    protocol for the number 1 instead; with ``spares_probe`` they do so in the probe alone.
    """

    shape: str = "Beta(2, 5)"
    epsilon: float = 2.0
    share: float = 0.25
    segments: int = 8
    poisoned: int = 2
    lie: bool = False
    users: int = USERS
    buckets: int = BUCKETS
    poison: str = "uniform"
    spares_probe: bool = False

    @property
    def pattern(self) -> str:
        """Return the name of the attack."""
        if self.lie:
            return "lie"
        name = f"Poi({self.segments}, {self.poisoned})"
        return f"{name}, probe spared" if self.spares_probe else name


@dataclass(frozen=True, eq=False)
class Drawn:
    """The reports of a collection, and how honest people are distributed."""

    groups: list[Group]
    truth: Floats


def drawn(setting: Setting, seed: int) -> Drawn:
    """Return one collection in graded groups; reports are made as devices make them."""
    rng = SeededRng(seed)
    generator = rng.generator
    attacking = generator.random(setting.users) < setting.share
    values = SHAPES[setting.shape](generator, setting.users)
    if setting.lie:
        values[attacking] = 1.0
    indices = np.minimum((values * setting.buckets).astype(np.int64), setting.buckets - 1)
    attack = _attack(setting, seed)
    listed = grades(setting.epsilon)
    member = generator.integers(len(listed), size=setting.users)
    groups = []
    for place, grade in enumerate(listed):
        wave = SquareWave(epsilon=grade.epsilon, size=setting.buckets)
        inside = member == place
        sends_false = attacking & inside & (not setting.lie)
        held = np.repeat(indices[inside & ~sends_false], grade.reports)
        reports = wave.privatize(held, rng)
        false = attack.crafted(Question(wave), int(sends_false.sum()) * grade.reports, rng)
        counts = np.bincount(np.append(reports, false), minlength=wave.outputs)
        groups.append(Group(int(inside.sum()), grade.reports, _counts(wave, counts)))
    honest = np.bincount(indices[~attacking], minlength=setting.buckets)
    return Drawn(groups, honest / honest.sum())


def single(setting: Setting, seed: int) -> OutputCounts:
    """Return one report of every user at one epsilon, without groups."""
    rng = SeededRng(seed)
    liars = round(setting.share * setting.users)
    values = SHAPES[setting.shape](rng.generator, setting.users - liars)
    if setting.lie:
        values, liars = np.append(values, np.ones(liars)), 0
    indices = np.minimum((values * setting.buckets).astype(np.int64), setting.buckets - 1)
    wave = SquareWave(epsilon=setting.epsilon, size=setting.buckets)
    false = _attack(setting, seed).crafted(Question(wave), liars, rng)
    reports = np.append(wave.privatize(indices, rng), false)
    return _counts(wave, np.bincount(reports, minlength=wave.outputs))


def found_share(setting: Setting, seed: int) -> float:
    """Return the share of false reports that SEMF and EMF find at one epsilon."""
    observed = single(setting, seed)
    return float(emf(observed, semf(observed)).share[0])


def decoded(drawings: Sequence[Drawn], weights: str = "paper") -> dict[str, Floats]:
    """Return (drawings, buckets) of every decoder: the distributions that it finds.

    Collections of one setting are rows of the same fits, which take little longer than one row.
    """
    observed = [
        _stacked(groups) for groups in zip(*(each.groups for each in drawings), strict=True)
    ]
    masks = [semf(group) for group in observed]
    share = np.minimum(emf(observed[-1], masks[-1]).share, MAX_SHARE)
    found = {"ostrich": ostrich(observed, weights), "me-emf": me_emf(observed, weights)}
    for name in FILTERS:
        results = [
            METHODS[name](group, mask, share).distribution
            for group, mask in zip(observed, masks, strict=True)
        ]
        found[name] = averaged(observed, results, share, weights)
    return {name: found[name] for name in DECODERS}


def _stacked(groups: Sequence[Group]) -> OutputCounts:
    """Return what one group reported in several collections, a row for each."""
    counts = np.concatenate([group.observed.counts for group in groups])
    return replace(groups[0].observed, counts=counts)


def divergences(setting: Setting, seeds: int = SEEDS, weights: str = "paper") -> dict[str, float]:
    """Return the mean divergence of every decoder from honest people."""
    drawings = [drawn(setting, seed) for seed in range(seeds)]
    means = {}
    for name, found in decoded(drawings, weights).items():
        pairs = zip(found, drawings, strict=True)
        far = [jensen_shannon(shares, drawing.truth) for shares, drawing in pairs]
        means[name] = float(np.mean(far))
    return means


@dataclass(frozen=True)
class SparedProbe(CraftedReports):
    """False reports at every epsilon but that of the probe, where attackers follow the protocol.

    A device is told how often and at which epsilon it reports, so attackers know their group.
    """

    loud: BiasedNumbers
    quiet: InputManipulation

    def crafted(self, question: Question, users: int, rng: Rng) -> Reports:
        attack = self.quiet if question.mechanism.epsilon <= PROBE else self.loud
        return attack.crafted(question, users, rng)


def _attack(setting: Setting, seed: int) -> CraftedReports:
    numbers = _biased_numbers(setting, seed)
    return SparedProbe(numbers, _lie(setting)) if setting.spares_probe else numbers


def _biased_numbers(setting: Setting, seed: int) -> BiasedNumbers:
    if (setting.segments, setting.poisoned) == (8, 2):
        return BiasedNumbers(8, 2, setting.poison, BOTH_SIDES[seed % len(BOTH_SIDES)])
    order = np.random.default_rng(_SEGMENTS_SEED + seed).permutation(setting.segments)
    chosen = tuple(sorted(order[: setting.poisoned].tolist()))
    return BiasedNumbers(setting.segments, setting.poisoned, setting.poison, chosen)


def _lie(setting: Setting) -> InputManipulation:
    return InputManipulation(Buckets(0, 1, setting.buckets), (1.0,))


def _counts(wave: SquareWave, counts: Ints) -> OutputCounts:
    return OutputCounts(counts[None].astype(np.float64), wave.sliding, wave.size, wave.epsilon)


# --- categories ----------------------------------------------------------------------------------

CATEGORIES = 15
CATEGORY_USERS = 100_000
CATEGORY_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5)


def category_errors(poisoned: tuple[int, ...], epsilon: float, seed: int) -> dict[str, float]:
    """Return the mean squared error of shares of 15 categories, a quarter of all reports false.

    The poisoned categories and the share come from a group at epsilon 1/16.
    """
    people = np.exp(-0.5 * ((np.arange(CATEGORIES) - 9) / 3) ** 2)
    people /= people.sum()
    probe = _category_counts(people, poisoned, PROBE, 2 * seed)
    mask = semf(probe)
    share = np.minimum(emf(probe, mask).share, MAX_SHARE)
    observed = _category_counts(people, poisoned, epsilon, 2 * seed + 1)
    found = {
        "ostrich": unfiltered(observed).distribution[0],
        "de-emf": METHODS["de-emf"](observed, mask, share).distribution[0],
        "de-remf*": METHODS["de-remf*"](observed, mask, share).distribution[0],
    }
    return {name: float(((shares - people) ** 2).mean()) for name, shares in found.items()}


@dataclass(frozen=True)
class GroupPrice:
    """What graded groups would cost where people hold one of ``size`` categories and nobody lies.

    ``graded`` is the variance of a rare category's count, per person, from k-RR in graded groups
    that are averaged by their precision; ``single`` is that of one report by the mechanism ``kind``
    that a histogram chooses.  ``influence`` is what a false report of k-RR counts for, at the
    epsilon of the task; ``chosen_influence`` is that of the chosen mechanism.
    """

    size: int
    epsilon: float
    graded: float
    single: float
    kind: str
    influence: float
    chosen_influence: float

    @property
    def ratio(self) -> float:
        """Return how many times as many people the graded groups need."""
        return self.graded / self.single


def group_price(size: int, epsilon: float) -> GroupPrice:
    """Return the price of graded groups for a histogram, by exact arithmetic.

    >>> round(group_price(15, 1.0).ratio, 2)
    5.75
    """
    listed = grades(epsilon)
    # r reports of one person at epsilon_t have the precision r / variance(epsilon_t).
    precisions = [
        grade.reports / _rare_variance(GRR(epsilon=grade.epsilon, size=size)) for grade in listed
    ]
    direct = GRR(epsilon=epsilon, size=size)
    chosen = choose(size, epsilon).mechanism
    return GroupPrice(
        size,
        epsilon,
        graded=len(listed) / sum(precisions),
        single=_rare_variance(chosen),
        kind=chosen.kind,
        influence=direct.influence.up,
        chosen_influence=chosen.influence.up,
    )


def _rare_variance(mechanism: PureMechanism) -> float:
    """Return the variance of one vote for a value that nearly nobody holds."""
    p, q = mechanism.p, mechanism.q
    return q * (1 - q) / (p - q) ** 2


def _category_counts(
    people: Floats, poisoned: tuple[int, ...], epsilon: float, seed: int
) -> OutputCounts:
    """Return counts drawn from their law: honest reports are independent, and so are false ones."""
    generator = np.random.default_rng(seed)
    mechanism = GRR(epsilon=epsilon, size=CATEGORIES)
    channel = mechanism.output_channel
    false = CATEGORY_USERS // 4
    counts = generator.multinomial(CATEGORY_USERS - false, channel.forward(people))
    spread = np.bincount(poisoned, minlength=CATEGORIES) / len(poisoned)
    counts = counts + generator.multinomial(false, spread)
    return OutputCounts(counts[None].astype(np.float64), channel, CATEGORIES, epsilon)


# --- false alarms, power and coverage -------------------------------------------------------------

TESTED_EPSILONS = (1 / 16, 0.5, 1.0, 2.0, 4.0)
TESTED_USERS = (100, 1_000, 30_000, 1_000_000)
TESTED_RUNS = 4
POWER_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1)
POWER_RUNS = 10


@dataclass(frozen=True)
class Alarms:
    """How many clean collections were tested, how many raised an alarm, and the largest misfit."""

    tested: int
    alarms: int
    largest: float
    threshold: float


def clean_populations(size: int) -> dict[str, Floats]:
    """Return smooth, flat, skewed and extreme populations, as shares of the buckets."""
    ends = np.zeros(size)
    ends[[0, -1]] = 0.5
    falling = np.exp(-8 * np.arange(size) / size)
    one = np.zeros(size)
    one[size // 2] = 1.0
    flat = np.full(size, 1 / size)
    others = {"flat": flat, "ends": ends, "falling": falling / falling.sum(), "one value": one}
    return {**shapes(size), **others, "extreme": np.eye(size)[0]}


def false_alarms(runs: int = TESTED_RUNS, sizes: tuple[int, ...] = TESTED_USERS) -> Alarms:
    """Return how often honest reports of many populations raise an alarm."""
    tested = alarms = 0
    largest = threshold = 0.0
    for epsilon in TESTED_EPSILONS:
        wave = SquareWave(epsilon=epsilon, size=BUCKETS)
        for people in clean_populations(BUCKETS).values():
            chances = wave.sliding.forward(people)
            for users in sizes:
                for seed in range(runs):
                    generator = np.random.default_rng((seed, users))
                    counts = generator.multinomial(users, chances / chances.sum())
                    found = poison_evidence(_counts(wave, counts))
                    tested += 1
                    alarms += found.alarm
                    largest = max(largest, found.misfit)
                    threshold = found.threshold
    return Alarms(tested, alarms, largest, threshold)


def power(epsilon: float, share: float, runs: int = POWER_RUNS) -> float:
    """Return how often Poi(8, 2) by a share of the users raises an alarm."""
    setting = Setting(epsilon=epsilon, share=share)
    return float(np.mean([poison_evidence(single(setting, seed)).alarm for seed in range(runs)]))


COVERED = Setting(epsilon=1.0, users=6_000, buckets=32)
COVERED_RUNS = 20
QUANTILES = (0.25, 0.5, 0.75)


def coverage(setting: Setting, runs: int = COVERED_RUNS) -> dict[str, float]:
    """Return how often 95 % intervals of the mean and of quartiles contain the honest truth.

    Whole collections are simulated.
    """
    plan = Distribution(0, 1, setting.buckets, defence="graded")
    task = Task("number", plan, setting.epsilon, collection=Collection(enrolment=True))
    hits: dict[str, int] = dict.fromkeys(("mean", *(f"{share:g}" for share in QUANTILES)), 0)
    for seed in range(runs):
        honest = round((1 - setting.share) * setting.users)
        people = SHAPES[setting.shape](np.random.default_rng(seed), honest)
        attack = _joining(setting, seed)
        share = setting.share if attack else None
        answer = simulate(task, people, seed=seed, attack=attack, share=share)
        assert isinstance(answer, DistributionAnswer)
        figures = [answer.mean(), *(answer.quantile(share) for share in QUANTILES)]
        true = [people.mean(), *np.quantile(people, QUANTILES)]
        for name, figure, number in zip(hits, figures, true, strict=True):
            low, high = figure.interval()
            hits[name] += bool(low <= number <= high)
    return {name: hit / runs for name, hit in hits.items()}


def _joining(setting: Setting, seed: int) -> Attack | None:
    if not setting.share:
        return None
    return _lie(setting) if setting.lie else _attack(setting, seed)


# --- the page ------------------------------------------------------------------------------------


def page(pieces: MeasuredOnce | None = None) -> str:
    """Return the page as Markdown."""
    pieces = pieces or MeasuredOnce()
    lines = [_HEAD]
    for section in _SECTIONS:
        lines += section(pieces)
    return "\n".join(lines) + "\n"


def _shares(pieces: MeasuredOnce) -> list[str]:
    lines = [
        "## The share of false reports",
        "",
        "Found by SEMF and EMF in one report each at epsilon 1/16, and at epsilon 2: smallest and"
        f" largest of {SEEDS} runs.",
        "",
        "| attack | true share | at 1/16 | at 2 |",
        "|---|---:|---:|---:|",
    ]
    settings = [Setting(share=share) for share in SHARES]
    settings += [Setting(poisoned=poisoned) for poisoned in (1, 3, 5, 6)]
    for setting in settings:
        cells = []
        for epsilon in (PROBE, 2.0):
            probed = replace(setting, epsilon=epsilon)
            found = pieces.piece(f"share found: {probed}", partial(_found_shares, probed))
            cells.append(f"{min(found):.3f} to {max(found):.3f}")
        pattern = setting.pattern if setting.share else "none"
        lines.append(_row([pattern, f"{setting.share:g}", *cells]))
    return [*lines, ""]


def _found_shares(setting: Setting) -> list[float]:
    return [found_share(setting, seed) for seed in range(SEEDS)]


def _by_epsilon(pieces: MeasuredOnce) -> list[str]:
    settings = {f"{epsilon:g}": Setting(epsilon=epsilon) for epsilon in EPSILONS}
    title = "By epsilon: Poi(8, 2) on both sides of the middle"
    return _table(title, "epsilon", settings, pieces)


def _by_shape(pieces: MeasuredOnce) -> list[str]:
    settings = {shape: Setting(shape=shape, poisoned=1) for shape in SHAPES}
    return _table("By population: Poi(8, 1), epsilon 2", "population", settings, pieces)


def _by_pattern(pieces: MeasuredOnce) -> list[str]:
    listed = [Setting(segments=2, poisoned=1), Setting(segments=32, poisoned=16)]
    listed += [Setting(poisoned=poisoned) for poisoned in range(1, 8)]
    settings = {setting.pattern: setting for setting in listed}
    return _table("By attack: epsilon 2", "attack", settings, pieces)


def _by_share(pieces: MeasuredOnce) -> list[str]:
    settings = {f"{share:g}": Setting(share=share) for share in SHARES}
    return _table("By share of attackers: Poi(8, 2), epsilon 2", "share", settings, pieces)


def _lies(pieces: MeasuredOnce) -> list[str]:
    settings = {shape: Setting(shape=shape, lie=True) for shape in SHAPES}
    title = "Attackers who lie about their number and follow the protocol cannot be seen: epsilon 2"
    return _table(title, "population", settings, pieces)


def _table(
    title: str, first: str, settings: Mapping[str, Setting], pieces: MeasuredOnce
) -> list[str]:
    lines = [f"## {title}", "", _row([first, *DECODERS]), "|---|" + "---:|" * len(DECODERS)]
    for name, setting in settings.items():
        found = pieces.piece(f"divergences: {setting}", partial(divergences, setting))
        lines.append(_row([name, *(f"{found[decoder]:.3f}" for decoder in DECODERS)]))
    return [*lines, ""]


def _weights(pieces: MeasuredOnce) -> list[str]:
    lines = [
        "## Weights of the groups",
        "",
        "DE-REMF* of Poi(8, 2), epsilon 2, under the three rules.",
        "",
        "| rule | divergence |",
        "|---|---:|",
    ]
    for rule in RULES:
        measure = partial(divergences, Setting(), weights=rule)
        found = pieces.piece(f"weights: {rule}", measure)
        lines.append(_row([rule, f"{found['de-remf*']:.3f}"]))
    return [*lines, ""]


def _categories(pieces: MeasuredOnce) -> list[str]:
    lines = [
        "## Categories",
        "",
        f"Randomised response over {CATEGORIES} categories, {CATEGORY_USERS:,} people, a quarter of"
        f" them false in one category or in three; mean squared error of a share over {SEEDS}"
        " runs.",
        "",
        "| poisoned | epsilon | ostrich | de-emf | de-remf* |",
        "|---|---:|---:|---:|---:|",
    ]
    for poisoned in ((9,), (9, 10, 11)):
        for epsilon in CATEGORY_EPSILONS:
            measure = partial(_category_means, poisoned, epsilon)
            means = pieces.piece(f"categories: {poisoned} {epsilon}", measure)
            cells = [f"{mean:.2e}" for mean in means]
            lines.append(_row([f"{len(poisoned)}", f"{epsilon:g}", *cells]))
    return [*lines, ""]


def _category_means(poisoned: tuple[int, ...], epsilon: float) -> list[float]:
    runs = [category_errors(poisoned, epsilon, seed) for seed in range(SEEDS)]
    return [float(np.mean([run[name] for run in runs])) for name in runs[0]]


PRICED = tuple((size, epsilon) for size in (4, 15, 64) for epsilon in (1.0, 2.0))


def _prices(pieces: MeasuredOnce) -> list[str]:
    lines = [
        "## What graded groups would cost for categories",
        "",
        "Exact variance of the count of a rare category, per person, where nobody lies: k-RR in"
        " graded groups with a probe",
        "at epsilon 1/16, beside one report by the mechanism that a histogram chooses. *Counts for*"
        " is how many honest people one",
        "false report counts for.",
        "",
        "| categories | epsilon | graded k-RR | one report | times the people | k-RR counts for"
        " | chosen counts for |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size, epsilon in PRICED:
        price = group_price(size, epsilon)
        cells = [str(size), f"{epsilon:g}", f"{price.graded:.2f}"]
        cells += [f"{price.single:.2f} ({price.kind})", f"{price.ratio:.1f}"]
        cells += [f"{price.influence:.1f}", f"{price.chosen_influence:.1f}"]
        lines.append(_row(cells))
    return [*lines, ""]


def _alarms(pieces: MeasuredOnce) -> list[str]:
    found = Alarms(**pieces.piece("false alarms", lambda: asdict(false_alarms())))
    lines = [
        "## The test of a tally",
        "",
        f"Clean collections over {len(clean_populations(BUCKETS))} populations,"
        f" {len(TESTED_EPSILONS)} epsilons and {len(TESTED_USERS)} sizes up to"
        f" {TESTED_USERS[-1]:,} reports: {found.alarms} alarms in {found.tested:,}.",
        f"The largest misfit was {found.largest:.1f}, the threshold is {found.threshold:.1f}.",
        "",
        f"Share of {POWER_RUNS} collections of {USERS:,} reports with an alarm under Poi(8, 2):",
        "",
        _row(["epsilon", *(f"{100 * share:g} %" for share in POWER_SHARES)]),
        "|---|" + "---:|" * len(POWER_SHARES),
    ]
    for epsilon in TESTED_EPSILONS:
        shares = [
            pieces.piece(f"power: {epsilon} {share}", partial(power, epsilon, share))
            for share in POWER_SHARES
        ]
        lines.append(_row([f"{epsilon:g}", *(f"{share:.1f}" for share in shares)]))
    return [*lines, ""]


def _coverages(pieces: MeasuredOnce) -> list[str]:
    error = sqrt(0.95 * 0.05 / COVERED_RUNS)
    lines = [
        "## Coverage of the intervals",
        "",
        f"95 % intervals of graded groups, {COVERED_RUNS} collections of {COVERED.users:,} people,"
        f" {COVERED.buckets} buckets, epsilon {COVERED.epsilon:g}; a share of 0.95 has a standard"
        f" error of {error:.3f} here.",
        "",
        "| attack | mean | " + " | ".join(f"{share:g} quantile" for share in QUANTILES) + " |",
        "|---|" + "---:|" * (1 + len(QUANTILES)),
    ]
    for setting in (replace(COVERED, share=0.0), COVERED, replace(COVERED, lie=True)):
        name = setting.pattern if setting.share else "none"
        found = pieces.piece(f"coverage: {setting}", partial(coverage, setting))
        lines.append(_row([name, *(f"{hit:.2f}" for hit in found.values())]))
    return lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_SECTIONS = (
    _shares,
    _by_epsilon,
    _by_shape,
    _by_pattern,
    _by_share,
    _lies,
    _weights,
    _categories,
    _prices,
    _alarms,
    _coverages,
)

_HEAD = f"""# Poisoned numbers

Printed by `python -m sottovoce.lab.experiments.byzantine_numbers`.

{USERS:,} people hold a number in one of {BUCKETS} buckets and report in graded groups with a probe
at epsilon 1/16; a quarter of them attacks unless a table says otherwise. Poi(a, b): the outputs are
cut into a equal segments, and false reports are uniform over b of them. Numbers are divergences
(Jensen-Shannon, nats) from the honest people's histogram, means of {SEEDS} seeded collections with
other segments each, decoded as published: plain EM, and weights by the variance of one report.
*ostrich* is EM without a defence, *me-emf* assumes that all false reports lie on one side.
"""

if __name__ == "__main__":
    print(page(from_arguments(__doc__)), end="")
