from __future__ import annotations

from ckptctl.report.lines import Page, Span, columns, line, spread, table, wrap
from ckptctl.report.plain import render

PIPE = Page()


def rows(*texts: tuple[str, ...]) -> list[list[Span]]:
    return [[Span(t) for t in row] for row in texts]


def test_columns_align_by_what_is_seen() -> None:
    text = render(table(("trial", "n"), rows(("模型_00", "3"), ("abc", "12")), PIPE))
    assert [columns(row.rpartition("  ")[0]) for row in text.splitlines()] == [9, 9, 9]


def test_combining_marks_take_no_column() -> None:
    assert columns("e\u0301") == 1


def test_a_table_too_wide_for_the_page_is_stacked_and_whole() -> None:
    name = "train_fn_c08b9_00000_0_lr=0.1_2026-11-30_10-37-15"
    lines = table(("trial", "latest"), rows((name, "checkpoint_000007")), Page(width=40))
    assert render(lines) == f"  {name}\n    latest  checkpoint_000007\n"


def test_a_pipe_has_no_width() -> None:
    name = "x" * 300
    assert name in render(table(("trial", "latest"), rows((name, name)), PIPE))


def test_sentences_wrap_at_a_terminal_only() -> None:
    text = "the next save would overwrite checkpoint_000078 and checkpoint_000079"
    assert len(wrap(text, PIPE, indent=2)) == 1
    wrapped = render(wrap(text, Page(width=40), indent=2))
    assert all(len(row) <= 40 for row in wrapped.splitlines())
    assert wrapped.split() == text.split()


def test_a_word_longer_than_the_page_stays_whole() -> None:
    assert "y" * 90 in render(wrap("z " + "y" * 90, Page(width=40), indent=2))


def test_the_verdict_goes_below_where_there_is_no_room() -> None:
    left, right = line("tune_lr   Ray Tune 2.8+"), line("clean")
    assert render(spread(left, right, Page(width=40))).endswith("   clean\n")
    assert len(spread(left, right, Page(width=20))) == 2
