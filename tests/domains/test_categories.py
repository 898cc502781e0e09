"""Categories: labels to indices, declining, and labels that are refused."""

import pytest

from sottovoce.domains.base import DECLINED
from sottovoce.domains.categories import Categories
from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.seeded import SeededRng


def test_a_label_has_its_position_as_index():
    pets = Categories(("cat", "dog", "fish"))
    assert pets.size == 3
    assert pets.indices(["fish", "cat", "fish"]).tolist() == [2, 0, 2]
    assert pets.indices([]).tolist() == []


def test_composed_and_decomposed_letters_are_one_label():
    assert Categories(("café", "thé")).indices(["cafe\u0301", "thé"]).tolist() == [0, 1]


def test_declining_is_a_category_of_its_own_and_absence_is_never_guessed():
    asked = Categories(("yes", "no"), declinable=True)
    assert asked.labels == ("yes", "no", DECLINED)
    assert asked.indices(["no", None]).tolist() == [1, 2]
    with pytest.raises(DomainError):
        Categories(("yes", "no")).indices([None])


def test_a_restored_declinable_domain_does_not_grow():
    asked = Categories(("yes", "no"), declinable=True)
    assert Categories(asked.labels, declinable=True) == asked


@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        ((), "`labels` must have at least 2 entries, not 0"),
        (("one",), "`labels` must have at least 2 entries, not 1"),
        (("a", "a"), "the entries of `labels` must differ, but 1 and 2 are equal"),
        (("café", "cafe\u0301"), "the entries of `labels` must differ, but 1 and 2 are equal"),
        (("a", ""), "each entry of `labels` must be text that is not empty, not ''"),
        (("a", 3), "each entry of `labels` must be text that is not empty, not 3"),
    ],
)
def test_impossible_labels_are_refused(labels, rule):
    with pytest.raises(ParameterError) as caught:
        Categories(labels)
    assert str(caught.value) == rule


def test_declining_must_be_the_last_label():
    with pytest.raises(ParameterError, match="`labels` must have 'prefer not to say' as the last"):
        Categories((DECLINED, "yes", "no"), declinable=True)


def test_a_refused_value_is_not_repeated():
    for value in ("secret", 7, ("secret",), ["secret"], {}):
        with pytest.raises(DomainError) as caught:
            Categories(("cat", "dog")).indices([value])
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_known_indices_leave_others_out():
    pets = Categories(("cat", "dog"))
    assert pets.known_indices(["dog", "unicorn", "cat", "dog"]) == [1, 0, 1]
    with pytest.raises(DomainError, match="must be text"):
        pets.known_indices(["dog", 3])


def test_a_random_value_is_uniform():
    """6,000 draws of three categories: each count within five sigma of 2,000."""
    rng = SeededRng(4)
    pets = Categories(("cat", "dog", "fish"))
    drawn = [int(pets.random_value(rng)[0]) for _ in range(6000)]
    counts = [drawn.count(index) for index in range(3)]
    sigma = (6000 * 2 / 9) ** 0.5
    assert all(abs(count - 2000) < 5 * sigma for count in counts)
