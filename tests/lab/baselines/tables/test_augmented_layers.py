"""The layers of AMG are those of a rounding family that hold a coin."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.augmented_layers import AugmentedLayers
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.tasks.families.base import Family

TABLE = sv.Table({"a": range(6), "b": ["x", "y"], "c": range(4)})


def family(method, table=TABLE):
    return PublishedTables(table, method).layout(1.0).factors[0].slots[0].family


def test_every_member_has_single_values_and_the_coin_of_its_group():
    layers = family("amg")
    assert isinstance(layers, AugmentedLayers)
    cells = [layers[member].encoding for member in range(len(layers))]
    assert [cell.rounded for cell in cells] == [(0,), (2,)]
    assert {cell.widths for cell in cells} == {(1, 1, 1)}
    assert {cell.cells for cell in cells} == {6 * 2 * 4 * 2}
    assert [mechanism.size for mechanism in layers.mechanisms] == [96]


def test_lists_also_hold_whether_the_record_counts():
    layers = family("amg", sv.Table({"a": range(6)}, most=3))
    assert [(layers[0].encoding.weighted, layers[0].encoding.cells)] == [(True, 6 * 2 * 2)]


def test_they_are_made_of_one_width_and_one_coin_only():
    refused = {"hio": "`rounding`", "ahio": "each entry of `widths`", "ehio": "`rounding`"}
    for method, setting in refused.items():
        with pytest.raises(ParameterError, match=f"^{setting}"):
            AugmentedLayers.of_family(family(method))
    with pytest.raises(ParameterError, match="unknown family kind"):
        Family.kinds["augmented_layers"]
