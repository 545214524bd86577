"""The stages of an experiment: side by side for people, setting by setting for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from ckptctl.model.finding import Finding
from ckptctl.report import findings as blocks
from ckptctl.report import words
from ckptctl.report.cells import Cell, Table
from ckptctl.report.document import Document, envelope, finding_document, jsonable
from ckptctl.report.lines import BLANK, Line, Page, Span, Style, aligned, line, wrap
from ckptctl.stages.runner import Applies
from ckptctl.stages.told import Setting, Stages, TrialStages

COLUMNS = (
    "experiment",
    "layout",
    "trial_id",
    "trial",
    "runner",
    "trainer",
    "stage",
    "setting",
    "value",
    "applies",
    "exact",
    "why",
    "file",
    "pointer",
)
_TITLES = {
    "lightning": "Lightning",
    "report": "report",
    "ray": "Ray CheckpointConfig",
    "tune": "TuneConfig",
}
_TOLD = {
    Applies.NO: "no effect",
    Applies.REFUSED: "refused",
    Applies.LOOP: "its loop",
}


class Policy(Struct, frozen=True, kw_only=True):
    """What `policy` found: the stages of each experiment, and where they disagree."""

    told: Sequence[tuple[Stages, Sequence[Finding]]]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all experiments."""
        return tuple(finding for _, found in self.told for finding in found)

    @property
    def document(self) -> Document:
        """The JSON document."""
        return {
            **envelope("policy"),
            "experiments": [_experiment(stages) for stages, _ in self.told],
            "findings": [finding_document(finding) for finding in self.findings],
        }


def render(policy: Policy, page: Page) -> list[Line]:
    """Each experiment stage by stage; trials that are set up alike are told once."""
    lines: list[Line] = []
    for stages, found in policy.told:
        lines += [BLANK] if lines else []
        version = f" ({stages.ray_version})" if stages.ray_version else ""
        facts = page.marks.dot.join(
            (words.layout(stages.layout) + version, words.count(len(stages.trials), "trial"))
        )
        lines.append(line(Span(stages.location, Style.STRONG), f"   {facts}"))
        for alike in _alike(stages.trials):
            lines += [BLANK, *_trials(alike, page)]
        names = {t.dirname: t.trial_id or t.dirname for t in stages.trials}
        lines += blocks.render(tuple(found), names, page)
    return lines


def _alike(trials: Sequence[TrialStages]) -> list[tuple[TrialStages, ...]]:
    groups: dict[tuple[object, ...], list[TrialStages]] = {}
    for trial in trials:
        groups.setdefault(trial.same_as, []).append(trial)
    return [tuple(group) for group in groups.values()]


_RANKS_BY = "checkpoint_score_attribute"


def _trials(alike: Sequence[TrialStages], page: Page) -> list[Line]:
    first = alike[0]
    names = [t.trial_id or t.dirname for t in alike]
    who = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    who = "the run" if who == "." else who
    what = f"{first.trainer}, a {first.runner}" if first.trainer else f"a {first.runner}"
    lines = [line(Span(f"{who}: {what}"), indent=2)]
    for number, (stage, settings) in enumerate(groupby(first.settings, lambda s: s.stage), 1):
        lines.append(line(Span(f"{number} {_TITLES[stage]}", Style.STRONG), indent=2))
        lines += aligned([_row(s) for s in settings], page, indent=4)
    for trial in alike:
        if trial.deleted_next:
            who = f" of {trial.trial_id or trial.dirname}" if len(alike) > 1 else ""
            ranked = any(s.name == _RANKS_BY and s.value for s in trial.settings)
            condition = ", if it ranks above" if ranked else ""
            told = f"the next save{who} deletes {', '.join(trial.deleted_next)}{condition}"
            lines += wrap(told, page, indent=2)
    return lines


def _row(setting: Setting) -> tuple[Span, ...]:
    mark = _TOLD.get(setting.applies, "" if setting.exact else "inferred")
    if setting.applies is Applies.REFUSED and not setting.value:
        mark = "not for it"
    style = Style.WARNING if setting.applies is Applies.NO and setting.value else Style.DIM
    value = "not set" if setting.value is None else str(setting.value)
    if setting.value is None and not setting.exact:
        value = "not known"
    return Span(setting.name), Span(value), Span(mark, style), Span(setting.why, Style.DIM)


def table(policy: Policy) -> Table:
    """One row for each setting of each trial."""
    rows: list[tuple[Cell, ...]] = []
    for stages, _ in policy.told:
        for trial in stages.trials:
            who = (stages.location, stages.layout, trial.trial_id, trial.dirname)
            what = (str(trial.runner), trial.trainer)
            rows += [(*who, *what, *_cells(setting)) for setting in trial.settings]
    return Table(columns=COLUMNS, rows=tuple(rows))


def _cells(setting: Setting) -> tuple[Cell, ...]:
    place = setting.provenance
    return (
        setting.stage,
        setting.name,
        setting.value,
        str(setting.applies),
        setting.exact,
        setting.why,
        place.file if place else None,
        place.pointer if place else None,
    )


def jsonl_items(document: Document) -> Iterator[Document]:
    """Each setting and each finding as an object of its own."""
    for experiment in _list(document, "experiments"):
        place = {"experiment": experiment["location"], "layout": experiment["layout"]}
        for trial in _list(experiment, "trials"):
            keys = ("trial_id", "dirname", "runner", "trainer")
            whose = {**place, **{key: trial[key] for key in keys}}
            for setting in _list(trial, "settings"):
                yield {"type": "setting", **whose, **setting}
    for finding in _list(document, "findings"):
        yield {"type": "finding", **finding}


def _list(holder: Document, key: str) -> list[Document]:
    found = holder[key]
    return found if isinstance(found, list) else []


def _experiment(stages: Stages) -> Document:
    return {
        "location": stages.location,
        "name": stages.name,
        "layout": stages.layout,
        "ray_version": stages.ray_version,
        "trials": [_trial(trial) for trial in stages.trials],
    }


def _trial(trial: TrialStages) -> Document:
    return {
        "trial_id": trial.trial_id,
        "dirname": trial.dirname,
        "runner": str(trial.runner),
        "trainer": trial.trainer,
        "settings": [_setting(setting) for setting in trial.settings],
        "deleted_next": list(trial.deleted_next),
    }


def _setting(setting: Setting) -> Document:
    place = setting.provenance
    return {
        "stage": setting.stage,
        "setting": setting.name,
        "value": jsonable(setting.value),
        "applies": str(setting.applies),
        "exact": setting.exact,
        "why": setting.why,
        "file": place.file if place else None,
        "pointer": place.pointer if place else None,
    }
