"""Which store an address opens."""

import pytest
from sottovoce.collector.stores import known_stores, open_store, store_class

from sottovoce.collector.store.postgres import PostgresStore
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import ParameterError


def test_the_stores_of_the_product_are_known():
    assert known_stores() == [PostgresStore, SqliteStore]


@pytest.mark.parametrize("address", ["postgresql://me@host/db", "postgres:///db", "host=here dbname=db"])
def test_addresses_of_a_server_open_postgres(address):
    assert store_class(address) is PostgresStore


def test_no_address_opens_the_file_of_a_folder_which_is_made(tmp_path):
    folder = tmp_path / "new" / "collector"
    assert not SqliteStore.exists("", folder)
    store = open_store(folder)
    assert type(store) is SqliteStore
    store.close()
    assert SqliteStore.exists("", folder)


@pytest.mark.parametrize("address", ["mysql://host/db", "somewhere"])
def test_an_address_of_no_store_is_refused_with_those_that_there_are(address):
    with pytest.raises(ParameterError, match=r"`database` names no store .* postgresql://"):
        store_class(address)
