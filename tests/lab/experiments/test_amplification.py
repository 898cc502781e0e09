"""The page of evidence about amplification is what its command prints."""

from pathlib import Path

import pytest

from sottovoce.lab.experiments import amplification

PAGE = Path(__file__).parents[3] / "docs" / "evidence" / "amplification.md"


def test_the_published_error_is_that_of_plain_reports_where_nothing_amplifies():
    plain = 4 * 2.718281828459045**0.1 / (2.718281828459045**0.1 - 1) ** 2 / 10**5
    assert amplification.published_mse(1024, 0.1, 10**5) == pytest.approx(plain, rel=0.01)


@pytest.mark.papers
def test_the_committed_page_is_up_to_date():
    assert amplification.page() == PAGE.read_text(encoding="utf-8")
