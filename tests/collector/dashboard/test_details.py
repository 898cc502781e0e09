"""Details of an answer in a few words: what needs no remark is left out."""

from sottovoce.collector.dashboard.details import facts
from sottovoce.collector.dashboard.formatting import THIN


def test_what_the_page_shows_elsewhere_is_not_repeated():
    assert facts({"name": "pets", "users": 7, "rows": [], "minimum": 50, "unit": "people"}) == []


def test_a_guarantee_is_said_in_words():
    ((term, words),) = facts({"guarantee": {"local": 1.5}})
    assert term == "Guarantee"
    assert words.startswith("local epsilon 1.5, against everybody")


def test_a_guarantee_of_shuffled_reports_is_never_one_number_alone():
    detail = {
        "local": 6.0,
        "central": 0.4123,
        "against_users": 1.1,
        "delta": 1e-9,
        "users": 1000,
        "fakes": 40,
        "hops": 2,
    }
    words = " | ".join(f"{term}: {text}" for term, text in facts({"guarantee": detail}))
    assert "collector alone: epsilon 0.412, except with probability 1e-09" in words
    assert "all other users: epsilon 1.1" in words
    assert "against everybody: epsilon 6" in words
    assert "1,000 people, by 2 hops with 40 fakes each" in words


def test_details_have_a_term_and_fitting_numbers():
    part = {"prefix_lengths": [8, 16], "sensitivity": 0.0123, "padded_to": 5000, "adaptive": True}
    assert facts(part) == [
        ("Bits of the prefixes", "8, 16"),
        ("Values are seen from a share of", f"1.23{THIN}%"),
        ("Sets are padded to", "5,000"),
        ("Adaptive", "yes"),
    ]
    assert facts({"correction": 1.23456}) == [("Correction for longer sets", "1.235")]


def test_a_remark_is_made_only_where_there_is_something_to_remark():
    assert facts({"sizes_seen": True, "candidates_left_out": False}) == []
    assert [term for term, _ in facts({"sizes_seen": False, "candidates_left_out": True})] == [
        "Sizes of sets",
        "Left out",
    ]


def test_a_list_too_long_to_read_is_left_out():
    assert facts({"groups": list(range(25))})
    assert facts({"groups": list(range(26))}) == []


def test_graded_groups_are_said_in_words():
    rows = [
        {"epsilon": 1.0, "reports": 1, "users": 900, "weight": 0.7, "poisoned": [[0.0, 0.5]]},
        {"epsilon": 0.5, "reports": 2, "users": 800, "weight": 0.3, "poisoned": []},
    ]
    said = facts({"graded_groups": rows, "false_share": 0.25, "remark": "An attack was seen."})
    assert said == [
        (
            "Group at epsilon 1",
            "900 users with 1 report each, weight 0.70; suspected outputs: 0% to 50%",
        ),
        ("Group at epsilon 0.5", "800 users with 2 reports each, weight 0.30"),
        ("Share of false reports", f"25.00{THIN}%"),
        ("Remark", "An attack was seen."),
    ]
