"""Text for pipes and files: whole names, no boxes, no escape codes."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.report.lines import Line


def render(lines: Iterable[Line]) -> str:
    """Join lines into text that ends in a newline, or into nothing."""
    return "".join("".join(span.text for span in row) + "\n" for row in lines)
