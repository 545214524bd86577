from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptctl.report.escape import shown
from ckptctl.report.lines import Span, line
from ckptctl.report.plain import render as as_plain
from ckptctl.report.text import render as as_text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("checkpoint_000007-0.25", "checkpoint_000007-0.25"),
        ("lr=0.1 [bold]x[/bold] :smile:", "lr=0.1 [bold]x[/bold] :smile:"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("bytes\udcff\udc80", "bytes\\xff\\x80"),
        ("\ud800", "\\ud800"),
        ("rtl\u202egpj", "rtl\\u202egpj"),
        ("line\u2028sep", "line\\u2028sep"),
        ("größe_模型", "größe_模型"),
    ],
)
def test_what_a_terminal_would_act_on_is_written_out(name: str, expected: str) -> None:
    assert shown(name) == expected


@given(st.text(st.characters(codec=None, categories=None)))
def test_nothing_that_acts_gets_through_in_either_rendering(name: str) -> None:
    for render in (as_plain, as_text):
        text = render([line(Span(name))])
        assert text.endswith("\n")
        body = text[:-1]
        assert not {unicodedata.category(c) for c in body} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert body == shown(name)


def test_a_name_is_never_markup() -> None:
    assert "[red]x[/red]" in as_text([line("[red]x[/red]")])
    assert "[/nothing]" in as_text([line("[/nothing]")])
