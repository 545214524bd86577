"""The way of a scan: read, check, leave out what is known, answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.cli._console import Console
from ckptctl.cli._progress import counter
from ckptctl.cli._settings import LEVELS, Settings
from ckptctl.errors import CkptctlError, ExitCode, LocationError, UsageError
from ckptctl.model.finding import Finding
from ckptctl.report.lines import line
from ckptctl.report.renderers import Scan
from ckptctl.report.words import count


class Asked(Struct, frozen=True, kw_only=True):
    """What a call of `scan` asks."""

    locations: Sequence[str]
    layout: str | None
    trial: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str
    baseline: str | None
    write_baseline: str | None
    for_ray: str | None
    for_pyarrow: str | None
    deep: bool
    executor: str
    html: str | None


def carry_out(asked: Asked, console: Console, settings: Settings) -> ExitCode:
    """Scan every location, and answer for all of them at once."""
    _check_codes(settings)
    found, failures = _gather(asked, console, settings)
    if failures and len(asked.locations) == 1:
        raise failures[0]
    baseline = asked.baseline
    if asked.write_baseline is not None and not failures:
        from ckptctl.cli import _baseline

        baseline = asked.write_baseline
        _baseline.write(baseline, found.findings, found.experiments)
        console.note([line(f"{baseline} has {count(len(found.findings), 'finding')} now")])
    if baseline is not None:
        found = _without(baseline, found, console)
    bad = [f for f in found.findings if f.severity.rank <= _limit(asked.fail_on)]
    _answer(found, bad, console)
    if console.verbose:
        _tell_reasons(asked, console, settings)
    if asked.html is not None:
        _page(found, asked.html)
    if failures:
        from ckptctl.cli._failure import report

        for failure in failures:
            report(failure, console)
        return failures[0].exit_code
    return ExitCode.FINDINGS if bad else ExitCode.DONE


def _limit(fail_on: str) -> int:
    return -1 if fail_on == "never" else LEVELS.index(fail_on)


def _check_codes(settings: Settings) -> None:
    """Refuse a word in a file that is no rule, and say where it stands."""
    from ckptctl import api

    for word in (*settings.reasons, *settings.severities):
        try:
            api.rules(select=[word])
        except UsageError as error:
            raise UsageError(f"{settings.file}: {error.message}", hint=error.hint) from error


def _gather(asked: Asked, console: Console, settings: Settings) -> tuple[Scan, list[CkptctlError]]:
    from ckptctl import api

    experiments, findings, failures = [], [], []
    with counter(console) as watch:
        for location in asked.locations:
            try:
                audited = api.audit(
                    location,
                    layout=asked.layout,
                    trial=asked.trial,
                    select=asked.select,
                    ignore=asked.ignore,
                    severities=settings.severities,
                    for_ray=asked.for_ray,
                    for_pyarrow=asked.for_pyarrow,
                    digests=False,
                    deep=asked.deep,
                    executor=asked.executor,
                    required=settings.required,
                    watch=watch,
                )
            except CkptctlError as error:
                failures.append(error)
                continue
            experiments += [experiment for experiment, _ in audited]
            findings += [finding for _, own in audited for finding in own]
    rules = api.rules(select=asked.select, ignore=asked.ignore)
    return Scan(experiments=experiments, findings=findings, rules=rules), failures


def _without(path: str, found: Scan, console: Console) -> Scan:
    from ckptctl.cli import _baseline

    judged = _baseline.against(path, found.findings, found.experiments)
    told = [f"{count(judged.old, 'finding')} of before left out, by {path}"] if judged.old else []
    if judged.gone:
        told.append(f"{count(judged.gone, 'finding')} of {path} found no more")
    if not console.quiet:
        console.note([line(text) for text in told])
    return replace(found, findings=judged.new)


def _tell_reasons(asked: Asked, console: Console, settings: Settings) -> None:
    told = [(code, why) for code, why in settings.reasons.items() if code in asked.ignore]
    console.note([line(f"{code} is left out: {why} ({settings.file})") for code, why in told])


def _answer(found: Scan, bad: Sequence[Finding], console: Console) -> None:
    if console.form == "json":
        console.write_all(found.json)
    elif console.structured:
        from ckptctl.report import renderers

        console.write(renderers.SCAN[console.form](found))
        if console.form == "github":
            _summarise(found, console)
    elif console.quiet:
        console.paths(dict.fromkeys(f.experiment for f in bad))
    else:
        from ckptctl.report import scan as as_text

        console.answer(as_text.render(found.experiments, found.findings, console.answer_page))


def _summarise(found: Scan, console: Console) -> None:
    from ckptctl.cli._github import summarise
    from ckptctl.report import github

    summarise(github.summary(found.experiments, found.findings), console)


def _page(found: Scan, path: str) -> None:
    from ckptctl.report import html

    text = html.scan(found.experiments, found.findings, found.rules)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot write {path}: {reason}", location=path) from error
