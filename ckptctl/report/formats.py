"""The formats that an answer can have, and which of them each verb gives. Imports no renderer."""

from __future__ import annotations

from collections.abc import Mapping

TEXT = "text"

SCAN = ("json", "jsonl", "tsv", "csv", "github", "sarif", "junit", "markdown")
PLANS = ("json", "jsonl", "tsv", "csv", "github", "markdown")
LISTINGS = ("json", "jsonl", "tsv", "csv", "markdown")

VERBS: Mapping[str, tuple[str, ...]] = {
    "scan": SCAN,
    "rename": PLANS,
    "reindex": PLANS,
    "migrate": PLANS,
    "apply": PLANS,
    "undo": PLANS,
    "resume": PLANS,
    "history": LISTINGS,
    "policy": LISTINGS,
    "diff": LISTINGS,
    "latest": LISTINGS,
    "best": LISTINGS,
    "rules": LISTINGS,
}

ALL = (TEXT, *SCAN)
"""Every format there is, in the order of the help."""


def of(verb: str) -> tuple[str, ...]:
    """List the formats of a verb."""
    return (TEXT, *VERBS.get(verb, ()))
