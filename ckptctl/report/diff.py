"""Two places side by side: one mark a line."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.diff import Compared, Comparison, Mark
from ckptctl.report.document import Document, envelope
from ckptctl.report.lines import Line, Span, Style, line
from ckptctl.report.words import count

_STYLES = {Mark.DIFFERS: Style.WARNING, Mark.ONLY_A: Style.STRONG, Mark.ONLY_B: Style.STRONG}


def render(files: Iterable[Compared]) -> list[Line]:
    """One line for each name: its mark, a space, and the name."""
    return [line(Span(one.mark, _STYLES.get(one.mark, Style.DIM)), f" {one.path}") for one in files]


def summary(found: Comparison) -> Line:
    """Everything in one sentence."""
    differ = found.count(Mark.DIFFERS)
    parts = [
        (found.count(Mark.SAME), "the same"),
        (differ, "differs" if differ == 1 else "differ"),
        (found.count(Mark.ONLY_A), f"only in {found.a}"),
        (found.count(Mark.ONLY_B), f"only in {found.b}"),
    ]
    told = [f"{number:,} {what}" for number, what in parts if number]
    return line(f"{count(len(found.files), 'file')}: {', '.join(told)}" if told else "no files")


def document(found: Comparison) -> Document:
    """The JSON document."""
    return {
        **envelope("diff"),
        "a": found.a,
        "b": found.b,
        "identical": found.identical,
        "files": [
            {
                "mark": str(one.mark),
                "path": one.path,
                "size_a": one.size_a,
                "size_b": one.size_b,
                "reason": one.reason,
            }
            for one in found.files
        ],
        "summary": {
            "same": found.count(Mark.SAME),
            "differ": found.count(Mark.DIFFERS),
            "only_a": found.count(Mark.ONLY_A),
            "only_b": found.count(Mark.ONLY_B),
        },
    }
