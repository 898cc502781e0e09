"""The terms of a batch: equal for all parties, or nothing happens."""

import pytest

from lab.peos.batches import HASHED, terms_for
from lab.peos.keys import small_key
from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.mechanisms.grr import GRR


def test_equal_terms_have_one_digest():
    assert terms_for().digest == terms_for().digest
    terms_for().check_equal(terms_for().packed, 1)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"batch_id": bytes(15) + b"1"}, "batch_id"),
        ({"mechanism": HASHED}, "reports"),
        ({"mechanism": GRR(2.5, 10)}, "reports"),
        ({"shufflers": 5}, "shufflers"),
        ({"fakes": 6}, "fakes"),
        ({"min_users": 2}, "min_users"),
        ({"private_key": small_key("dgk")}, "key_fingerprint"),
    ],
)
def test_other_terms_are_refused_and_named(changed, named):
    other = terms_for(**changed)
    with pytest.raises(MismatchError, match=f"party 2 has other terms for this batch: {named}$"):
        terms_for().check_equal(other.packed, 2)
    assert other.digest != terms_for().digest


def test_terms_that_are_no_terms_are_refused():
    with pytest.raises(CodecError, match="no JSON object"):
        terms_for().check_equal(b"\xff{", 2)


@pytest.mark.parametrize("broken", [{"batch_id": b""}, {"fakes": -1}, {"min_users": 0}])
def test_settings_are_checked(broken):
    with pytest.raises(ParameterError, match=f"`{next(iter(broken))}`"):
        terms_for(**broken)
