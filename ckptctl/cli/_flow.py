"""The way of every writing verb: print the plan, ask, apply, say what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckptctl.cli._console import Console
from ckptctl.cli._failure import refuse, report
from ckptctl.cli._progress import progress
from ckptctl.errors import CkptctlError, ExitCode, LocationError, UsageError
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Outcome, Plan

Planned = tuple[Experiment | None, Plan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """How far a call may go."""

    dry_run: bool = False
    yes: bool = False
    check: bool = False
    keep_going: bool = False
    allow_live: bool = False
    quiet_period: float = 60.0
    plan_out: str | None = None


def planned(
    locations: Sequence[str],
    make: Callable[[str], list[Planned]],
    console: Console,
    consent: Consent,
) -> tuple[list[Planned], list[CkptctlError]]:
    """Make all plans before anything is applied; with --keep-going, errors are only told."""
    plans: list[Planned] = []
    failures: list[CkptctlError] = []
    for location in locations:
        try:
            plans += make(location)
        except CkptctlError as error:
            if not consent.keep_going:
                raise
            report(error, console)
            failures.append(error)
    return plans, failures


def carry_out(
    command: str,
    plans: Sequence[Planned],
    console: Console,
    consent: Consent,
    failures: Sequence[CkptctlError] = (),
) -> ExitCode:
    """Show the plans, and apply what may be applied."""
    _show(plans, console, consent)
    _save(plans, consent.plan_out)
    refused = any(plan.refusals for _, plan in plans)
    ready = [(e, p) for e, p in plans if p.steps and not p.refusals]
    if consent.check or consent.dry_run or not ready or (refused and not consent.keep_going):
        _document(command, plans, {}, console)
        found = ExitCode.FINDINGS if consent.check and ready else ExitCode.DONE
        return _worst(found, refused, failures)
    if not consent.yes:
        console.confirm(_question(ready))
    outcomes: dict[str, Outcome] = {}
    errors = list(failures)
    try:
        for _, plan in ready:
            try:
                outcomes[plan.plan_id] = _apply(plan, console, consent)
            except CkptctlError as error:
                if not consent.keep_going:
                    raise
                report(error, console)
                errors.append(error)
    finally:
        if outcomes:
            _document(command, plans, outcomes, console)
    return _worst(ExitCode.DONE, refused, errors)


def _worst(found: ExitCode, refused: bool, failures: Sequence[CkptctlError]) -> ExitCode:
    if failures:
        return failures[0].exit_code
    return ExitCode.REFUSED if refused else found


def _question(ready: Sequence[Planned]) -> str:
    return "\nApply?" if len(ready) == 1 else f"\nApply these {len(ready)} plans?"


def _show(plans: Sequence[Planned], console: Console, consent: Consent) -> None:
    from ckptctl.report import plans as as_text
    from ckptctl.report.lines import BLANK, Line

    asks = not consent.yes and not consent.dry_run and not consent.check
    silent = console.json or console.quiet
    page = console.page(sys.stderr) if silent else console.answer_page
    lines: list[Line] = []
    for experiment, plan in plans:
        lines += [BLANK] if lines else []
        lines += as_text.render(plan, experiment, page)
    if not silent:
        console.answer(lines)
    elif asks:
        console.note(lines)
    for _, plan in plans:
        if plan.refusals:
            refuse(plan, console)


def _save(plans: Sequence[Planned], path: str | None) -> None:
    from ckptctl import api

    if path is None:
        return
    if len(plans) != 1:
        raise UsageError(
            f"--plan-out {path} holds one plan, and there are {len(plans)}",
            hint="name one experiment, or save them one by one",
        )
    try:
        with open(path, "wb") as file:
            file.write(api.plan_to_json(plans[0][1]))
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot write {path}: {reason}", location=path) from error


def _apply(plan: Plan, console: Console, consent: Consent) -> Outcome:
    from ckptctl import api
    from ckptctl.report import plans as as_text

    with progress(console, len(plan.steps)) as tick:
        done = api.apply(
            plan, allow_live=consent.allow_live, quiet_period=consent.quiet_period, progress=tick
        )
    if not console.json and not console.quiet:
        console.answer(as_text.outcome(plan, done))
    return done


def _document(
    command: str, plans: Sequence[Planned], outcomes: dict[str, Outcome], console: Console
) -> None:
    from ckptctl.report import document, json

    pairs = [(plan, outcomes.get(plan.plan_id)) for _, plan in plans]
    if console.json:
        console.write(json.render(document.plans_document(command, pairs)))
    elif console.quiet:
        console.paths(done.entry or plan.plan_id for plan, done in pairs if done)
