"""A URL names a file or a database, and its scheme names the class that opens it."""

from pathlib import Path

import pytest

from sottovoce.core.registry import Registry
from sottovoce.errors import ParameterError
from sottovoce.web.store.url import class_of, database_or_file


class Drawer:
    schemes = ("drawer", "box")


def kinds():
    known = Registry("store", "sottovoce.no_such_package")
    for scheme in Drawer.schemes:
        known.add(scheme, Drawer)
    return known


def test_a_database_goes_before_a_file():
    assert database_or_file("postgresql://host/db", Path("/data/a.db")) == "postgresql://host/db"
    assert database_or_file("", Path("/data/a b.db")) == "sqlite:///data/a%20b.db"


def test_the_scheme_names_the_class():
    assert class_of("drawer://x", kinds()) is Drawer
    assert class_of("box:///a/b", kinds()) is Drawer


@pytest.mark.parametrize(
    ("url", "shown"), [("shelf://secret", "shelf://"), ("secret.db", "none of these")]
)
def test_another_scheme_is_refused_without_the_rest_of_the_url(url, shown):
    with pytest.raises(ParameterError, match=r"`database` .* one of box://, drawer://;") as refused:
        class_of(url, kinds())
    assert str(refused.value).endswith(f"this begins with {shown}")
    assert "secret" not in str(refused.value)
