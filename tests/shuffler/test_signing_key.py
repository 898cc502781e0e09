"""The long-term key of a hop; tests/web/test_key_files.py has what holds for every key."""

import pytest

from sottovoce.errors import NoDataError
from sottovoce.shuffler.signing_key import load_signing_key, make_signing_key


def test_a_hop_without_a_key_is_none(tmp_path):
    with pytest.raises(NoDataError, match="`sottovoce shuffle key` makes its key"):
        load_signing_key(tmp_path)
    key = make_signing_key(tmp_path)
    assert load_signing_key(tmp_path) == key
