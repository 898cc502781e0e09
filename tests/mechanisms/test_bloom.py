"""RAPPOR with Bloom filters and cohorts."""

import sys
from math import ceil, exp, log

import numpy as np
import pytest

from sottovoce.core.tally import Tally
from sottovoce.errors import CodecError, MissingExtraError, ParameterError
from sottovoce.lab.checks import (
    CONTRACT_CHECKS,
    FIVE_SIGMA,
    ScriptedRng,
    epsilon_is_spent_whole,
    worst_log_ratio,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT
from sottovoce.mechanisms.bloom import Bloom
from sottovoce.wire import codec

SMALL = [Bloom(epsilon, 5, bits, 2, 2) for epsilon in (0.1, 1.0, 4.0) for bits in (6, 8)]
USERS = 400_000
ZIPF = Bloom(epsilon=4.0, size=60)
COLLECTIONS = 300


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.bits}"
)
@pytest.mark.parametrize("check", CONTRACT_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.bits}"
)
def test_epsilon_is_spent_in_proportion_to_the_bits_in_which_two_values_differ(mechanism):
    filters = _filters(mechanism)
    widest = max(int((cohort[:, None] ^ cohort).sum(axis=2).max()) for cohort in filters)
    assert worst_log_ratio(mechanism) == pytest.approx(mechanism.epsilon * widest / 4, rel=1e-9)


def test_epsilon_is_spent_whole_where_two_values_share_no_bit():
    epsilon_is_spent_whole(Bloom(1.0, 12, 8, 2, 2))
    with pytest.raises(AssertionError):
        epsilon_is_spent_whole(
            Bloom(1.0, 2, 4, 2, 1)
        )  # one value's hashes coincide: three bits differ


