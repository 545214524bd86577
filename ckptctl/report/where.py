"""Places as programs name them: a path or URL of the file, and the line where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from ckptctl.codec.errors import PointerError
from ckptctl.codec.pointer import Pointer
from ckptctl.model.finding import Evidence, Finding

# What a path may hold unquoted: RFC 3986, without the colon, which would begin a scheme.
_PLAIN = "/!$&'()*+,;=@~"


def path(location: str, file: str) -> str:
    """Name a file of an experiment from where the user stands."""
    return location if file in ("", ".") else f"{location.rstrip('/')}/{file}"


def uri(location: str, file: str) -> str:
    """Name it as a URI reference: relative as given, absolute paths as ``file:`` URLs."""
    scheme, colon, rest = location.partition("://")
    if not colon:
        whole = path(location, file)
        return f"file://{_quoted(whole)}" if whole.startswith("/") else _quoted(whole)
    return f"{scheme}://{_quoted(path(rest, file))}"


def _quoted(text: str) -> str:
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, out of a record
        raw = text.encode("utf-8", "surrogatepass")
    return quote(raw, safe=_PLAIN)


def line_of(evidence: Evidence) -> int | None:
    """Find the line, from 1, in a log that has a record on each line."""
    try:
        first = Pointer.parse(evidence.pointer).levels[0]
    except PointerError:
        return None
    if not evidence.file.endswith(".json") or not first or not first[0].isdecimal():
        return None
    return int(first[0]) + 1


def main_evidence(evidence: Sequence[Evidence]) -> Evidence | None:
    """Choose where to look first: the first record, rather than a folder."""
    records = (e for e in evidence if e.pointer)
    return next(records, evidence[0] if evidence else None)


def folder_of(finding: Finding) -> str:
    """Name the folder that a finding is about, relative to the experiment."""
    parts = [finding.trial or "", finding.checkpoint or ""]
    return "/".join(p for p in parts if p and p != ".") or "."
