"""Invented people with something to discover."""

from collections import Counter

import pytest

from sottovoce.lab.populations.discoveries import (
    NEW_WORDS,
    PAGES,
    SITES,
    SONGS,
    playlists,
    typed_words,
    visits,
)


@pytest.mark.parametrize("invent", [visits, typed_words])
def test_the_same_seed_invents_the_same_people(invent):
    assert invent(300, seed=1) == invent(300, seed=1) != invent(300, seed=2)


def test_pages_are_those_of_the_sites_and_fall_by_rank():
    seen = Counter(visits(20_000, seed=3))
    assert set(seen) <= {f"{site}{page}" for site in SITES for page in PAGES}
    assert seen[SITES[0]] > seen[SITES[1]] > seen[SITES[5]] > seen[f"{SITES[5]}{PAGES[-1]}"]


def test_six_people_in_ten_type_a_new_word():
    typed = typed_words(20_000, seed=4)
    share = sum(word in NEW_WORDS for word in typed) / len(typed)
    # Binomial(20000, 0.6): five standard deviations are 0.0173.
    assert share == pytest.approx(0.6, abs=0.0174)


def test_everybody_keeps_a_song_or_more():
    kept = playlists(2_000, seed=5)
    assert len(kept) == 2_000
    assert min(kept.sizes) >= 1
    assert 0 <= min(kept.items) <= max(kept.items) < len(SONGS)
