"""The contract of encodings: no randomness, no change of privacy; kinds without a wire."""

from dataclasses import dataclass

import pytest

from sottovoce.encodings.attribute import Attribute
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR


@dataclass(frozen=True)
class Same(Encoding, kind="same", wire=False):
    """An encoding of the laboratory that changes nothing."""

    def __call__(self, values, rng):
        return values

    def outputs(self, domain):
        return domain.size


def test_a_kind_without_a_wire_has_a_name_but_no_document():
    assert Same.kind == "same"
    with pytest.raises(ParameterError, match="unknown encoding kind: 'same'"):
        Encoding.kinds["same"]
    assert Encoding.kinds["attribute"] is Attribute


def test_an_encoding_without_randomness_hides_nothing():
    assert Same().worst_ratio(GRR(1.0, 4)) == GRR(1.0, 4).worst_ratio
