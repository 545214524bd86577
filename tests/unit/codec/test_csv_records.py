"""CSV cells by row and column."""

from __future__ import annotations

import csv
import io
import itertools

import pytest

from ckptctl.codec.csv_records import CsvText, is_plainly_csv, read_column
from ckptctl.codec.errors import EditError, PointerError, RecordError

TEXT = 'n,name,"a ""b"", c"\r\n1,x,"1,5"\r\n\r\n2,"two\r\nlines",\r\n3\r\n4,"y"z,last'


def test_cells() -> None:
    source = CsvText(TEXT)
    assert len(source) == 4
    assert source.columns == {"n": 0, "name": 1, 'a "b", c': 2}
    assert source.get(0, 'a "b", c') == "1,5"
    assert source.get(1, "name") == "two\r\nlines"
    assert source.get(1, 'a "b", c') == ""
    assert source.get(3, "name") == "yz"
    assert source.get(3, 'a "b", c') == "last"
    start, end = source.find(1, "name")
    assert TEXT[start:end] == '"two\r\nlines"'
    start, end = source.row_span(2)
    assert TEXT[start:end] == "3\r\n"


@pytest.mark.parametrize(("row", "column"), [(4, "n"), (-1, "n"), (0, "nope"), (2, "name")])
def test_no_such_cell(row: int, column: str) -> None:
    with pytest.raises(PointerError):
        CsvText(TEXT).find(row, column)
    if row not in (0, 2):
        with pytest.raises(PointerError):
            CsvText(TEXT).row_span(row)


def test_columns() -> None:
    assert read_column(TEXT.encode(), "name") == ((0, "x"), (1, "two\r\nlines"), (3, "yz"))
    assert read_column(TEXT.encode(), "nope") == ()
    assert read_column(b"", "n") == ()
    assert read_column(b"n\n", "n") == ()
    assert read_column(b"n\n1", "n") == ((0, "1"),)
    for data in (b"n\n\xff\n", b'n\n"open\n'):
        with pytest.raises(RecordError):
            read_column(data, "n")


def test_what_is_plainly_csv_by_its_quotes_can_be_read() -> None:
    told = 0
    for length in range(8):
        for characters in itertools.product('a,"\n\r', repeat=length):
            text = "".join(characters)
            if is_plainly_csv(text.encode()):
                told += '"' in text
                CsvText(text)
    assert told > 1000


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_quotes_around_commas_are_plainly_csv(newline: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=newline)
    writer.writerows([["n", "tag, whole"], [1, "1_lr=0.1,bs=2"], ["a,b", "c,d"], ["[1, 2]", "ü"]])
    assert out.getvalue().count('"') == 10
    assert is_plainly_csv(out.getvalue().encode())


@pytest.mark.parametrize(
    "data",
    [
        b'n\n"open\n',
        b'n\na"b\n',
        b'n\n"a""b"\n',
        b'n\n"a"b\n',
        b'n,m\n"a",1\rx\n',
        b'n\n"a"\r',
        b"n\n\xff\n",
    ],
)
def test_what_has_to_be_looked_at_closer_is_not_plainly_csv(data: bytes) -> None:
    assert not is_plainly_csv(data)


def test_values_as_cells() -> None:
    source = CsvText('a,b\nx,"y"\n')
    bare, quoted = source.find(0, "a"), source.find(0, "b")
    assert source.cell_text(bare, "z") == "z"
    assert source.cell_text(quoted, "z") == '"z"'
    assert source.cell_text(bare, 'a,"b"\n') == '"a,""b""\n"'
    assert [source.cell_text(bare, value) for value in (None, True, 1, 0.5)] == [
        "",
        "True",
        "1",
        "0.5",
    ]
    with pytest.raises(EditError):
        source.cell_text(bare, [1])


def test_no_text_takes_for_ever() -> None:
    """All of six characters, of those that mean something."""
    for size in range(7):
        for characters in itertools.product('a,"\r\n', repeat=size):
            text = "".join(characters)
            try:
                made = CsvText(text)
            except RecordError:
                continue
            spans = [made.row_span(row) for row in range(len(made))]
            assert all(start < end for start, end in spans)
            assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
