from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ckptctl.report import github, markdown
from ckptctl.report.cells import Table
from ckptctl.report.renderers import PLANS, SCAN
from tests.formats.scans import CORPUS, NASTY, hostile_plans, hostile_scan, scan_of

READER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
ALLOWED_HTML = ("<!-- -->", "<code>", "</code>")


def tokens(text: str) -> Iterator[Token]:
    for token in READER.parse(text):
        yield token
        yield from token.children or ()


def shape(text: str) -> list[str]:
    """What a reader takes the text for, with the texts left out."""
    return [t.type for t in tokens(text) if t.type not in ("text", "code_inline", "html_inline")]


def prose(text: str) -> Iterator[str]:
    """The texts that are not code, where GitHub looks for mentions and addresses."""
    before = ""
    for token in tokens(text):
        if token.type == "text" and before != "<code>":
            yield token.content
        before = token.content


def check(text: str) -> None:
    text.encode()
    found = list(tokens(text))
    assert not {t.type for t in found} & {"link_open", "image", "html_block", "em_open", "fence"}
    assert all(t.content in ALLOWED_HTML for t in found if t.type == "html_inline")


@pytest.mark.parametrize("name", CORPUS)
def test_a_scan_reads_as_markdown(name: str) -> None:
    scan = scan_of(name)
    text = SCAN["markdown"](scan)
    check(text)
    rows = sum(t.type == "tr_open" for t in tokens(text))
    assert rows == sum(len(e.trials) + 1 for e in scan.experiments)


RENDERERS: tuple[Callable[[str], str], ...] = (
    lambda t: SCAN["markdown"](hostile_scan(t)),
    lambda t: PLANS["markdown"](hostile_plans(t)),
    lambda t: github.summary(hostile_scan(t).experiments, hostile_scan(t).findings),
    lambda t: markdown.listing(Table(columns=("a", "b"), rows=((t, t),))),
)


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("text", NASTY)
def test_a_name_cannot_change_what_is_what(text: str, render: Callable[[str], str]) -> None:
    made = render(text)
    check(made)
    assert shape(made) == shape(render("plain"))
    assert not [t for t in prose(made) if "@someone" in t or "://" in t]
