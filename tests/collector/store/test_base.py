"""Stores by URL: a store is one module, and nobody else knows its kind."""

import pytest

from sottovoce.collector.run import open_store as open_configured
from sottovoce.collector.store.base import Store, open_store, store_exists, store_url
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError
from sottovoce.web.settings import Settings


def test_a_folder_has_an_embedded_store(tmp_path):
    url = store_url(tmp_path)
    assert not store_exists(url)
    store = open_store(url)
    store.close()
    assert isinstance(store, SqliteStore)
    assert (tmp_path / "collector.db").exists()
    assert store_exists(url)


def test_any_folder_can_have_one(tmp_path, monkeypatch):
    folder = tmp_path / "50 % of città, #1? [a]"
    open_configured(Settings(data=folder)).close()
    assert (folder / "collector.db").exists()
    monkeypatch.chdir(tmp_path)
    assert store_url(folder.relative_to(tmp_path)) == store_url(folder)


def test_a_database_replaces_the_embedded_store(tmp_path):
    settings = Settings(data=tmp_path / "data", database=f"sqlite://{tmp_path}/elsewhere.db")
    open_configured(settings).close()
    assert (tmp_path / "elsewhere.db").exists()
    assert not (settings.data / "collector.db").exists()
    assert settings.data.exists()


def test_a_postgresql_url_opens_a_database_of_a_server(postgres_server):
    url = postgres_server.create("by_url")
    assert store_exists(url)
    for named in (url, url.replace("postgresql://", "postgres://")):
        store = open_store(named)
        store.check()
        store.close()
        assert type(store).__name__ == "PostgresStore"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("mysql://user:secret@host/db", "mysql://"),
        ("collector.db", "none of these"),
        ("host=db user=me password=secret", "none of these"),
        ("SQLITE:///x", "SQLITE://"),
        ("base://x", "base://"),
        ("a" * 100 + "://secret", "a" * 20 + "://"),
    ],
)
def test_a_wrong_url_is_refused_with_the_setting_and_the_known_schemes(url, shown):
    for use in (open_store, store_exists):
        with pytest.raises(ParameterError) as refused:
            use(url)
        message = str(refused.value)
        assert "`database` (SOTTOVOCE_DATABASE)" in message
        assert "postgres://, postgresql://, sqlite://" in message
        assert message.endswith(f"begins with {shown}")
        assert "secret" not in message


@pytest.mark.parametrize(
    "url", ["sqlite://collector.db", "sqlite://", "sqlite://host/collector.db"]
)
def test_a_sqlite_url_names_a_whole_path(url):
    with pytest.raises(
        ParameterError, match="`database` must name a SQLite file by its whole path"
    ):
        open_store(url)


def test_a_new_store_is_a_class_with_a_scheme(tmp_path, monkeypatch):
    """Nothing else has to be changed for the settings to name it."""
    monkeypatch.setattr(Store, "kinds", Registry("store", "sottovoce.collector.store"))

    class ToyStore(SqliteStore, schemes=("toy",)):
        @classmethod
        def from_url(cls, url):
            return cls(tmp_path / f"{url.removeprefix('toy://')}.db")

    store = open_configured(Settings(data=tmp_path, database="toy://box"))
    store.close()
    assert isinstance(store, ToyStore)
    assert (tmp_path / "box.db").exists()
