"""A URL names a file or a database, and its scheme names the class that opens it."""

from pathlib import Path

import pytest

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError
from sottovoce.web.store.url import UrlStore, class_of, database_or_file


class Furniture(UrlStore):
    kinds = Registry("store", "sottovoce.no_such_package")


class Drawer(Furniture, schemes=("drawer", "box")):
    @classmethod
    def from_url(cls, url):
        return cls()


class NamedDrawer(Drawer):
    """Opens no URL of its own."""


def test_a_database_goes_before_a_file():
    assert database_or_file("postgresql://host/db", Path("/data/a.db")) == "postgresql://host/db"
    assert database_or_file("", Path("/data/a b.db")) == "sqlite:///data/a%20b.db"


def test_the_scheme_names_the_class():
    assert class_of("drawer://x", Furniture.kinds) is Drawer
    assert class_of("box:///a/b", Furniture.kinds) is Drawer
    assert Drawer.exists("drawer://x")


def test_schemes_are_inherited_but_not_registered_again():
    assert NamedDrawer.schemes == ("drawer", "box")
    assert Furniture.kinds["drawer"] is Furniture.kinds["box"] is Drawer


def test_contracts_do_not_share_their_classes():
    class Cupboard(UrlStore):
        kinds = Registry("store", "sottovoce.no_such_package")

    with pytest.raises(ParameterError):
        class_of("drawer://x", Cupboard.kinds)


@pytest.mark.parametrize(
    ("url", "shown"), [("shelf://secret", "shelf://"), ("secret.db", "none of these")]
)
def test_another_scheme_is_refused_without_the_rest_of_the_url(url, shown):
    with pytest.raises(ParameterError, match=r"`database` .* one of box://, drawer://;") as refused:
        class_of(url, Furniture.kinds)
    assert str(refused.value).endswith(f"this begins with {shown}")
    assert "secret" not in str(refused.value)
