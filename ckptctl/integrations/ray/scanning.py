"""A callback of Tune and Train V1 that scans, and warns with the codes of what it finds."""

from __future__ import annotations

import logging
from typing import Any

from ckptctl.errors import CkptctlError, UsageError

_log = logging.getLogger("ckptctl")
_SCHEMES = {"s3": "s3", "gcs": "gs", "hdfs": "hdfs"}


def checkpoint_scan(*, fail_on: str = "never") -> Any:
    """A callback for ``RunConfig(callbacks=[checkpoint_scan()])`` (Ray 2.7 and newer).

    Before a restored experiment goes on, and once more when it has ended, it scans the storage and
    logs each error and warning to the logger ``ckptctl``. With ``fail_on="error"`` (or
    ``"warning"``) a restored experiment with such findings does not start: `CheckpointFindings`.

    Raises:
        UsageError: `fail_on` is none of ``never``, ``error`` and ``warning``.
    """
    if fail_on not in ("never", "error", "warning"):
        raise UsageError(
            f"fail_on {fail_on!r} is not available", hint="choose never, error or warning"
        )
    from ckptctl.integrations.ray.callback import CheckpointScan

    return CheckpointScan(fail_on)


class CheckpointFindings(RuntimeError):
    """A restored experiment does not start, since it has findings."""


def scan_trials(trials: list[Any], when: str, fail_on: str) -> None:
    """Scan the experiment of these trials, and log what is wrong with it."""
    location = _location(trials)
    if location is None:
        return
    from ckptctl.model.finding import Severity

    try:
        found = [f for _, own in _audited(location) for f in own if f.severity is not Severity.INFO]
    except CkptctlError as error:
        _log.warning("%s: cannot scan %s: %s", when, location, error.message)
        return
    for finding in found:
        command = finding.remedy.command if finding.remedy and finding.remedy.command else ""
        _log.warning(
            "%s: %s %s %s%s: %s%s",
            when,
            finding.severity,
            finding.code,
            finding.rule,
            f" {finding.trial}" if finding.trial else "",
            finding.message,
            f" (help: {command})" if command else "",
        )
    levels = [Severity.ERROR] if fail_on == "error" else [Severity.ERROR, Severity.WARNING]
    bad = [f for f in found if f.severity in levels]
    if fail_on != "never" and bad:
        codes = ", ".join(sorted({f.code for f in bad}))
        raise CheckpointFindings(f"{location} has findings: {codes}; run ckptctl scan {location}")


def _audited(location: str) -> Any:
    from ckptctl import api

    return api.audit(location)


def _location(trials: list[Any]) -> str | None:
    """Where the experiment lies, by the context of its first trial."""
    storage = next((t.storage for t in trials if getattr(t, "storage", None) is not None), None)
    if storage is None:
        return None
    path = str(storage.experiment_fs_path)
    kind = str(storage.storage_filesystem.type_name)
    if kind == "local":
        return path
    scheme = _SCHEMES.get(kind)
    return None if scheme is None else f"{scheme}://{path.lstrip('/')}"
