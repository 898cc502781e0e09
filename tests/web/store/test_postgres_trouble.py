"""What is wrong with a server of PostgreSQL is said with what to do, and without a secret."""

from contextlib import ExitStack, suppress

import pytest

from postgres_server import running
from sottovoce.errors import UnavailableError
from sottovoce.web.store.postgres import PostgresDatabase
from sottovoce.web.store.postgres_trouble import words_of

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL needs the extra `postgres`")

SECRET = "top-secret"


@pytest.fixture(scope="module")
def server():
    with running() as found:
        yield found


class Book(PostgresDatabase):
    """A database in which anything can be written."""

    def write(self, *statements):
        with self._writing() as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture
def database(server):
    """A database whose address has a password, which this server does not ask for."""
    opened = Book(f"{server.url()}&password={SECRET}", ())
    yield opened
    opened.close()


def trouble(database, *statements):
    """What an error of some statements says."""
    with pytest.raises(UnavailableError) as raised:
        database.write(*statements)
    assert SECRET not in str(raised.value)
    return str(raised.value)


def test_a_standby_is_named(database):
    said = trouble(database, "set transaction read only", "create table t (a int)")
    assert said.startswith("the database cannot serve: it is read-only; name the primary")


def test_a_statement_that_is_cancelled_is_named(database):
    said = trouble(database, "set local statement_timeout = 10", "select pg_sleep(5)")
    assert "`statement_timeout`" in said


def test_a_lock_that_is_not_let_go_is_named(server, database):
    with psycopg.connect(server.url()) as other:
        other.execute("select pg_advisory_xact_lock(1)")
        said = trouble(database, "set local lock_timeout = 10", "select pg_advisory_xact_lock(1)")
    assert "another session has held a lock" in said


def test_a_session_that_is_ended_and_a_server_that_is_gone_are_named(server, database):
    no_answer = "it does not answer or refuses connections; look whether it runs"
    assert no_answer in trouble(database, "select pg_terminate_backend(pg_backend_pid())")
    server.control("stop", "-m", "immediate")
    try:
        assert no_answer in trouble(database, "select 1")
    finally:
        server.control("start")


def test_a_server_that_refuses_connections_is_not_taken_for_one_that_is_down(server, database):
    with ExitStack() as held:
        with suppress(psycopg.OperationalError):  # there are too many
            while True:
                held.enter_context(psycopg.connect(server.url()))
        with pytest.raises(UnavailableError) as raised, database.lease("work"):
            pass
    assert "it does not answer or refuses connections" in str(raised.value)
    assert "too many connections" in str(raised.value)


def test_the_longest_beginning_of_a_code_counts():
    assert "its disk is full" in words_of("53100")
    assert "short of resources" in words_of("53400")
    assert words_of("99999").endswith("look for SQLSTATE 99999 in its log")
    assert words_of(None) == words_of("")
