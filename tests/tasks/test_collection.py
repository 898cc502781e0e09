"""The rules of a collection: one rule per setting."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.tasks.collection import Collection

MAX = (1 << 32) - 1


def test_the_defaults_are_allowed():
    assert Collection().minimum == 50
    Collection(quota=50, seconds=MAX, grace=0, crowd=2, retention=1, enrolment=True, sandbox=True)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"minimum": 1}, "`minimum` must be a whole number from 2 to 2^32 - 1, not 1"),
        ({"crowd": 1}, "`crowd` must be 0 or at least 2, not 1"),
        ({"crowd": -1}, "`crowd` must be a whole number from 0 to 2^32 - 1, not -1"),
        ({"seconds": 1.5}, "`seconds` must be a whole number from 0 to 2^32 - 1, not 1.5"),
        ({"grace": MAX + 1}, "`grace` must be a whole number from 0 to 2^32 - 1, not 2^32"),
        ({"retention": 0}, "`retention` must be a whole number from 1 to 2^32 - 1, not 0"),
        ({"retention": True}, "`retention` must be a whole number from 1 to 2^32 - 1, not True"),
        ({"enrolment": 1}, "`enrolment` must be true or false, not 1"),
        ({"sandbox": "yes"}, "`sandbox` must be true or false, not 'yes'"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError) as caught:
        Collection(**settings)
    assert str(caught.value) == rule


def test_a_quota_below_the_minimum_is_refused():
    Collection(quota=50)
    with pytest.raises(ParameterError, match="`quota` must be 0 or at least `minimum`, 50, not 49"):
        Collection(quota=49)


def test_tokens_are_for_enrolment_or_blind_and_not_both():
    issuer = "A" * 456
    assert not Collection().needs_token
    assert Collection(enrolment=True).needs_token
    assert Collection(issuer=issuer).needs_token
    with pytest.raises(ParameterError, match="`enrolment` must be false where `issuer` is set"):
        Collection(enrolment=True, issuer=issuer)
    with pytest.raises(ParameterError, match="`issuer` must be base64url of exactly 342 bytes"):
        Collection(issuer="A")
