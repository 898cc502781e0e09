"""The names of defences."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.integrity.choices import DEFENCES, checked_defence


def test_known_defences_are_accepted_and_others_refused():
    assert [checked_defence(name) for name in DEFENCES] == ["none", "auto"]
    with pytest.raises(ParameterError, match="`defence` must be one of none, auto"):
        checked_defence("robust")
