"""A collector that is killed loses nothing that it acknowledged, counts nothing twice, and asks the
same afterwards.

The short form of ``make soak``: some deaths at random moments, some at the points between two
writes.
"""

import multiprocessing
import random
import socket
import threading
import time
from itertools import count

import pytest

from system import forking
from system.crash import (
    MANY,
    Database,
    Kill,
    Result,
    Scenario,
    Trial,
    database_kills,
    least_passes,
    missed_points,
    node_kills,
    point_of_turn,
    random_scenario,
)
from system.orders import POINTS, passes_file, points_of
from system.servers import Server, Wire

DAY = 86_400
NAMES = count()
SQLITE = {
    "uploading, with and without a commit": [
        Kill(round=0, share=0.4, delay=0.003),
        Kill("upload: before it commits", 3),
    ],
    "publishing, and before an acknowledgement": [
        Kill("publish: before it commits", 1),
        Kill("upload: committed, not acknowledged", 9),
    ],
    "turning and sealing": [
        Kill("seal: log has no name yet", 1),
        Kill("seal: before it commits", 1),
    ],
    "testing what was sealed": [
        Kill("examine: nothing written", 1),
        Kill("examine: tests written", 2),
    ],
    # The first time is that of a server that starts and looks for what a crash has left.
    "sealed, with payloads left": [Kill("seal: committed, payloads are there", 2)],
    # Every round has one merge at least, and may have no more: a death needs a round of its own.
    "merging ids": [
        Kill("ids: run half written", 1),
        Kill("ids: run written, not noted", 1),
    ],
    "replacing runs of ids": [Kill("ids: run noted, others are there", 2)],
    "moving ids": [
        Kill("seal: some ids moved", 3),
        Kill("seal: all ids moved, rows are there", 1),
        Kill("seal: all ids moved, runs are there", 1),
        Kill("seal: runs removed, still named", 1),
    ],
    "sealed, and finishing": [Kill("seal: committed", 2), Kill("finish: nothing stored", 1)],
}
ERASING = {
    "before and while the sums are written": [
        Kill("erase: nothing written", 1),
        Kill("erase: sums have no name yet", 1),
    ],
    "with the sums written, and the log removed": [
        Kill("erase: sums written", 2),
        Kill("erase: log removed", 1),
    ],
    # The first time is that of a server that starts and looks for what a crash has left.
    "with the ids of a round left": [Kill("erase: noted, ids are there", 2)],
}
POSTGRES = {
    "uploading": [Kill(round=0, share=0.5, delay=0.002), Kill("upload: before it commits", 4)],
    "sealing and stepping": [
        Kill("seal: log written", 1),
        Kill("step: decided, nothing stored", 1),
    ],
    "the database server itself": [Kill(round=1, share=0.5, database=True)],
}


@pytest.mark.parametrize("kills", SQLITE.values(), ids=SQLITE)
def test_crashes_lose_nothing_and_double_nothing(tmp_path, kills):
    result = Trial(tmp_path / "data", len(kills), Scenario(tuple(kills))).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result
    assert result.states.total() == len(kills), result


@pytest.mark.parametrize("kills", ERASING.values(), ids=ERASING)
def test_crashes_while_reports_are_erased_keep_the_answer(tmp_path, kills):
    result = Trial(tmp_path / "data", 4, Scenario(tuple(kills), erase=True)).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


@pytest.fixture
def place(database_server):
    """A new database, and what kills and restarts its server."""

    def make():
        database = database_server.create(f"crash_{next(NAMES)}")
        return Database(database, lambda: database_server.control("restart", "-m", "immediate"))

    return make


@pytest.mark.parametrize("kills", POSTGRES.values(), ids=POSTGRES)
def test_crashes_beside_a_database_server_lose_nothing_and_double_nothing(tmp_path, place, kills):
    result = Trial(tmp_path / "data", len(kills), Scenario(tuple(kills)), place()).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


def test_several_nodes_that_die_at_once_lose_nothing_and_double_nothing(tmp_path, place):
    kills = (Kill(round=0, share=0.5), Kill("seal: log written", 1))
    result = Trial(tmp_path / "data", 3, Scenario(kills, nodes=3), place()).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


@pytest.mark.papers
def test_a_node_that_dies_alone_is_not_missed(tmp_path, place):
    """The others take reports while it is away; it comes back, and another one dies."""
    kills = (
        Kill(round=0, share=0.1, node=True, away=0.5),
        Kill(round=1, share=0.5, node=True),
        Kill(round=1, share=0.9),
    )
    result = Trial(tmp_path / "data", 7, Scenario(kills, nodes=3), place()).run()
    assert result.findings == []
    assert result.kills == {"one node alone": 2, "a random moment": 1}
    assert result.states.total() == len(kills), result
    print(f"{result.taken_without} messages were taken by the others")
    assert result.taken_without > 0


@pytest.mark.papers
def test_a_database_server_that_dies_in_every_round_is_waited_for(tmp_path, place):
    kills = tuple(Kill(round=number, share=0.5, database=True, goes_on=True) for number in range(3))
    result = Trial(tmp_path / "data", 8, Scenario(kills), place()).run()
    assert result.findings == []
    assert result.kills == {"the database server": len(kills)}


