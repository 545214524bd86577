"""Text for a terminal, in colour."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from ckptctl.report.lines import Line, Style

_STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.DIM: "dim",
    Style.ERROR: "bold red",
    Style.WARNING: "yellow",
    Style.INFO: "dim",
}


def render(lines: Iterable[Line]) -> str:
    """Colour the lines. They are laid out already, so nothing wraps or is cut here."""
    # Names enter as Text, never as markup, and the width is no business of the console's.
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for row in lines:
            text = Text.assemble(*((span.text, _STYLES[span.style]) for span in row), end="")
            console.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)
    return capture.get()
