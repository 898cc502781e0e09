"""The rules of a collection: one rule per setting."""

import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

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
        ({"defence": "graded"}, "`defence` must be one of seeds, not 'graded'"),
        ({"defence": None}, "`defence` must be one of seeds, not None"),
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


def test_seeds_are_fixed_by_blind_tokens_only():
    assert not Collection(issuer="A" * 456).fixes_seeds
    assert Collection(issuer="A" * 456, defence="seeds").fixes_seeds
    with pytest.raises(ParameterError) as caught:
        Collection(enrolment=True, defence="seeds")
    assert str(caught.value) == (
        "`defence` may be 'seeds' only where `issuer` is set: seeds follow from blind tokens."
        " `sottovoce token issuer` prints the key to set"
    )


def test_documents_from_before_the_defence_keep_their_text():
    """No defence is not written, so that the digests of older documents stay."""
    document = codec.document(Collection())
    assert "defence" not in document
    assert codec.read(Collection, document) == Collection()
    defended = Collection(issuer="A" * 456, defence="seeds")
    assert codec.document(defended)["defence"] == "seeds"
    assert codec.read(Collection, codec.document(defended)) == defended
    with pytest.raises(CodecError, match="not canonical"):
        codec.read(Collection, document | {"defence": ""})