def test_deaths_of_the_new_parts_are_of_their_kind():
    dice = random.Random(1)
    of_nodes = [kill for _ in range(60) for kill in node_kills(dice)]
    assert {kill.name for kill in of_nodes} == {"one node alone", "a random moment"}
    of_servers = [kill for _ in range(20) for kill in database_kills(dice)]
    assert {kill.name for kill in of_servers} == {"the database server"}
    assert all(kill.goes_on for kill in of_servers)


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_every_point_of_death_has_its_turn(store):
    """Of 110 trials of a soak each point gets three at least; so it is from any turn on."""
    count = len(points_of(store))
    first = [point_of_turn(turn, store) for turn in range(1, count + 1)]
    assert sorted(first) == sorted(points_of(store))
    for start in range(1, count + 1):
        points = [point_of_turn(turn, store) for turn in range(start, start + 2 * count)]
        assert set(points) == set(points_of(store))
    parities = {(point_of_turn(turn, store), turn % 2) for turn in range(1, 4 * count)}
    assert len(parities) == 2 * count, "with enrolment and without"


def test_a_scenario_dies_first_at_a_point_that_it_passes():
    for turn in range(1, 200):
        scenario = random_scenario(random.Random(turn), turn)
        first, *further = scenario.kills
        assert first.point == point_of_turn(turn, "sqlite")
        assert first.times <= least_passes(first.point.split(":")[0], scenario)
        assert scenario.erase or not first.point.startswith("erase")
        assert not any(kill.point or kill.database for kill in further)


def test_a_point_that_no_trial_reached_is_named():
    reached, missed = "seal: log written", "erase: committed"
    died = Result(1, "sqlite", planned=reached)
    died.kills[reached] += 1
    cut_short = Result(3, "sqlite", ["lost: something"], planned="finish: stored")
    results = [died, Result(2, "sqlite", planned=missed), cut_short, Result(4, "sqlite")]
    assert missed_points(results) == [missed]
    died.kills[missed] += 1
    assert missed_points(results) == []


@pytest.mark.papers
@pytest.mark.parametrize("quota", [Scenario.quota, MANY])
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_trials_pass_every_point_as_often_as_deaths_are_planned(tmp_path, place, store, quota):
    folder = tmp_path / "passes"
    folder.mkdir()
    at_once = Scenario.at_once if quota == Scenario.quota else 1
    scenario = Scenario(quota=quota, at_once=at_once, erase=True, passes=str(folder))
    database = place() if store == "postgres" else Database()
    result = Trial(tmp_path / "data", 1, scenario, database).run()
    assert result.findings == []
    for point in points_of(store):
        passes = passes_file(folder, point).stat().st_size
        least = least_passes(point.split(":")[0], scenario)
        print(f"{point}: {passes} passes, {least} are expected")
        assert passes >= least
    assert {point for point in POINTS if passes_file(folder, point).exists()} == set(
        points_of(store)
    )


def test_a_node_that_starts_while_the_database_is_away_waits_for_it(tmp_path, database_server):
    database = database_server.create(f"crash_{next(NAMES)}")
    log = tmp_path / "data.log"
    has_started = threading.Event()

    def start_database():
        while not has_started.is_set() and "does not answer" not in _text(log):
            time.sleep(0.02)
        database_server.control("start")

    database_server.control("stop", "-m", "immediate")
    starting = threading.Thread(target=start_database)
    starting.start()
    server = Server(tmp_path / "data", database)  # returns when it has said where it is, or died
    has_started.set()
    starting.join()
    try:
        assert server.address, "it has died"
        wire = Wire(server.address)
        assert wire.request("GET", "/v1/tasks")[0] == 200
        wire.close()
        assert server.stop() == 0
    finally:
        server.discard()


def _text(path):
    return path.read_text() if path.exists() else ""


def test_workers_at_the_door_that_die_lose_nothing_and_double_nothing(tmp_path):
    """One of two workers dies while it takes reports, then all of them, then one again."""
    kills = (
        Kill(round=0, share=0.5, worker=True),
        Kill(round=1, share=0.5),
        Kill(round=2, share=0.3, worker=True),
    )
    result = Trial(tmp_path / "data", 6, Scenario(kills, workers=2)).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


def test_a_clock_that_jumps_loses_nothing_and_holds_up_nothing(tmp_path):
    jumps = {0: 2 * DAY, 1: -3 * DAY, 2: 5}
    kills = (Kill(round=1, share=0.7),)
    result = Trial(tmp_path / "data", 5, Scenario(kills, jumps=jumps)).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


def test_a_collector_that_dies_while_it_asks_for_a_worker_ends_no_other(tmp_path):
    """The process that forks servers and workers goes on when somebody leaves before asking."""
    server = Server(tmp_path / "data")
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(forking.address()[forking.ADDRESS])
        worker = multiprocessing.get_context("forkserver").Process(target=int)
        worker.start()
        worker.join()
        assert worker.exitcode == 0
        assert server.alive
    finally:
        server.discard()
