"""A store is opened by the scheme of its URL."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.shuffler.store.base import hop_store_exists, hop_store_url, open_hop_store
from sottovoce.shuffler.store.sqlite import SqliteHopStore


def test_the_embedded_store_is_a_file_in_the_folder(tmp_path):
    url = hop_store_url(tmp_path)
    assert not hop_store_exists(url)
    store = open_hop_store(url)
    assert isinstance(store, SqliteHopStore)
    store.close()
    assert hop_store_exists(url)
    assert (tmp_path / "shuffler.db").exists()


def test_a_database_takes_its_place(tmp_path):
    assert hop_store_url(tmp_path, "postgresql://host/base") == "postgresql://host/base"


def test_another_scheme_is_refused_without_showing_the_url():
    with pytest.raises(ParameterError, match="postgresql://") as refusal:
        open_hop_store("mysql://user:secret@host/base")
    assert "secret" not in str(refusal.value)
