"""What ckptctl can do, as functions: each verb of the command line is one of these.

Functions take and return frozen values; nothing here prints, asks, or exits. Modules are imported
on first use, so that `import ckptctl` stays cheap.
"""

from __future__ import annotations

from ckptctl.api._executor import Executor, check_executor, dismiss
from ckptctl.api.applying import (
    QUIET_PERIOD,
    apply,
    history,
    home,
    interrupted,
    looks_alive,
    plan_resume,
    plan_undo,
    prunable,
    prune,
    resume,
    undo,
)
from ckptctl.api.comparing import diff
from ckptctl.api.planning import (
    plan_from_json,
    plan_migrate,
    plan_reindex,
    plan_rename,
    plan_to_json,
)
from ckptctl.api.reading import (
    audit,
    best,
    check,
    experiment_at,
    experiments,
    latest,
    metric_names,
    narrow,
    rule,
    rules,
    scan,
)
from ckptctl.api.stages import policy
from ckptctl.api.testing import assert_clean
from ckptctl.codec.reasons import reason_of

__all__ = [
    "QUIET_PERIOD",
    "Executor",
    "apply",
    "assert_clean",
    "audit",
    "best",
    "check",
    "check_executor",
    "diff",
    "dismiss",
    "experiment_at",
    "experiments",
    "history",
    "home",
    "interrupted",
    "latest",
    "looks_alive",
    "metric_names",
    "narrow",
    "plan_from_json",
    "plan_migrate",
    "plan_reindex",
    "plan_rename",
    "plan_resume",
    "plan_to_json",
    "plan_undo",
    "policy",
    "prunable",
    "prune",
    "reason_of",
    "resume",
    "rule",
    "rules",
    "scan",
    "undo",
]
