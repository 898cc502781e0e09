"""Numbers and times as people read them; the docstrings have examples, these are the edges."""

import pytest

from sottovoce.collector.dashboard import formatting


@pytest.mark.parametrize(
    ("number", "text"), [(-0.4, "0"), (-1234.5, "−1,234"), (999_999.5, "1,000,000")]
)
def test_people_are_counted_whole_with_a_true_minus(number, text):
    assert formatting.count(number) == text


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (0.123456789, 1e-12, "0.123457"),
        (12.0, 0.0, "12"),
        (-0.001, 0.5, "0.00"),
        (5e6, 9.9e4, "5,000,000"),
    ],
)
def test_a_figure_has_two_digits_of_its_error_and_at_most_six_decimals(number, error, text):
    assert formatting.figure(number, error) == text


@pytest.mark.parametrize(
    ("error", "text"), [(0.1, "50"), (0.09, "50.0"), (0.0005, "50.0"), (0.0004, "50.00")]
)
def test_a_share_has_the_decimals_that_its_error_allows(error, text):
    assert formatting.percent(0.5, error) == f"{text}{formatting.THIN}%"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (86_399, "24 hours"),
        (86_400, "1 day"),
    ],
)
def test_a_duration_is_said_in_its_largest_unit(seconds, text):
    assert formatting.lasting(seconds) == text


def test_times_are_the_same_for_people_and_programs():
    assert formatting.moment(1_800_000_000) == "15 January 2027, 08:00 UTC"
    assert formatting.machine(1_800_000_000) == "2027-01-15T08:00:00Z"
    assert formatting.clock(1_800_000_000) == "08:00"


def test_a_remark_becomes_a_sentence_once():
    assert formatting.sentence("done.") == formatting.sentence("done") == "Done."
    assert formatting.sentence("") == "."
