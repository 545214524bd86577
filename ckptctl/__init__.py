"""Inspect and mend Ray Tune experiment folders, without importing Ray or pickle."""

from __future__ import annotations

from ckptctl._version import __version__

TYPE_CHECKING = False  # the module typing takes longer to import than `--version` takes in all
if TYPE_CHECKING:
    from ckptctl.api import (
        apply,
        assert_clean,
        audit,
        best,
        check,
        history,
        latest,
        plan_from_json,
        plan_migrate,
        plan_reindex,
        plan_rename,
        plan_to_json,
        policy,
        prune,
        resume,
        scan,
        undo,
    )
    from ckptctl.errors import (
        ApplyError,
        Cancelled,
        CkptctlError,
        ExitCode,
        InternalError,
        JournalError,
        LayoutError,
        LocationError,
        RefusedError,
        StalePlanError,
        UsageError,
    )
    from ckptctl.model.checkpoint import Checkpoint
    from ckptctl.model.experiment import Experiment, Trial
    from ckptctl.model.finding import Finding
    from ckptctl.model.plan import Outcome, Plan

__all__ = [
    "ApplyError",
    "Cancelled",
    "Checkpoint",
    "CkptctlError",
    "ExitCode",
    "Experiment",
    "Finding",
    "InternalError",
    "JournalError",
    "LayoutError",
    "LocationError",
    "Outcome",
    "Plan",
    "RefusedError",
    "StalePlanError",
    "Trial",
    "UsageError",
    "__version__",
    "apply",
    "assert_clean",
    "audit",
    "best",
    "check",
    "history",
    "latest",
    "plan_from_json",
    "plan_migrate",
    "plan_reindex",
    "plan_rename",
    "plan_to_json",
    "policy",
    "prune",
    "resume",
    "scan",
    "undo",
]

_HOMES = {
    "Checkpoint": "ckptctl.model.checkpoint",
    "Experiment": "ckptctl.model.experiment",
    "Trial": "ckptctl.model.experiment",
    "Finding": "ckptctl.model.finding",
    "Outcome": "ckptctl.model.plan",
    "Plan": "ckptctl.model.plan",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import ckptctl` stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    home = _HOMES.get(name) or ("ckptctl.api" if name[0].islower() else "ckptctl.errors")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