@pytest.mark.parametrize(("quarters", "epsilon", "ratio"), [(2, 4.3945, 81), (1, 7.7837, 2401)])
def test_exact_privacy_of_three_patterns(quarters, epsilon, ratio):
    """Filters 1100, 1010 and 0011 with f = 1/2 and f = 1/4: Wang 2021, section 3.1.2."""
    bloom = Bloom(epsilon, 300, bits=4, hashes=2, cohorts=1, flip=quarters * UNIT // 8)
    filters = _filters(bloom)[0].astype(int).tolist()
    values = [filters.index(pattern) for pattern in ([1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1])]
    chances = bloom.likelihood(bloom.outcomes())[:, values]
    assert (chances.max(axis=1) / chances.min(axis=1)).max() == pytest.approx(ratio, rel=1e-12)
    assert bloom.worst_ratio == ratio
    assert bloom.epsilon_realised == pytest.approx(log(ratio))


def test_a_threshold_that_spends_more_than_stated_is_refused():
    """Among them trap 5: f computed from epsilon / 2 instead of epsilon / (2 hashes)."""
    honest = Bloom(epsilon=4.0, size=60)
    assert honest.flip / UNIT == pytest.approx(1 / (1 + exp(4.0 / 4)))
    Bloom(epsilon=4.0, size=60, flip=honest.flip + 1)
    for flip in (honest.flip - 1, ceil(UNIT / (1 + exp(4.0 / 2)))):
        with pytest.raises(ParameterError, match="more than the stated epsilon"):
            Bloom(epsilon=4.0, size=60, flip=flip)


def test_scripted_draws_give_known_reports():
    """Value 3 sets the bits 1 and 5 in cohort 1; the coins then flip bits 0 and 1."""
    bloom = Bloom(1.0, 5, 6, 2, 2)
    assert bloom.filter_bits(np.array([1]), np.array([3])).tolist() == [[1, 5]]
    rng = ScriptedRng(bernoulli=[True, True, False, False, False, False], integers=[1])
    assert bloom.pack(bloom.privatize(np.array([3]), rng)) == bytes([1, 0, 0b100001])


def test_many_users_are_drawn_in_parts_from_one_stream(monkeypatch):
    bloom, values = Bloom(1.0, 5, 8, 2, 2), np.arange(1000) % 5
    whole = bloom.privatize(values, SeededRng(1))
    monkeypatch.setattr("sottovoce.mechanisms.bloom._MAX_BLOCK_COINS", 64)
    np.testing.assert_array_equal(bloom.privatize(values, SeededRng(1)), whole)


def test_hashes_that_coincide_set_one_bit():
    """In the filter, and in the design matrix, whose columns are the filters."""
    bloom = Bloom(1.0, 40, 16, 2, 3)
    filters, design = _filters(bloom), bloom.design(np.ones(48)).toarray()
    np.testing.assert_array_equal(design, filters.transpose(0, 2, 1).reshape(48, 40))
    cohort, value = np.argwhere(filters.sum(axis=2) == 1)[0]
    places = bloom.filter_bits(np.array([cohort]), np.array([value]))[0]
    assert places[0] == places[1]
    assert design[cohort * 16 : cohort * 16 + 16, value].sum() == 1


def test_the_top_of_a_simulated_population_is_found():
    truth = _zipf(ZIPF.size)
    tally = _simulated(ZIPF, truth, np.random.default_rng(1))
    _is_found(ZIPF.estimate(tally), truth)
    shifted = Tally(
        tally.key,
        tally.users,
        {name: np.roll(array, 1, axis=0) for name, array in tally.counts.items()},
    )
    with pytest.raises(AssertionError):
        _is_found(ZIPF.estimate(shifted), truth)  # hashed in one cohort, decoded in another


def test_the_top_of_a_population_of_real_reports_is_found():
    truth = _zipf(ZIPF.size)
    reports = ZIPF.privatize(np.repeat(np.arange(ZIPF.size), truth), SeededRng(2))
    estimate = ZIPF.estimate(ZIPF.tally(ZIPF.unpack(ZIPF.pack(reports))))
    _is_found(estimate, truth)
    assert estimate.steps == ("lasso",)


def test_collisions_cost_more_than_three_times_the_variance_of_local_hashing():
    """Wang 2021, Figure 3.3, at epsilon 4: above 3; its linear decoder saw 6.3."""
    truth, decoded = _zipf(ZIPF.size), _decoded(COLLECTIONS)
    ratio = ((decoded - truth) ** 2).mean() / _olh_variance(USERS)
    assert 3 < ratio < 9, ratio


def test_the_bootstrap_tells_the_spread_of_repeated_collections():
    """300 collections know a spread to 4 percent, three bootstraps an error to 4 percent."""
    truth, spread = _zipf(ZIPF.size), _decoded(COLLECTIONS).std(axis=0, ddof=1)
    tallies = [_simulated(ZIPF, truth, np.random.default_rng(seed)) for seed in (11, 12, 13)]
    ratios = np.mean([ZIPF.estimate(tally).errors for tally in tallies], axis=0) / spread
    print(ratios.round(2))
    assert (ratios[:30] > 0.7).all()
    assert (ratios[:30] < 1.4).all()
    assert (
        np.sqrt(_olh_variance(USERS)) / spread < 0.7
    ).all()  # another mechanism's formula would not do


def test_the_same_tally_gives_the_same_answer():
    tally = _simulated(ZIPF, _zipf(ZIPF.size), np.random.default_rng(5))
    first, second = ZIPF.estimate(tally), ZIPF.estimate(tally)
    np.testing.assert_array_equal(first.totals, second.totals)
    np.testing.assert_array_equal(first.variance, second.variance)


def test_more_values_than_cohort_bits_leave_the_frequent_ones_readable(monkeypatch):
    """Not as well as local hashing does; yet decoded like a small domain they would be lost."""
    bloom, truth = Bloom(epsilon=4.0, size=4000), _zipf(4000, users=8_000_000)
    tally = _simulated(bloom, truth, np.random.default_rng(6))
    assert _top_ten_error(bloom, tally, truth) < 100
    monkeypatch.setattr(Bloom, "is_determined", True)
    assert _top_ten_error(bloom, tally, truth) > 1000


def test_an_empty_cohort_costs_nothing_but_accuracy():
    """Totals are for all users, not for the cohorts times the users of one."""
    bloom = Bloom(20.0, 4, 64, 1, 4)
    reports = bloom.privatize(np.repeat(np.arange(4), [4000, 3000, 2000, 1000]), SeededRng(3))
    heard = reports[reports["cohort"] != 2]
    estimate = bloom.estimate(bloom.tally(heard))
    assert estimate.frequencies == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.02)


@pytest.mark.parametrize(
    "data", [b"\x02\x00\x00", b"\x00\x01\x00", b"\x01\x00\x40"], ids=["cohort", "far", "padding"]
)
def test_a_report_that_could_not_have_been_made_is_refused(data):
    bloom = Bloom(1.0, 5, 6, 2, 2)
    bloom.unpack(b"\x01\x00\x3f")
    with pytest.raises(CodecError):
        bloom.unpack(data)


