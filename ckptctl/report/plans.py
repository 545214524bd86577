"""A plan as text: the new names, the records that follow, and what became of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter

from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Edit, Outcome, Plan, Refusal, ReplaceFile
from ckptctl.report import overview
from ckptctl.report.document import jsonable
from ckptctl.report.lines import BLANK, Line, Page, Span, Style, aligned, line, wrap
from ckptctl.report.places import inside
from ckptctl.report.words import count

_RENAMES = 30
_EDITS = 8
_NOTES = 30
_VALUE = 48


def render(plan: Plan, experiment: Experiment | None, page: Page) -> list[Line]:
    """Lay out what a plan would do, or that there is nothing to do."""
    title = Span(_name(plan, experiment), Style.STRONG)
    if not plan.steps:
        left = "nothing to do" if plan.undoes is None else "no step is done; its journal is closed"
        return [line(title, f"   {left}"), *_notes(plan, page)]
    lines: list[Line] = [line(title, f"   {headline(plan)}")]
    lines += _renames(plan, experiment, page)
    if page.verbose or not (plan.renames or plan.notes):
        lines += _rewrites(plan.rewrites, page)
    return lines + _notes(plan, page)


def _name(plan: Plan, experiment: Experiment | None) -> str:
    return experiment.name if experiment else plan.location.rstrip("/").rpartition("/")[2]


def headline(plan: Plan) -> str:
    """Say in one line what a plan does."""
    files = count(len(plan.rewrites), "file")
    if plan.undoes is not None:
        return _undo_headline(plan)
    records = sum(len(step.edits) for step in plan.rewrites)
    if plan.renames:
        verb = "gets a new name" if len(plan.renames) == 1 else "get new names"
        text = f"{count(len(plan.renames), 'checkpoint')} {verb}"
        follow = "follows" if records == 1 else "follow"
        return f"{text}; {count(records, 'record')} in {files} {follow}" if records else text
    if plan.moves:
        text = f"{count(len(plan.moves), 'folder')} {'moves' if len(plan.moves) == 1 else 'move'}"
        return f"{text}; {count(records, 'record')} in {files} change" if records else text
    if not records:
        back = (
            "gets its earlier content" if len(plan.rewrites) == 1 else "get their earlier content"
        )
        return f"{files} {back} back"
    change = "changes" if records == 1 else "change"
    return f"{count(records, 'record')} in {files} {change}; no folder moves"


def _undo_headline(plan: Plan) -> str:
    parts = []
    for number, noun, what in (
        (len(plan.renames), "checkpoint", "name"),
        (len(plan.rewrites), "file", "content"),
    ):
        if number:
            verb, own = ("gets", "its") if number == 1 else ("get", "their")
            many = "s" if what == "name" and number != 1 else ""
            parts.append(f"{count(number, noun)} {verb} {own} earlier {what}{many} back")
    return "; ".join(parts) or f"{count(len(plan.moves), 'folder')} back where they were"


def _renames(plan: Plan, experiment: Experiment | None, page: Page) -> list[Line]:
    names = overview.labels(experiment) if experiment else {}
    latest = _latest(experiment)
    lines: list[Line] = [BLANK] if plan.renames else []
    for trial, group in groupby(plan.renames, key=itemgetter(0)):
        renames = list(group)
        told = renames[:_RENAMES] if page.brief else renames
        lines.append(line(names.get(trial, trial), indent=2))
        rows = [
            (
                Span(old),
                Span(page.marks.arrow, Style.DIM),
                Span(new),
                Span("latest" if latest.get(trial) == old else "", Style.DIM),
            )
            for _, old, new in told
        ]
        lines += aligned(rows, page, indent=4)
        if left := len(renames) - len(told):
            rest = f"{page.marks.dots} {left:,} more; -v lists all"
            lines.append(line(Span(rest, Style.DIM), indent=4))
    return lines


def _latest(experiment: Experiment | None) -> Mapping[str, str]:
    trials = experiment.trials if experiment else ()
    return {t.dirname: t.latest.name for t in trials if t.latest and t.latest.trial == t.dirname}


def _rewrites(steps: Sequence[ReplaceFile], page: Page) -> list[Line]:
    lines: list[Line] = [BLANK] if steps else []
    for step in steps:
        lines.append(line(step.file, indent=2))
        told = step.edits[:_EDITS] if page.brief else step.edits
        rows = [_edit(step.file, edit, page) for edit in told]
        lines += aligned(rows, page, indent=4)
        if left := len(step.edits) - len(told):
            rest = f"{page.marks.dots} {left} more in this file; -v lists all"
            lines.append(line(Span(rest, Style.DIM), indent=4))
    return lines


def _edit(file: str, edit: Edit, page: Page) -> tuple[Span, Span]:
    before, after = _short(edit.before, page), _short(edit.after, page)
    match edit.op:
        case "insert":
            text = f"+ {after}"
        case "remove":
            text = f"- {before}" if edit.before is not None else "-"
        case _:
            text = f"{before} {page.marks.arrow} {after}"
    return Span(inside(file, edit.pointer, page), Style.DIM), Span(text)


def _short(value: object, page: Page) -> str:
    """Show a value; of a whole record only its beginning, since the JSON has all of it."""
    text = value if isinstance(value, str) else json.dumps(jsonable(value), ensure_ascii=False)
    if isinstance(value, str) or len(text) <= _VALUE:
        return text
    return text[:_VALUE] + page.marks.dots


def _notes(plan: Plan, page: Page) -> list[Line]:
    """Say what the plan does beside the moves; of a long list a terminal shows the beginning."""
    told = plan.notes[:_NOTES] if page.brief else plan.notes
    lines: list[Line] = [BLANK] if told and not plan.renames else []
    lines += [row for note in told for row in wrap(page.marks.spelled(note), page, indent=2)]
    if left := len(plan.notes) - len(told):
        lines.append(
            line(Span(f"{page.marks.dots} {left} more; -v lists all", Style.DIM), indent=2)
        )
    return lines


def refusals(reasons: Sequence[Refusal], page: Page) -> list[Line]:
    """Say why a plan is not applied, and what would pass; help that is the same comes once."""
    lines: list[Line] = []
    for reason, following in zip_longest(reasons, reasons[1:]):
        lines.append(line(Span("error: ", Style.ERROR), f"refused: {reason.message}"))
        told = map(page.marks.spelled, reason.details or reason.checkpoints)
        lines += [line(detail, indent=4) for detail in told]
        if following is None or following.help != reason.help:
            lines += _help(reason.help)
    return lines


def _help(texts: Sequence[str]) -> Iterator[Line]:
    for number, text in enumerate(texts):
        start = Span("help: " if number == 0 else "      ", Style.STRONG)
        yield line(start, text, indent=2)


def outcome(plan: Plan, done: Outcome) -> list[Line]:
    """Say what became of a plan, and how to take it back."""
    if not done.applied:
        return [line("nothing was changed"), *(line(note, indent=2) for note in done.notes)]
    state = "done and verified" if done.verified else "done, but not as planned"
    notes = [line(note, indent=2) for note in done.notes]
    if plan.undoes is not None and plan.undoes == done.entry:  # it had not come to its end
        return [line(state), *notes]
    command = ["ckptctl", "undo", plan.location]
    if plan.undoes is not None and done.entry is not None:
        command.append(done.entry.partition("-")[2])
    back = "Take it back" if plan.undoes is None else "Do it again"
    return [line(f"{state}. {back}: {shlex.join(command)}"), *notes]
