"""The published advice."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.postprocess.apply import methods
from sottovoce.postprocess.recommend import recommend


def test_every_query_has_a_method_and_other_words_have_none():
    advice = {query: recommend(query) for query in ("full", "frequent", "sets")}
    assert advice == {"full": "base-cut", "frequent": "norm", "sets": "power-ns"}
    assert set(advice.values()) <= set(methods())
    assert recommend("frequent", power_law=True) == "norm"
    with pytest.raises(ParameterError):
        recommend("ranges")
