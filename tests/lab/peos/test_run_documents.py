"""Lines of JSON between the processes of a run."""

import pytest

from lab.peos.batches import HASHED, terms_for
from lab.peos.keys import small_key
from sottovoce.errors import CodecError
from sottovoce.lab.peos.run_documents import (
    Assignment,
    Invitation,
    PartyAddress,
    PartyResult,
    read,
    written,
)
from sottovoce.lab.peos.traffic import Traffic

INVITATION = Invitation(
    "00" * 16,
    {"size": 10, "cells": 16, "hashed": True},
    3.0,
    3,
    5,
    1,
    small_key("joye_libert").public.document(),
    [1, 2, 3, 4],
    "ff" * 32,
)


@pytest.mark.parametrize(
    "document",
    [
        Assignment(1, False, "dgk", 3072),
        PartyAddress(4000, None),
        INVITATION,
        PartyResult(1, Traffic(1, 2, 3), Traffic(4), 5, 0.5, [1 << 63], 6),
    ],
)
def test_documents_come_back(document):
    line = written(document)
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert read(line, type(document)) == document


def test_an_invitation_holds_the_terms():
    assert INVITATION.terms.packed == terms_for(HASHED).packed


def test_an_invitation_does_not_show_its_token():
    assert "ff" * 32 not in repr(INVITATION)


@pytest.mark.parametrize("line", ["", "[]", '{"number": 1}', "x"])
def test_other_lines_are_refused(line):
    with pytest.raises(CodecError, match="is no Assignment"):
        read(line, Assignment)
