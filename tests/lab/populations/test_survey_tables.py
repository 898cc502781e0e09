import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.populations.survey_tables import (
    binary_adult,
    disability_items,
    page_visits,
    survey,
)


def test_the_census_is_the_published_one():
    adult = survey("adult")
    assert adult.records.shape == (48_842, 10)
    assert adult.sizes == (6, 9, 16, 7, 15, 6, 5, 2, 5, 2)
    column = dict(zip(adult.names, adult.records.T, strict=True))
    assert column["income"].sum() == 11_687  # above 50,000 dollars, as the repository states
    assert column["sex"].sum() == 32_650


def test_the_health_survey_is_the_published_one():
    health = survey("health")
    assert health.records.shape == (20_190, 10)
    assert health.names[:2] == ("mdvis", "lncoins")
    with pytest.raises(ParameterError, match="`name`"):
        survey("nothing")


def test_bits_of_the_census_are_attributes_of_it():
    bits = binary_adult()
    assert bits.sizes == (2,) * 13
    column = dict(zip(bits.names, bits.records.T, strict=True))
    assert not (column["married"] & column["never married"]).any()
    assert column["income above 50,000"].sum() == 11_687


@pytest.mark.parametrize(("people", "first"), [(disability_items, 0.04), (page_visits, 0.32)])
def test_invented_people_have_their_shares_and_depend_on_each_other(people, first):
    table = people(20_000, seed=3)
    assert abs(table.records[:, 0].mean() - first) < 5 * np.sqrt(first * (1 - first) / 20_000)
    correlations = np.corrcoef(table.records.T)
    assert np.median(correlations) > 0.02
    np.testing.assert_array_equal(table.records, people(20_000, seed=3).records)
    assert len(table.people(50).records) == 50
