from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptctl.report import csv, tsv
from ckptctl.report.cells import Cell, Table, written

ESCAPED = re.compile(r"\\(\\|n|r|t|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
SHORT = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(text: str) -> str:
    return ESCAPED.sub(lambda m: SHORT.get(m[1]) or chr(int(m[1][1:], 16)), text)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-3, "-3"),
        (0.25, "0.25"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ("a b", "a b"),
        ("a\tb\nc\\d", "a\\tb\\nc\\\\d"),
        ("=1+1", "\\x3d1+1"),
        ("-x", "\\x2dx"),
        ("@x", "\\x40x"),
        ("\uff1dx", "\\uff1dx"),
        ("\x1b[0m", "\\x1b[0m"),
        ("\udcff", "\\xff"),
        ("größe", "größe"),
    ],
)
def test_a_cell_is_written_in_one_way(cell: Cell, text: str) -> None:
    assert written(cell) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whoever_undoes_the_escapes_has_the_name(name: str) -> None:
    assert unescaped(written(name)) == name


@given(st.text(st.characters()))
def test_no_text_begins_a_formula_or_a_line(name: str) -> None:
    text = written(name)
    assert text[:1] not in tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
    assert len(text.splitlines()) <= 1
    assert "\t" not in text
    text.encode()


TABLE = Table(columns=("a", "b"), rows=(('x,"y', "1;2"), (None, "plain text")))


def test_tsv_quotes_nothing() -> None:
    assert tsv.render(TABLE) == 'a\tb\nx,"y\t1;2\n\tplain text\n'


def test_csv_quotes_what_would_be_taken_apart() -> None:
    assert csv.render(TABLE) == 'a,b\n"x,""y","1;2"\n,plain text\n'
