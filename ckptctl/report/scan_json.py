"""The JSON of a scan, written trial by trial: the whole of a large one would fill the memory.

Joined, it is what `json.render` makes of the document, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint, Metrics
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding
from ckptctl.model.metrics import texts_of
from ckptctl.report import document
from ckptctl.report.json import indented, quickly, spelled

T = TypeVar("T")
_MANY = 10_000
"""Checkpoints or rows of a trial that are written at once."""
_NO_CHECKPOINTS = '"checkpoints": []'
"""Where a list of checkpoints is empty; within a text the quotes would be escaped."""


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
    yield from _listed(map(_trial, experiment.trials), 3)
    yield "\n    }"


def _trial(trial: Trial) -> Iterator[str]:
    if max(len(trial.checkpoints), len(trial.rows)) > _MANY:
        yield from _long_trial(trial)
    else:
        yield _short_trial(trial)


def _long_trial(trial: Trial) -> Iterator[str]:
    """The same, with what may be millions of names in parts."""
    books = {witness: trial.books.get(witness) for witness in Witness}
    told = {witness: book for witness, book in books.items() if book is not None}
    bare = {witness: replace(book, checkpoints=()) for witness, book in told.items()}
    between = _short_trial(replace(trial, checkpoints=(), books=bare)).split(_NO_CHECKPOINTS)
    lists = [
        _chunks(trial.checkpoints, 5, document.checkpoints, _quick_checkpoints),
        *(_chunks(book.names, 7, list, list) for book in told.values()),
    ]
    yield between[0]
    for chunks, after in zip(lists, between[1:], strict=True):
        yield _NO_CHECKPOINTS.removesuffix("[]")
        yield from chunks
        yield after


def _chunks(
    values: Sequence[T],
    depth: int,
    plain: Callable[[Sequence[T]], list[Any]],
    quick: Callable[[Sequence[T]], list[Any]],
) -> Iterator[str]:
    """A list that lies at a depth, a part of it at a time."""
    for start in range(0, len(values), _MANY):
        part = values[start : start + _MANY]
        text = quickly(quick(part), depth) or indented(plain(part), depth)
        yield "[" if start == 0 else ","
        yield text[1:].rpartition("\n")[0]
    yield "\n" + "  " * depth + "]" if values else "[]"


def _quick_checkpoints(checkpoints: Sequence[Checkpoint]) -> list[document.Document]:
    return document.checkpoints(checkpoints, _metrics)


def _short_trial(trial: Trial) -> str:
    told: Any = document.trial(trial, _metrics)
    if told["best"]:
        told["best"]["value"] = spelled(told["best"]["value"])
    text = quickly(told, 4)
    return indented(document.trial(trial), 4) if text is None else text


def _metrics(metrics: Sequence[Metrics]) -> list[object]:
    """What is text already as it is, and numbers that others write otherwise as text."""
    return [msgspec.Raw(m) if isinstance(m, bytes) else _spelled(m) for m in texts_of(metrics)]


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
