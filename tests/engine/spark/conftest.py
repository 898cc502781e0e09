"""One cluster for all tests on Spark: a second one would take half a minute of processor time."""

import shutil

import pytest

from engine.spark_session import cluster


@pytest.fixture(scope="session")
def session():
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with cluster() as made:
        yield made
