"""An error as text: what failed, and what to do next."""

from __future__ import annotations

from ckptctl.errors import Cancelled, CkptctlError, RefusedError, StalePlanError
from ckptctl.report.lines import Line, Page, Span, Style, line

_SHOWN = 10


def render(error: CkptctlError, page: Page) -> list[Line]:
    """One sentence, its particulars, and a help line."""
    if isinstance(error, Cancelled):  # no error: somebody said No
        lines: list[Line] = [line(error.message)]
    else:
        lines = [line(Span("error: ", Style.ERROR), error.message)]
    details: tuple[str, ...] = ()
    if isinstance(error, RefusedError):
        details = error.reasons
    elif isinstance(error, StalePlanError):
        details = error.changed
    details = tuple(d for d in details if d not in error.message)
    told = details[:_SHOWN] if page.brief else details
    lines += [line(detail, indent=4) for detail in told]
    if left := len(details) - len(told):
        lines.append(line(f"{page.marks.dots} and {left} more", indent=4))
    if error.hint:
        lines.append(line(Span("help: ", Style.STRONG), error.hint, indent=2))
    return lines
