"""The way of every writing verb: print the plan, ask, apply, say what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from msgspec import Struct

from ckptctl.cli._console import Console
from ckptctl.cli._failure import refuse, report
from ckptctl.cli._progress import Bar, bar
from ckptctl.errors import CkptctlError, ExitCode, LocationError, UsageError
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Outcome, Plan

Planned = tuple[Experiment | None, Plan]

Act = Callable[[Plan, Bar | None], Outcome]
"""What is done about a plan once it may be."""
begun: list[Plan] = []
"""What the call has begun to apply: whoever is interrupted is told what became of it."""


class Consent(Struct, frozen=True, kw_only=True):
    """How far a call may go."""

    dry_run: bool = False
    yes: bool = False
    check: bool = False
    keep_going: bool = False
    allow_live: bool = False
    quiet_period: float = 60.0
    no_lock: bool = False
    plan_out: str | None = None
    executor: str = "local"


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
    *,
    failures: Sequence[CkptctlError] = (),
    act: Act | None = None,
    closes: bool = False,
) -> ExitCode:
    """Show the plans, and apply what may be applied.

    With `closes` a plan without steps is carried out too: of an apply that was interrupted
    before its first step only the journal is left to be closed.
    """
    act = act or applying(consent)
    _show(plans, console, consent)
    _save(plans, consent.plan_out)
    refused = any(plan.refusals for _, plan in plans)
    ready = [(e, p) for e, p in plans if (p.steps or closes) and not p.refusals]
    if consent.check or consent.dry_run or not ready or (refused and not consent.keep_going):
        _document(command, plans, {}, console)
        found = ExitCode.FINDINGS if consent.check and ready else ExitCode.DONE
        return _worst(found, refused, failures)
    errors = list(failures)
    ready = _at_rest(ready, console, consent, errors)
    if ready and not consent.yes:
        console.confirm(_question(ready))
    begun[:] = [plan for _, plan in ready]
    outcomes: dict[str, Outcome] = {}
    try:
        for _, plan in ready:
            try:
                outcomes[plan.plan_id] = _do(plan, act, console)
            except CkptctlError as error:
                if not consent.keep_going:
                    raise
                report(error, console)
                errors.append(error)
    finally:
        if outcomes:
            _document(command, plans, outcomes, console)
    unsure = any(done.applied and not done.verified for done in outcomes.values())
    return _worst(ExitCode.STOPPED if unsure else ExitCode.DONE, refused, errors)


def _at_rest(
    ready: Sequence[Planned], console: Console, consent: Consent, errors: list[CkptctlError]
) -> list[Planned]:
    """Leave out what a run may still be writing to, before anybody is asked."""
    from ckptctl import api

    if consent.allow_live:
        return list(ready)
    kept: list[Planned] = []
    for experiment, plan in ready:
        refusal = api.looks_alive(
            plan.location,
            experiment=experiment,
            quiet_period=consent.quiet_period,
            executor=consent.executor,
        )
        if refusal is None:
            kept.append((experiment, plan))
        elif consent.keep_going:
            report(refusal, console)
            errors.append(refusal)
        else:
            raise refusal
    return kept


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
    silent = console.structured or console.quiet
    page = console.page(sys.stderr) if silent else console.answer_page
    lines: list[Line] = []
    for experiment, plan in plans:
        if plan.refusals and not plan.steps:
            continue
        lines += [BLANK] if lines else []
        lines += as_text.render(plan, experiment, page)
    if not silent:
        console.answer(lines)
    elif asks and console.can_ask:
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


def applying(consent: Consent) -> Act:
    """Apply plans, as far as the call may go."""

    def act(plan: Plan, progress: Bar | None) -> Outcome:
        from ckptctl import api

        return api.apply(
            plan,
            allow_live=consent.allow_live,
            quiet_period=consent.quiet_period,
            no_lock=consent.no_lock,
            progress=progress,
            executor=consent.executor,
        )

    return act


def _do(plan: Plan, act: Act, console: Console) -> Outcome:
    from ckptctl.report import plans as as_text

    with bar(plan, console) as progress:
        done = act(plan, progress)
    if not console.structured and not console.quiet:
        console.answer(as_text.outcome(plan, done))
    return done


def _document(
    command: str, plans: Sequence[Planned], outcomes: dict[str, Outcome], console: Console
) -> None:
    pairs = [(plan, outcomes.get(plan.plan_id)) for _, plan in plans]
    if console.structured:
        from ckptctl.cli._github import summarise
        from ckptctl.report import github, renderers

        console.write(
            renderers.PLANS[console.form](renderers.Plans(command=command, planned=pairs))
        )
        summarise(github.plans_summary(pairs), console)
    elif console.quiet:
        console.paths(done.entry or plan.plan_id for plan, done in pairs if done)
