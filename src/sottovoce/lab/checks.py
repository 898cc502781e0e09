"""Contract checks that every mechanism passes by listing itself once, and scripted randomness.

Arithmetic comes before sampling: on small domains ``likelihood`` makes privacy, bias and variance
exact equalities.  Sampled checks are seeded and stand at five sigma or at a significance of one in
a million.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Longs, Words
from sottovoce.core.rng import Rng
from sottovoce.errors import CodecError, DomainError, MismatchError, NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.wire import codec

Check: TypeAlias = Callable[[Any], None]

FIVE_SIGMA = 5.0
SAMPLES = 200_000
STREAMS = 20  # random streams from which single reports are drawn


class RecordedRng(Rng):
    """A stream that was written down; it must be long enough, and says how much was read."""

    def __init__(self, stream: "bytes") -> None:
        self._stream = stream
        self.consumed = 0

    def bytes(self, count: int) -> "bytes":
        taken = self._stream[self.consumed : self.consumed + count]
        if len(taken) < count:
            raise AssertionError("the recorded stream is too short")
        self.consumed += count
        return taken


class ScriptedRng(Rng):
    """Draws given by hand, one list per kind of draw."""

    def __init__(
        self,
        bernoulli: Sequence[bool] = (),
        integers: Sequence[int] = (),
        longs: Sequence[int] = (),
    ) -> None:
        self._bernoulli = list(bernoulli)
        self._integers = list(integers)
        self._longs = list(longs)

    def bytes(self, count: int) -> "bytes":
        raise AssertionError("a scripted source has no bytes")

    def bernoulli(self, threshold: int, count: int) -> Bools:
        return np.array(_take(self._bernoulli, count), bool)

    def integers(self, limit: int, count: int) -> Ints:
        return np.array(_take(self._integers, count), np.int64)

    def longs(self, count: int) -> Longs:
        return np.array(_take(self._longs, count), np.uint64)

    def words(self, count: int) -> Words:
        return np.array(_take(self._longs, count), np.uint32)


def samples_follow_the_likelihood(mechanism: Mechanism) -> None:
    """Chi-square of sampled reports against ``likelihood``.

    Only outcomes that sampling can tell apart are compared.
    """
    for value in (0, mechanism.size - 1):
        reports = mechanism.privatize(np.full(SAMPLES, value), SeededRng(value + 1))
        outcomes = mechanism.outcomes()
        expected = mechanism.likelihood(mechanism.outcomes())[:, value]
        observed = _frequencies(mechanism, reports, outcomes)
        known = (
            observed.sum()
        )  # with the coin fixed at a few seeds, outcomes list only part of the reports
        if known < SAMPLES:
            _hashed_reports_follow(mechanism, reports, value)
            continue
        _chi_square(observed, expected * SAMPLES)


def epsilon_is_never_exceeded(mechanism: Mechanism) -> None:
    """The worst log-ratio over all outcomes, and the one that the integers realise."""
    assert mechanism.epsilon_realised <= mechanism.epsilon
    assert worst_log_ratio(mechanism) <= mechanism.epsilon + 1e-12


def epsilon_is_spent_whole(mechanism: Mechanism) -> None:
    """Nothing of the budget is left on the table but the rounding of a threshold."""
    assert mechanism.epsilon_realised >= mechanism.epsilon * (1 - 1e-9)
    assert worst_log_ratio(mechanism) >= mechanism.epsilon * (1 - 1e-9)


def likelihoods_sum_to_one(mechanism: Mechanism) -> None:
    """Under every value the chances of all outcomes sum to one, per public coin."""
    totals = mechanism.likelihood(mechanism.outcomes()).sum(axis=0)
    coins = round(float(totals[0]))
    np.testing.assert_allclose(totals, coins, rtol=1e-12)


def reports_survive_packing(mechanism: Mechanism) -> None:
    """Packing loses nothing and every report has one length."""
    values = np.arange(1000) % mechanism.size
    reports = mechanism.privatize(values, SeededRng(3))
    data = mechanism.pack(reports)
    assert len(data) == 1000 * mechanism.width
    np.testing.assert_array_equal(mechanism.unpack(data), reports)


def a_cut_report_is_refused(mechanism: Mechanism) -> None:
    """A byte too many is an error; so is a byte too few."""
    data = mechanism.pack(mechanism.privatize(np.array([0, 1]), SeededRng(4)))
    for broken in (data + b"\0",) if mechanism.width == 1 else (data + b"\0", data[:-1]):
        if len(broken) % mechanism.width:
            _raises(CodecError, mechanism.unpack, broken)


def tallies_add_up(mechanism: Mechanism) -> None:
    """Any split of the reports merges to the tally of all of them.

    The tallies of other mechanisms are refused.
    """
    reports = mechanism.privatize(np.arange(3001) % mechanism.size, SeededRng(5))
    whole = mechanism.tally(reports)
    for cut in (0, 1, 1234, 3000):
        assert mechanism.tally(reports[:cut]) + mechanism.tally(reports[cut:]) == whole
        assert mechanism.tally(reports[cut:]) + mechanism.tally(reports[:cut]) == whole
    _raises(NoDataError, mechanism.estimate, mechanism.tally(reports[:0]))
    other = type(whole)("another mechanism", whole.users, whole.counts)
    _raises(MismatchError, whole.__add__, other)
    _raises(MismatchError, mechanism.estimate, other)


def one_report_is_that_of_an_array(mechanism: Mechanism) -> None:
    """A device that answers for one person sends what an array of one person gives.

    It takes the same random bytes, and refuses a value outside before it takes any.
    """
    for number in range(STREAMS):
        stream = bytes(SeededRng(number).bytes(1 << 14))
        draw = int.from_bytes(stream[-8:], "little")
        for value in (0, mechanism.size // 2, mechanism.size - 1):
            values, draws = np.array([value]), np.array([draw], np.uint64)
            alone, array = RecordedRng(stream), RecordedRng(stream)
            assert mechanism.report(value, alone) == mechanism.pack(
                mechanism.privatize(values, array)
            )
            assert mechanism.report_seeded(value, draw, alone) == mechanism.pack(
                mechanism.privatize_seeded(values, draws, array)
            )
            assert alone.consumed == array.consumed
    for outside in (-1, mechanism.size):
        _raises(DomainError, mechanism.report, outside, RecordedRng(b""))


def draws_do_not_depend_on_the_value(mechanism: Mechanism) -> None:
    """One stream of random bytes is read to the same length whatever the value."""
    stream = bytes(SeededRng(6).bytes(1 << 16))
    consumed = set()
    for value in range(mechanism.size):
        recorded = RecordedRng(stream)
        mechanism.privatize(np.array([value]), recorded)
        consumed.add(recorded.consumed)
    assert len(consumed) == 1, consumed


def values_outside_the_domain_are_refused_before_a_draw(mechanism: Mechanism) -> None:
    """A typed error, and no random byte was touched."""
    untouched = RecordedRng(b"")
    for values in ([mechanism.size], [-1], [0.5], [float("nan")], ["0"], [[0, 1]]):
        _raises(DomainError, mechanism.privatize, np.array(values), untouched)
    _raises(NoDataError, mechanism.privatize, np.array([], np.int64), untouched)


def the_document_restores_it(mechanism: Mechanism) -> None:
    """Written to canonical JSON and read again it is the same mechanism, thresholds included."""
    text = codec.canonical(codec.document(mechanism))
    assert codec.mechanism(codec.parse(text)) == mechanism


def no_document_names_it(mechanism: Mechanism) -> None:
    """A baseline of the laboratory is refused by whoever reads its document."""
    text = codec.canonical(codec.document(mechanism))
    _raises(ParameterError, codec.mechanism, codec.parse(text))


def one_report_is_an_unbiased_estimate(mechanism: PureMechanism) -> None:
    """Summed over all outcomes, the vote for v of a user holding t is 1 if v = t, else 0."""
    expected, _ = _moments(mechanism)
    np.testing.assert_allclose(expected, np.eye(mechanism.size), atol=1e-9)


def the_variance_is_as_stated(mechanism: PureMechanism) -> None:
    """Equation 3.2 for every cell, and the covariance behind sums, by enumeration."""
    _, covariances = _moments(mechanism)
    for held, covariance in enumerate(covariances):
        votes = np.eye(mechanism.size)[held]
        np.testing.assert_allclose(
            np.diag(covariance), mechanism.noise.variances(votes, 1), rtol=1e-9, atol=1e-12
        )
        coefficients = np.random.default_rng(held).normal(size=mechanism.size)
        stated = mechanism.noise.linear(coefficients, votes, 1)
        assert abs(coefficients @ covariance @ coefficients - stated) <= 1e-9 * max(1.0, stated)


def sampled_estimates_are_unbiased(mechanism: PureMechanism) -> None:
    """Over fresh public coins: estimates of a skewed population lie within five standard errors."""
    truth = _skewed(mechanism.size)
    reports = mechanism.privatize(np.repeat(np.arange(mechanism.size), truth), SeededRng(7))
    estimate = mechanism.estimate(mechanism.tally(reports))
    z = (estimate.totals - truth) / np.sqrt(
        mechanism.noise.variances(truth.astype(float), int(truth.sum()))
    )
    assert np.abs(z).max() < FIVE_SIGMA, z


def sampled_variance_is_as_stated(mechanism: PureMechanism) -> None:
    """The spread of votes over fresh public coins, for the holder and for another value."""
    reports = mechanism.privatize(np.zeros(SAMPLES, np.int64), SeededRng(8))
    votes = mechanism.votes(reports, np.array([0, mechanism.size - 1]))
    holds = np.eye(mechanism.size)[0]
    stated = mechanism.noise.variances(holds, 1)[[0, -1]]
    fourth = ((votes - votes.mean(0)) ** 4).mean(0)
    tolerance = FIVE_SIGMA * np.sqrt(np.maximum(fourth - stated**2, 0) / SAMPLES) + 1e-12
    assert (np.abs(votes.var(0) - stated) <= tolerance).all(), (votes.var(0), stated)


BASELINE_CHECKS: list[Check] = [
    samples_follow_the_likelihood,
    epsilon_is_never_exceeded,
    likelihoods_sum_to_one,
    reports_survive_packing,
    a_cut_report_is_refused,
    tallies_add_up,
    draws_do_not_depend_on_the_value,
    one_report_is_that_of_an_array,
    values_outside_the_domain_are_refused_before_a_draw,
    no_document_names_it,
]
CONTRACT_CHECKS: list[Check] = [
    *(check for check in BASELINE_CHECKS if check is not no_document_names_it),
    the_document_restores_it,
]
EXACT_CHECKS: list[Check] = [one_report_is_an_unbiased_estimate, the_variance_is_as_stated]
SAMPLED_CHECKS: list[Check] = [sampled_estimates_are_unbiased, sampled_variance_is_as_stated]
# A mechanism whose whole randomness can be listed, and one whose public coin can only be sampled.
PURE_CHECKS: list[Check] = [
    *CONTRACT_CHECKS,
    epsilon_is_spent_whole,
    *EXACT_CHECKS,
    *SAMPLED_CHECKS,
]
HASHED_CHECKS: list[Check] = [*CONTRACT_CHECKS, epsilon_is_spent_whole, *SAMPLED_CHECKS]


def worst_log_ratio(mechanism: Mechanism) -> float:
    """Return the largest log-ratio of likelihoods over all outcomes and pairs of values."""
    chances = mechanism.likelihood(mechanism.outcomes())
    possible = chances.max(axis=1) > 0
    if (chances[possible].min(axis=1) == 0).any():
        return float("inf")
    return float(np.log(chances[possible].max(axis=1) / chances[possible].min(axis=1)).max())


def _moments(mechanism: PureMechanism) -> tuple[Floats, list[Floats]]:
    outcomes = mechanism.outcomes()
    chances = mechanism.likelihood(outcomes)
    chances = chances / chances.sum(axis=0)
    votes = mechanism.votes(outcomes, np.arange(mechanism.size))
    expected = chances.T @ votes
    seconds = [(votes * chances[:, [held]]).T @ votes for held in range(mechanism.size)]
    return expected, [
        second - np.outer(mean, mean) for second, mean in zip(seconds, expected, strict=True)
    ]


def _frequencies(mechanism: Mechanism, reports: Any, outcomes: Any) -> Floats:
    names = _rows(mechanism, outcomes)
    found, counts = np.unique(_rows(mechanism, reports), return_counts=True)
    by_name = dict(zip(found.tolist(), counts.tolist(), strict=True))
    return np.array([by_name.get(name, 0) for name in names.tolist()], float)


def _rows(mechanism: Mechanism, reports: Any) -> Any:
    return np.frombuffer(mechanism.pack(reports), np.dtype((np.void, mechanism.width)))


def _hashed_reports_follow(mechanism: Mechanism, reports: Any, value: int) -> None:
    """Given its own coin a report keeps the value's bucket, or not, with a known probability."""
    chances = mechanism.likelihood(reports)[:, value]
    kept = chances.max()
    assert len(np.unique(chances.round(15))) == 2, (
        "given its coin, a hashed report has one of two chances"
    )
    honest = float(np.isclose(chances, kept).sum())
    _chi_square(
        np.array([honest, len(reports) - honest]), np.array([kept, 1 - kept]) * len(reports)
    )


