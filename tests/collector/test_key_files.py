"""The keys of a collector: its own and the issuer's, as documents pin them."""

import stat

import pytest

from sottovoce.collector import key_files
from sottovoce.core.base64url import text_of
from sottovoce.errors import NoDataError, ParameterError


def test_the_signing_key_is_made_and_stays(tmp_path):
    first = key_files.signing_key(tmp_path)
    assert key_files.signing_key(tmp_path) == first
    assert key_files.public_signing_key(tmp_path) == text_of(first.public_key)


def test_the_issuer_is_made_on_demand_only(tmp_path):
    with pytest.raises(NoDataError, match="`sottovoce token issuer` makes a key"):
        key_files.issuer(tmp_path)
    made = key_files.make_issuer(tmp_path)
    assert key_files.issuer(tmp_path).public_key == made.public_key
    assert key_files.make_issuer(tmp_path).public_key == made.public_key
    assert key_files.public_issuer_key(tmp_path) == text_of(made.public_key.data)
    mode = (tmp_path / key_files.ISSUER).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_key_that_others_can_read_is_refused(tmp_path):
    key_files.signing_key(tmp_path)
    key_files.make_issuer(tmp_path)
    for name, open_key in (
        (key_files.SIGNING, key_files.signing_key),
        (key_files.ISSUER, key_files.issuer),
    ):
        (tmp_path / name).chmod(0o644)
        with pytest.raises(ParameterError, match="others can read"):
            open_key(tmp_path)
