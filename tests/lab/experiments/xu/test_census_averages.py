"""Standard errors of average hours of work."""

import pytest

from sottovoce.lab.experiments.xu.census_averages import CENSUS, WAYS, Census

SAMPLE = Census(3_000, 2.0)


def test_without_a_range_there_is_nothing_to_combine():
    plain, combined = (SAMPLE.average_error(WAYS[way], "Q1") for way in ("AHIO", "AHIO-RDC"))
    assert plain == combined
    plain, combined = (SAMPLE.average_error(WAYS[way], "Q2") for way in ("AHIO", "AHIO-RDC"))
    assert combined.error < plain.error


def test_errors_are_scaled_to_three_million():
    """A standard error of few people, times the root of their share."""
    few = SAMPLE.average_error(WAYS["HIO"], "Q1")
    more = Census(12_000, 2.0).average_error(WAYS["HIO"], "Q1")
    assert CENSUS == 3e6
    assert few.error == pytest.approx(more.error, rel=0.25 + 5 * few.relative)
    assert more.relative < few.relative
