"""The last line of a scan: what it all means for the next run, in the user's terms."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment, RecordRole, Trial
from ckptctl.model.finding import Applicability, Finding, Severity
from ckptctl.report.words import count

_UNREADABLE = "CKP201"
_LOGS = frozenset({RecordRole.RESULT_LOG, RecordRole.PROGRESS})
Trials = Sequence[Trial]
Findings = Sequence[Finding]


def closing(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> str | None:
    """Say how much was found and what it costs; None where one experiment is clean."""
    levels = Counter(f.severity for f in findings)
    where = count(len(experiments), "experiment")
    if not levels[Severity.ERROR] and not levels[Severity.WARNING]:
        return None if len(experiments) == 1 else f"{where}, all clean."
    parts = [count(levels[s], str(s)) for s in (Severity.ERROR, Severity.WARNING) if levels[s]]
    sentences = [f"{', '.join(parts)} in {where}."]
    if cost := _cost(experiments, findings):
        sentences.append(cost)
    if mend := _mend(findings):
        sentences.append(mend)
    return " ".join(sentences)


def _cost(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> str:
    """The two worst things that would happen, each said once."""
    places = {(e.location, t.dirname): t for e in experiments for t in e.trials}
    said: list[str] = []
    logs = _unreadable_logs(experiments)
    dear = [
        f
        for f in findings
        if f.severity is Severity.ERROR
        and not (f.code == _UNREADABLE and (f.experiment, f.evidence[0].file) in logs)
    ]
    for codes, tell in _COSTS:
        hits = [f for f in dear if f.code in codes]
        keys = dict.fromkeys((f.experiment, f.trial or "") for f in hits)
        trials = [places[key] for key in keys if key in places]
        if hits and (text := tell(trials, hits)):
            said.append(text)
    if not said:
        return ""
    text = " and ".join(said[:2])
    return f"{text[0].upper()}{text[1:]}."


def _unreadable_logs(experiments: Sequence[Experiment]) -> set[tuple[str, str | None]]:
    """The result logs that cannot be read, which no restore needs, and where."""
    return {
        (experiment.location, problem.file)
        for experiment in experiments
        for own in (experiment.problems, *(trial.problems for trial in experiment.trials))
        for problem in own
        if problem.role in _LOGS
    }


def _overwrites(trials: Trials, _: Findings) -> str:
    number = sum(_newer(t) for t in trials)
    return f"the next saves would overwrite {count(number, 'checkpoint')}" if number else ""


def _newer(trial: Trial) -> int:
    book = trial.books.get(Witness.TRIAL)
    if book is None or book.latest_index is None:
        return 0
    recorded = book.latest_index.value
    return sum(c.index is not None and c.index > recorded for c in trial.folders)


def _cannot_restore(trials: Trials, _: Findings) -> str:
    if not trials:
        return "the experiment cannot be restored as it is"
    return f"a restore would fail for {count(len(trials), 'trial')}"


def _gone(trials: Trials, _: Findings) -> str:
    states = [c.state for t in trials for c in t.checkpoints]
    number = states.count(CheckpointState.MISSING)
    return f"{count(number, 'recorded checkpoint')} {'is' if number == 1 else 'are'} gone"


def _repeats(trials: Trials, _: Findings) -> str:
    return f"a restore of {count(len(trials), 'trial')} would repeat or lose iterations"


def _unusable(_: Trials, hits: Findings) -> str:
    number = len({(f.experiment, f.trial, name) for f in hits for name in f.checkpoints})
    return f"{count(number, 'checkpoint')} cannot be loaded whole" if number else ""


_COSTS: tuple[tuple[frozenset[str], Callable[[Trials, Findings], str]], ...] = (
    (frozenset({"CKP101"}), _overwrites),
    (frozenset({"CKP103", "CKP115"}), _cannot_restore),
    (frozenset({_UNREADABLE, "CKP204", "CKP206"}), _cannot_restore),
    (frozenset({"CKP104"}), _gone),
    (frozenset({"CKP111"}), _repeats),
    (frozenset({"CKP301", "CKP302", "CKP303"}), _unusable),
)


def _mend(findings: Sequence[Finding]) -> str:
    safe = [
        f
        for f in findings
        if f.severity is not Severity.INFO
        and f.remedy
        and f.remedy.applicability is Applicability.SAFE
    ]
    if not safe:
        return ""
    places = tuple(dict.fromkeys(f.experiment for f in safe))
    command = f"ckptctl reindex {shlex.quote(places[0])}" if len(places) == 1 else "reindex"
    serious = sum(f.severity is not Severity.INFO for f in findings)
    if len(safe) == serious:
        return f"{command} mends {'it' if serious == 1 else 'all of it'}."
    return f"{command} mends {len(safe)} of them."
