"""What really is frequent: items by the people who have them, sets by those who have them whole."""

from sottovoce.domains.sets import Sets
from sottovoce.plans.itemsets.truth import most_frequent_items, most_frequent_sets

DOMAIN = Sets(["a", "b", "c"])
BASKETS = [["a", "b"]] * 5 + [["a"]] * 3 + [["c"]] * 2


def test_items_come_with_the_most_frequent_first():
    assert list(most_frequent_items(DOMAIN, BASKETS, 2).items()) == [("a", 8), ("b", 5)]


def test_of_equal_sets_the_smaller_comes_first():
    assert list(most_frequent_sets(DOMAIN, BASKETS, 3).items()) == [
        ("a", 8),
        ("b", 5),
        ("a + b", 5),
    ]


def test_sets_that_nobody_has_are_not_listed():
    assert most_frequent_sets(DOMAIN, [["a"]], 3) == {"a": 1}
