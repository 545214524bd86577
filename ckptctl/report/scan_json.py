"""The JSON of a scan, written trial by trial: the whole of a large one would fill the memory.

Joined, it is what `json.render` makes of the document, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding
from ckptctl.model.metrics import Packed
from ckptctl.report import document
from ckptctl.report.json import indented, quickly, spelled


def parts(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> Iterator[str]:
    """The text of the document, piece by piece."""
    yield f"{{\n  {_members(document.envelope('scan'), 1)},\n"
    yield '  "experiments": '
    yield from _listed(map(_experiment, experiments), 1)
    yield ',\n  "findings": '
    yield from _listed(([_finding(f)] for f in findings), 1)
    counts = indented(document.summary(experiments, findings), 1)
    yield f',\n  "summary": {counts}\n}}\n'


def _experiment(experiment: Experiment) -> Iterator[str]:
    yield f"{{\n      {_members(document.experiment_head(experiment), 3)},\n"
    yield '      "trials": '
    yield from _listed(([_trial(t)] for t in experiment.trials), 3)
    yield "\n    }"


def _trial(trial: Trial) -> str:
    told: Any = document.trial(trial, _metrics)
    if told["best"]:
        told["best"]["value"] = spelled(told["best"]["value"])
    text = quickly(told, 4)
    return indented(document.trial(trial), 4) if text is None else text


def _metrics(metrics: Sequence[Metrics]) -> list[object]:
    """What is text already as it is, and numbers that others write otherwise as text."""
    return [msgspec.Raw(m.text) if isinstance(m, Packed) else _spelled(m) for m in metrics]


def _spelled(metrics: Metrics) -> object:
    return {key: spelled(document.jsonable(value)) for key, value in metrics.items()}


def _finding(finding: Finding) -> str:
    text = quickly(document.finding_document(finding, list), 2)
    return indented(document.finding_document(finding), 2) if text is None else text


def _listed(items: Iterable[Iterable[str]], depth: int) -> Iterator[str]:
    """A list, whose brackets lie at a depth."""
    empty = True
    for item in items:
        yield ("[" if empty else ",") + "\n" + "  " * (depth + 1)
        yield from item
        empty = False
    yield "[]" if empty else "\n" + "  " * depth + "]"


def _members(values: document.Document, depth: int) -> str:
    """The members of an object at a depth, without its braces."""
    return indented(values, depth - 1)[1:-1].strip()