def _chi_square(observed: Floats, expected: Floats) -> None:
    assert not observed[expected == 0].any(), "a report turned up that the law calls impossible"
    observed = observed[expected > 0]
    expected = expected[expected > 0]
    order = np.argsort(expected)
    small = np.cumsum(expected[order]) < 20  # pool cells too rare for the chi-square law
    pooled = [(observed[order[small]].sum(), expected[order[small]].sum())] if small.any() else []
    cells = pooled + list(zip(observed[order[~small]], expected[order[~small]], strict=True))
    statistic = sum((seen - meant) ** 2 / meant for seen, meant in cells)
    freedom = max(len(cells) - 1, 1)
    # Wilson and Hilferty: the cube root of a chi-square over its freedom is nearly normal.
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
    assert z < FIVE_SIGMA, (
        f"chi-square {statistic:.1f} with {freedom} degrees of freedom, z = {z:.1f}"
    )


def _skewed(size: int) -> Ints:
    return (20_000 / np.arange(1, size + 1)).astype(np.int64)


def _raises(error: type[Exception], action: Callable[..., object], *arguments: object) -> None:
    try:
        action(*arguments)
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def _take(script: list[Any], count: int) -> list[Any]:
    taken, script[:] = script[:count], script[count:]
    assert len(taken) == count, "the script is too short"
    return taken
