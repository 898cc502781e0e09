"""A PostgreSQL database that cannot be opened: the operator reads why, without the password."""

import pytest

from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.web.store.postgres import PostgresDatabase

pytest.importorskip("psycopg", reason="PostgreSQL needs the extra `postgres`")


def test_a_server_that_is_not_there_is_named():
    reason = r"cannot be reached: .*127\.0\.0\.1.*refused"
    with pytest.raises(UnavailableError, match=reason) as raised:
        PostgresDatabase("postgresql://nobody:secret@127.0.0.1:1/none", ())
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("place", ["user:top secret@host/db", "user:secret@host:port/db"])
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(place):
    with pytest.raises((ParameterError, UnavailableError)) as raised:
        PostgresDatabase(f"postgresql://{place}", ())
    assert "secret" not in str(raised.value)
