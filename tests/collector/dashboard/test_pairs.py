"""A number for every pair: largest first, with links to the pairs that are joined."""

from sottovoce.answers.side_views import PairView
from sottovoce.collector.dashboard import pairs

NAMES = ("age", "pet", "home?")
NUMBERS = ((0.0, 0.1, 0.5), (0.1, 0.0, 0.25), (0.5, 0.25, 0.0))
VIEW = PairView("Mutual information", "bits", NAMES, NUMBERS, edges=(("age", "home?"),))


def test_nothing_is_shown_of_nothing():
    assert pairs.shown(None, "/tasks/t", "level=0.95") is None


def test_every_pair_is_a_row_and_the_largest_is_first():
    rows = pairs.shown(VIEW, "/tasks/t", "level=0.95")["rows"]
    assert [row["number"] for row in rows] == ["0.5000", "0.2500", "0.1000"]
    assert [row["joined"] for row in rows] == [True, False, False]
    assert len(rows) == 3


def test_an_edge_leads_to_the_table_of_its_pair():
    facts = pairs.shown(VIEW, "/tasks/t", "level=0.95")
    assert facts["tree"] == [
        ("age \N{EN DASH} home?", "/tasks/t?level=0.95&marginal=age&marginal=home%3F#answer")
    ]
    assert facts["drawing"].count("<svg") == 1
    assert (facts["title"], facts["unit"]) == ("Mutual information", "bits")