@pytest.mark.parametrize(
    "settings",
    [
        {"bits": 3},
        {"bits": 128.0},
        {"bits": 1 << 17},
        {"hashes": 0},
        {"hashes": True},
        {"hashes": 17},
        {"cohorts": 0},
        {"cohorts": (1 << 16) + 1},
        {"size": (1 << 20) + 1},
        {"flip": UNIT // 2},
        {"flip": -1},
        {"epsilon": 1e-25},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        Bloom(**{"epsilon": 1.0, "size": 60} | settings)


def test_the_reports_of_long_filters_are_not_listed():
    with pytest.raises(ParameterError, match="up to 12 bits"):
        Bloom(1.0, 5, bits=13).outcomes()


def test_decoding_without_its_extra_names_it(monkeypatch):
    tally = _simulated(ZIPF, _zipf(ZIPF.size), np.random.default_rng(7))
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[server\]"):
        ZIPF.estimate(tally)


def _is_found(estimate, truth):
    misses = np.abs(estimate.totals - truth)[:30]
    print(misses.round(), estimate.errors[:30].round())
    assert (misses < FIVE_SIGMA * estimate.errors[:30]).all()


def _top_ten_error(bloom, tally, truth):
    decoded = bloom.decode(tally["users"], tally["bits"][None])[0]
    error = ((decoded - truth)[:10] ** 2).mean() / _olh_variance(tally.users)
    print(error)
    return error


def _olh_variance(users):
    return users * 4 * exp(4.0) / (exp(4.0) - 1) ** 2


def _zipf(size, users=USERS):
    shares = 1 / np.arange(1, size + 1) ** 1.1
    return np.random.default_rng(0).multinomial(users, shares / shares.sum())


def _filters(bloom):
    """Return (cohorts, size, bits)."""
    values = np.arange(bloom.size)
    return np.stack(
        [bloom.filters(np.full(bloom.size, cohort), values) for cohort in range(bloom.cohorts)]
    )


def _simulated(bloom, truth, generator):
    """Return the tally of a collection, drawn as counts: users to cohorts, then their bits."""
    held = generator.multinomial(truth, np.full(bloom.cohorts, 1 / bloom.cohorts)).T
    ones = np.einsum("cv,cvb->cb", held, _filters(bloom).astype(np.int64))
    users, flip = held.sum(axis=1), bloom.flip / UNIT
    bits = generator.binomial(ones, 1 - flip) + generator.binomial(users[:, None] - ones, flip)
    return Tally(bloom.key, int(truth.sum()), {"users": users, "bits": bits})


def _decoded(collections):
    truth, generator = _zipf(ZIPF.size), np.random.default_rng(4)
    tallies = [_simulated(ZIPF, truth, generator) for _ in range(collections)]
    return np.stack([ZIPF.decode(tally["users"], tally["bits"][None])[0] for tally in tallies])


RAPPOR = Bloom(2.0, 5, 8, 2, 2, second_keep=3 << 62, second_flip=1 << 62)


@pytest.mark.parametrize("check", CONTRACT_CHECKS, ids=lambda check: check.__name__)
def test_contract_with_instantaneous_responses(check):
    if check is not epsilon_is_spent_whole:  # one report reveals less than all of them together
        check(RAPPOR)


def test_an_instantaneous_response_reveals_what_its_likelihood_says():
    """Both responses together are one response with p and q: the worst ratio of a report."""
    assert RAPPOR.epsilon_once < RAPPOR.epsilon
    chances = RAPPOR.likelihood(RAPPOR.outcomes())
    assert chances.sum(axis=0) == pytest.approx(1.0)
    worst = np.log(chances.max(axis=1) / chances.min(axis=1)).max()
    filters = _filters(RAPPOR)
    widest = max(int((cohort[:, None] ^ cohort).sum(axis=2).max()) for cohort in filters)
    assert worst == pytest.approx(RAPPOR.epsilon_once * widest / 4, rel=1e-9)
    assert Bloom(2.0, 5).epsilon_once is None


def test_reports_of_one_permanent_response_average_to_it_and_no_further():
    """Fifty thousand reports tell the permanent bits; they are the first response's, not the
    filter's.
    """
    rng = SeededRng(4)
    kept = RAPPOR.permanent(np.array([3]), rng)
    sent = RAPPOR.instantaneous(np.repeat(kept, 50_000), rng)
    assert (sent["cohort"] == kept["cohort"][0]).all()
    rates = np.unpackbits(sent["bits"], axis=1, bitorder="little")[:, :8].mean(axis=0)
    permanent = np.unpackbits(kept["bits"], axis=1, bitorder="little")[0, :8]
    expected = np.where(permanent, 0.75, 0.25)
    deviation = np.sqrt(0.75 * 0.25 / 50_000)
    assert np.abs(rates - expected).max() < 5 * deviation


def test_totals_are_right_after_both_responses():
    truth = np.array([60_000, 25_000, 10_000, 4_000, 1_000])
    rappor = Bloom(4.0, 5, 32, 2, 4, second_keep=3 << 62, second_flip=1 << 62)
    reports = rappor.privatize(np.repeat(np.arange(5), truth), SeededRng(6))
    estimate = rappor.estimate(rappor.tally(reports))
    assert np.abs((estimate.votes - truth) / estimate.errors).max() < 5
    tally = rappor.tally(reports)
    twin = Bloom(4.0, 5, 32, 2, 4).decode(tally["users"], tally["bits"][None])[0]
    assert np.abs(twin - truth).max() > 10 * estimate.errors.max()


def test_second_thresholds_that_tell_nothing_are_refused():
    with pytest.raises(ParameterError, match="second_flip"):
        Bloom(2.0, 5, second_keep=1 << 62, second_flip=1 << 62)
    with pytest.raises(ParameterError, match="second_flip"):
        Bloom(2.0, 5, second_keep=1 << 62)


def test_a_document_without_a_second_response_does_not_mention_it():
    assert "second" not in codec.canonical(codec.document(Bloom(2.0, 5)))
    document = codec.document(RAPPOR)
    assert codec.mechanism(document) == RAPPOR
