"""JSON lines: one object a line, each with its `type`. For ``jq``, ``grep`` and long lists.

The first line is the `header`. The objects are those of the JSON documents, with their lists taken
out; what held them is named instead, so that each line can be read alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ckptctl.report import listings
from ckptctl.report import policy as stages
from ckptctl.report.document import Document
from ckptctl.report.json import render_line

_HEAD = ("format_version", "tool", "command")


def scan(document: Document) -> str:
    """Write a header, each experiment with its trials and checkpoints, findings, a summary."""
    lines = [_header(document)]
    for experiment in _list(document, "experiments"):
        lines += _experiment(experiment)
    lines += [{"type": "finding", **finding} for finding in _list(document, "findings")]
    lines.append({"type": "summary", **cast("Document", document["summary"])})
    return _text(lines)


def _experiment(experiment: Document) -> Iterator[Document]:
    place = {"experiment": experiment["location"]}
    yield {"type": "experiment", **_without(experiment, "trials")}
    for trial in _list(experiment, "trials"):
        yield {"type": "trial", **place, **_without(trial, "checkpoints")}
        whose = {**place, "trial_id": trial["trial_id"], "trial": trial["dirname"]}
        for checkpoint in _list(trial, "checkpoints"):
            yield {"type": "checkpoint", **whose, **checkpoint}


def plans(document: Document) -> str:
    """Write a header, and each plan with its steps and its refusals."""
    lines = [_header(document)]
    for plan in _list(document, "plans"):
        whose = {"plan_id": plan["plan_id"], "location": plan["location"]}
        lines.append({"type": "plan", **_without(plan, "steps", "refusals")})
        lines += [{"type": "step", **whose, **step} for step in _list(plan, "steps")]
        lines += [{"type": "refusal", **whose, **reason} for reason in _list(plan, "refusals")]
    return _text(lines)


def policy(document: Document) -> str:
    """Write a header, each setting of each trial, and the findings."""
    return _text([_header(document), *stages.jsonl_items(document)])


def listing(document: Document) -> str:
    """Write a header, and one line for each item of the list."""
    rest = _without(document, *_HEAD, listings.list_name(document))
    kind = listings.item_type(document)
    lines = [{"type": kind, **rest, **item} for item in listings.items(document)]
    return _text([_header(document), *lines])


def _header(document: Document) -> Document:
    return {"type": "header", **{key: document[key] for key in _HEAD}}


def _list(document: Document, key: str) -> list[Document]:
    return cast("list[Document]", document[key])


def _without(document: Document, *keys: str) -> Document:
    return {key: value for key, value in document.items() if key not in keys}


def _text(lines: list[Document]) -> str:
    return "".join(map(render_line, lines))
