"""A collector that is killed loses nothing that it acknowledged, counts nothing twice, and asks the
same afterwards.

The short form of ``make soak``: some deaths at random moments, some at the points between two
writes.
"""

import pytest

from system.crash import Kill, Trial

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
    "sealed, and finishing": [Kill("seal: committed", 2), Kill("finish: nothing stored", 1)],
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
    result = Trial(tmp_path / "data", seed=len(kills), kills=kills).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result
    assert result.states.total() == len(kills), result


@pytest.mark.parametrize("kills", POSTGRES.values(), ids=POSTGRES)
def test_crashes_beside_a_database_server_lose_nothing_and_double_nothing(
    tmp_path, database_server, kills
):
    database = database_server.create(f"crash_{len(kills)}_{abs(hash(kills[0]))}")

    def restart():
        database_server.control("restart", "-m", "immediate")

    result = Trial(
        tmp_path / "data", seed=len(kills), kills=kills, database=database, restart=restart
    ).run()
    assert result.findings == []
    assert result.kills.total() == len(kills), result


TWINS = {
    "acknowledges first": ([Kill(round=0, share=0.6)], "lost"),
    "forgets ids": ([], "doubled"),
    "seals first": ([Kill("seal: committed", 1)], "lost"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_collector_with_a_mistake_is_found_out(tmp_path, twin):
    kills, word = TWINS[twin]
    found = Trial(tmp_path / "data", seed=2, kills=kills, twin=twin).run().findings
    assert any(word in one for one in found), found
