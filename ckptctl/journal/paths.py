"""Where the journal keeps things, and which paths a plan may name."""

from __future__ import annotations

import re

from ckptctl.errors import RefusedError

OWN = ".ckptctl"
"""ckptctl's folder inside an experiment."""
JOURNAL = f"{OWN}/journal"
LOCK = f"{OWN}/lock.json"
TEMPORARY = f"{OWN}/tmp"  # noqa: S108  # inside the experiment
"""Where the folders of a swap wait for their turn."""
QUARANTINE = f"{OWN}/quarantine"
"""Where folders are moved aside to."""

_OPEN_TO_PLANS = frozenset({"tmp", "quarantine"})
_ENTRY = re.compile(r"(\d{4,})-([0-9a-f]{12})")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def entry_name(sequence: int, plan_id: str) -> str:
    """The folder name of a journal entry."""
    return f"{sequence:04d}-{plan_id}"


def parse_entry_name(name: str) -> tuple[int, str] | None:
    """The sequence number and plan id of an entry's folder, or None."""
    found = _ENTRY.fullmatch(name)
    return (int(found.group(1)), found.group(2)) if found else None


def is_sha256(text: str) -> bool:
    """Whether this is a SHA-256 in hex."""
    return _SHA256.fullmatch(text) is not None


def check_path(path: str) -> str:
    """A path that a plan may read, move or rewrite.

    Raises:
        RefusedError: it is absolute, leads upward, or lies in ckptctl's own folder
            outside its tmp and quarantine.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise RefusedError(f"plan is unsafe: {path!r}: not a path inside the experiment")
    # Some file systems do not tell upper case from lower case.
    own = [part.casefold() == OWN for part in parts]
    allowed = own[0] and len(parts) > 2 and parts[0] == OWN and parts[1] in _OPEN_TO_PLANS
    if any(own[1:]) or (own[0] and not allowed):
        raise RefusedError(f"plan is unsafe: {path!r}: lies in ckptctl's own folder")
    return path


def is_own(path: str) -> bool:
    """Whether a path lies in ckptctl's own folder."""
    return path == OWN or path.startswith(f"{OWN}/")


def parents(path: str) -> tuple[str, ...]:
    """The folders above a path, innermost first, without the experiment itself."""
    found: list[str] = []
    while "/" in path:
        path = path.rpartition("/")[0]
        found.append(path)
    return tuple(found)
