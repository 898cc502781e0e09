"""A database remembers its schema version: older ones are brought up to date whole, newer ones
refused.
"""

import pytest

from collector.store.offers import DIGEST, accept, messages, singles, stored, task
from sottovoce.collector.store.schema import STEPS
from sottovoce.errors import MismatchError

SECOND = (
    "alter table tasks add column note text not null default 'none'",
    "create table notes (key {key}, note text)",
)
BROKEN = ("create table others (key {key})", "insert into a_table_that_is_not_there values (1)")


def version(place):
    return place.rows("select number from version")


@pytest.fixture
def older(place):
    """A database of the latest released version with something in it."""
    store = place.open()
    store.publish(task(), "opening")
    accept(store, singles("ab"))
    assert version(place) == [(len(STEPS),)]
    store.close()


@pytest.mark.usefixtures("older")
def test_an_older_database_is_brought_up_to_date_with_all_it_holds(place):
    store = place.open((*STEPS, SECOND))
    assert version(place) == [(len(STEPS) + 1,)]
    assert place.rows("select note from tasks") == [("none",)]
    assert place.rows("select * from notes") == []
    assert stored(store) == messages("a", "b")
    assert accept(store, singles("abc")) == [["duplicate", "duplicate", "accepted"]]
    store.close()


@pytest.mark.usefixtures("older")
def test_a_newer_database_is_refused_and_left_alone(place):
    place.open((*STEPS, SECOND)).close()
    with pytest.raises(MismatchError, match="upgrade sottovoce"):
        place.open()
    store = place.open((*STEPS, SECOND))
    assert stored(store) == messages("a", "b")
    store.close()


@pytest.mark.usefixtures("older")
def test_a_migration_that_fails_half_way_leaves_the_old_version(place):
    with pytest.raises(Exception, match=r"a_table_that_is_not_there"):
        place.open((*STEPS, SECOND, BROKEN))
    store = place.open()
    assert version(place) == [(len(STEPS),)]
    with place.raw() as connection:
        names = [column[0] for column in connection.execute("select * from tasks").description]
    assert "note" not in names
    assert stored(store) == messages("a", "b")
    assert [one.state for one in store.rounds(DIGEST)] == ["open"]
    store.close()
    place.open((*STEPS, SECOND)).close()


def test_a_database_is_migrated_once(place):
    for _ in range(3):
        store = place.open()
        assert version(place) == [(len(STEPS),)]
        store.close()


def test_tasks_of_the_first_version_wait_for_nothing(place):
    store = place.open(STEPS[:1])
    store.close()
    columns = "digest, name, document, created"
    with place.raw() as connection:
        connection.execute(
            f"insert into tasks ({columns}) values ('{DIGEST}', 'first', 'a document', 5)"
        )
    store = place.open()
    assert [(one.name, one.trouble) for one in store.tasks()] == [("first", "")]
    store.close()
