"""For the tests of others: a location has to be clean, or the findings are the failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ckptctl.api.reading import audit
from ckptctl.model.finding import Severity


def assert_clean(
    location: str,
    *,
    fail_on: Literal["error", "warning", "info"] = "error",
    trial: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    deep: bool = False,
) -> None:
    """Raise AssertionError with the findings as text, unless there are none that bad.

    What cannot be scanned at all raises as in `scan`.
    """
    __tracebackhide__ = True
    from ckptctl.report import plain
    from ckptctl.report import scan as as_text
    from ckptctl.report.lines import Page

    limit = Severity(fail_on).rank
    pairs = audit(location, trial=trial, select=select, ignore=ignore, deep=deep)
    bad = [f for _, found in pairs for f in found if f.severity.rank <= limit]
    if bad:
        whole = [experiment for experiment, _ in pairs]
        raise AssertionError(plain.render(as_text.render(whole, bad, Page())))
