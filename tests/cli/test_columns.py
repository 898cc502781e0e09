"""Columns of a file as text: CSV and Parquet give the same, and a bad file is named by its line."""

import pytest

from sottovoce.cli import columns
from sottovoce.errors import CodecError, NoDataError, ParameterError


@pytest.fixture
def save(tmp_path):
    """Write bytes to a file."""

    def save(content):
        (tmp_path / "data").write_bytes(content)
        return tmp_path / "data"

    return save


def test_named_columns_are_read_in_the_order_asked_and_empty_cells_are_nothing(save):
    path = save(b"\xef\xbb\xbfage,pet,home\n30,cat,\n\n41,,flat\n")
    assert columns.read(path, ["pet", "age"]) == {"pet": ["cat", None], "age": ["30", "41"]}


def test_parquet_gives_the_same_text_as_csv(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "data.parquet"
    rows = "(values (30, ['a', 'b']), (41, null)) as people (age, items)"
    duckdb.sql(f"copy (select * from {rows}) to '{path}' (format parquet)")
    assert columns.read(path, ["age", "items"], "|") == {
        "age": ["30", "41"],
        "items": ["a|b", None],
    }


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (b"age,pet\n", NoDataError, "no rows"),
        (b"age,pet\n1,cat\n2\n", CodecError, "line 3 of the file has 1 cells"),
        (b"age,pet\n1,\xff\n", CodecError, "not CSV in UTF-8"),
        (b'age,pet\n1,"cat\n', CodecError, "not CSV in UTF-8"),
        (b"age,home\n1,flat\n", ParameterError, "exactly one column 'pet'"),
        (b"age,pet,pet\n1,cat,dog\n", ParameterError, "exactly one column 'pet'"),
        (b"PAR1 and nothing else", CodecError, "cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_clear_error(save, content, error, said):
    with pytest.raises(error, match=said):
        columns.read(save(content), ["age", "pet"])


def test_empty_lines_are_empty_cells_of_a_single_column(tmp_path):
    """But for those at the end of the file, which editors leave."""
    path = tmp_path / "cities.csv"
    path.write_text("city\nRome\n\n\nOslo\n\n")
    assert columns.read(path, ["city"]) == {"city": ["Rome", None, None, "Oslo"]}
    path.write_text("city,age\nRome,3\n\nOslo,4\n")
    assert columns.read(path, ["city"]) == {"city": ["Rome", "Oslo"]}
