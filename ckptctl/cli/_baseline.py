"""Findings of before: a file of fingerprints, which do not depend on where an experiment lies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ckptctl.errors import LocationError, UsageError
from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding

_FORMAT = 1


class Sorted(Struct, frozen=True, kw_only=True):
    """Findings, by whether a baseline has them."""

    new: tuple[Finding, ...]
    old: int
    gone: int
    """How many of the baseline are found no more."""


def against(path: str, findings: Sequence[Finding], experiments: Sequence[Experiment]) -> Sorted:
    """Leave out the findings that a baseline has."""
    from ckptctl.report.fingerprints import fingerprints

    known = _read(path)
    prints = fingerprints(findings, experiments)
    pairs = list(zip(findings, prints, strict=True))
    new = tuple(finding for finding, fingerprint in pairs if fingerprint not in known)
    return Sorted(new=new, old=len(pairs) - len(new), gone=len(known.keys() - set(prints)))


def write(path: str, findings: Sequence[Finding], experiments: Sequence[Experiment]) -> None:
    """Write a baseline that has all of these findings, in an order that diffs well."""
    from ckptctl.report.fingerprints import fingerprints

    names = {e.location: e.name for e in experiments}
    entries = [
        (" ".join(_words(finding, names)), fingerprint)
        for finding, fingerprint in zip(findings, fingerprints(findings, experiments), strict=True)
    ]
    document = {"format": _FORMAT, "findings": {print_: text for text, print_ in sorted(entries)}}
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2) + "\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot write {path}: {reason}", location=path) from error


def _words(finding: Finding, names: Mapping[str, str]) -> list[str]:
    parts = [finding.code, names.get(finding.experiment, ""), finding.trial, finding.checkpoint]
    return [part for part in parts if part]


def _read(path: str) -> Mapping[str, object]:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot read the baseline {path}: {reason}",
            hint=f"--write-baseline {path} makes one of what is found now",
            location=path,
        ) from error
    except (ValueError, RecursionError) as error:
        from ckptctl.api import reason_of

        raise _no_baseline(path, f"it is {reason_of(error)}") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise _no_baseline(path, f"it has no format {_FORMAT}")
    findings = document.get("findings")
    if not isinstance(findings, dict):
        raise _no_baseline(path, "it has no findings")
    return findings


def _no_baseline(path: str, why: str) -> UsageError:
    return UsageError(
        f"{path} is no baseline: {why}", hint="--write-baseline FILE makes one", location=path
    )
