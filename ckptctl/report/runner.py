"""Keeps names found on a disk from giving orders to the service that runs a CI job.

Such services read the output of a step and act on lines in it: GitHub Actions (and Gitea and
Forgejo, which speak the same) on lines that begin ``::`` and on ``##[`` anywhere, Azure Pipelines
on ``##vso[``, TeamCity on ``##teamcity[``. The format `github` gives such orders itself, and has
its own way of writing names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["guarded", "listens"]

_SERVICES = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
_LINE = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_ANYWHERE = re.compile(r"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)

_SPELLED = {"json": "\\u{:04x}", "jsonl": "\\u{:04x}", "sarif": "\\u{:04x}", "junit": "&#{};"}
"""How a format writes a character by its number; the others do as `escape.shown` does."""


def listens(environment: Mapping[str, str]) -> bool:
    """Whether such a service reads what is printed."""
    return any(environment.get(name) for name in _SERVICES)


def guarded(text: str, form: str) -> str:
    """Write an answer so that nothing in it is an order; its meaning stays, format by format."""
    if form == "github":
        return text
    spelled = _SPELLED.get(form, "\\x{:02x}").format
    text = _LINE.sub(lambda match: match[1] + spelled(ord(":")), text)
    return _ANYWHERE.sub(lambda _: spelled(ord("#")), text)


def path(text: str) -> str:
    """Write a path that begins like an order as one from the folder it lies in."""
    return f"./{text}" if text.lstrip().startswith("::") else text
