"""A lease has one holder at a time, whatever process or thread it lives in, and none after a
crash.
"""

from contextlib import closing

import pytest

from collector.store.child import start
from collector.store.places import postgres_place
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import ParameterError
from sottovoce.web.store.postgres import lock_number


def test_one_of_two_holders_is_told_no(store):
    with store.lease("sealing") as first, store.lease("sealing") as second:
        assert (first, second) == (True, False)
    with store.lease("sealing") as again:
        assert again


def test_a_lease_on_postgres_ends_with_its_block(request, tmp_path):
    """Not when the server gets round to ending a session that was closed."""
    place = postgres_place(request, tmp_path)
    lock = (lock_number("lease sealing"),)
    with closing(place.open()) as store, place.raw() as other:
        for _ in range(50):
            with store.lease("sealing") as held:
                assert held
            (free,) = other.execute("select pg_try_advisory_lock(%s)", lock).fetchone()
            assert free
            other.execute("select pg_advisory_unlock(%s)", lock)


def test_leases_of_other_names_do_not_matter(store):
    with store.lease("sealing") as first, store.lease("pruning") as second:
        assert (first, second) == (True, True)


def test_an_error_lets_go(store):
    with pytest.raises(ZeroDivisionError), store.lease("sealing"):
        raise ZeroDivisionError
    with store.lease("sealing") as again:
        assert again


def test_a_holder_works_with_the_store(round_open):
    with round_open.lease("sealing") as held:
        round_open.check()
        assert held


@pytest.mark.parametrize("ending", ["told", "killed"])
def test_another_process_holds_a_lease_until_it_ends(place, store, ending):
    child = start(place, "hold", "sealing")
    with child:
        assert child.stdout.readline() == "True\n"
        with store.lease("sealing") as held:
            assert not held
        if ending == "killed":
            child.kill()
        else:
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == "gone\n"
        child.wait()
    assert _held_soon(store)


def test_the_name_of_a_lease_stays_beside_the_database(tmp_path):
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(ParameterError), store.lease("../elsewhere"):
        raise AssertionError
    store.close()


def _held_soon(store):
    """A server notices that a client is gone when it next reads from it: soon, not at once."""
    for _ in range(10**4):
        with store.lease("sealing") as held:
            if held:
                return True
    return False
