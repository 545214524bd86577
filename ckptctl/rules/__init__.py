"""The rules: one file each, listed here in the order of their codes."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.errors import UsageError
from ckptctl.rules.base import Explanation, Rule, TrialRule
from ckptctl.rules.best_disagrees import BestDisagrees
from ckptctl.rules.duplicate_index import DuplicateIndex
from ckptctl.rules.duplicate_record import DuplicateRecord
from ckptctl.rules.empty_checkpoint import EmptyCheckpoint
from ckptctl.rules.empty_state_file import EmptyStateFile
from ckptctl.rules.foreign_latest import ForeignLatest
from ckptctl.rules.foreign_lock import ForeignLock
from ckptctl.rules.foreign_root import ForeignRoot
from ckptctl.rules.foreign_trial import ForeignTrial
from ckptctl.rules.index_ahead_of_storage import IndexAheadOfStorage
from ckptctl.rules.index_behind_storage import IndexBehindStorage
from ckptctl.rules.iteration_disagrees import IterationDisagrees
from ckptctl.rules.latest_missing import LatestMissing
from ckptctl.rules.latest_not_recorded import LatestNotRecorded
from ckptctl.rules.metric_missing_at_save import MetricMissingAtSave
from ckptctl.rules.missing_state import MissingState
from ckptctl.rules.mixed_generations import MixedGenerations
from ckptctl.rules.mode_suspect import ModeSuspect
from ckptctl.rules.name_reused import NameReused
from ckptctl.rules.needs_another_ray import NeedsAnotherRay
from ckptctl.rules.partial_checkpoint import PartialCheckpoint
from ckptctl.rules.pending_journal import PendingJournal
from ckptctl.rules.recorded_missing import RecordedMissing
from ckptctl.rules.result_row_disagrees import ResultRowDisagrees
from ckptctl.rules.result_rows_unnamed import ResultRowsUnnamed
from ckptctl.rules.retention_conflict import RetentionConflict
from ckptctl.rules.retention_overrun import RetentionOverrun
from ckptctl.rules.setting_not_applicable import SettingNotApplicable
from ckptctl.rules.stale_result_log import StaleResultLog
from ckptctl.rules.stale_state import StaleState
from ckptctl.rules.superseded_state import SupersededState
from ckptctl.rules.temporary_left_behind import TemporaryLeftBehind
from ckptctl.rules.text_order_differs import TextOrderDiffers
from ckptctl.rules.truncated_log import TruncatedLog
from ckptctl.rules.unexplained_gap import UnexplainedGap
from ckptctl.rules.unparsed_name import UnparsedName
from ckptctl.rules.unreadable_record import UnreadableRecord
from ckptctl.rules.unrecorded_checkpoint import UnrecordedCheckpoint
from ckptctl.rules.unsafe_name import UnsafeName

__all__ = ["ALL", "Explanation", "Rule", "TrialRule", "by_code", "expand", "selected"]

ALL: tuple[Rule, ...] = (
    UnparsedName(),
    DuplicateIndex(),
    TextOrderDiffers(),
    UnexplainedGap(),
    TemporaryLeftBehind(),
    UnsafeName(),
    IndexBehindStorage(),
    IndexAheadOfStorage(),
    LatestMissing(),
    RecordedMissing(),
    UnrecordedCheckpoint(),
    ResultRowDisagrees(),
    ResultRowsUnnamed(),
    NameReused(),
    DuplicateRecord(),
    ForeignLatest(),
    StaleState(),
    StaleResultLog(),
    IterationDisagrees(),
    BestDisagrees(),
    LatestNotRecorded(),
    ForeignRoot(),
    RetentionOverrun(),
    UnreadableRecord(),
    TruncatedLog(),
    SupersededState(),
    EmptyStateFile(),
    ForeignTrial(),
    MissingState(),
    NeedsAnotherRay(),
    EmptyCheckpoint(),
    PartialCheckpoint(),
    MixedGenerations(),
    RetentionConflict(),
    SettingNotApplicable(),
    MetricMissingAtSave(),
    ModeSuspect(),
    PendingJournal(),
    ForeignLock(),
)


def by_code(word: str) -> Rule:
    """The rule of this code or slug."""
    wanted = word.strip()
    for rule in ALL:
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    raise _unknown(word)


def expand(words: Iterable[str]) -> frozenset[str]:
    """The codes that codes, prefixes of codes (``CKP1``) and slugs stand for."""
    return frozenset(code for word in words for code in _codes(word))


def selected(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules that are selected (all, where nothing is) and not ignored."""
    wanted, unwanted = expand(select), expand(ignore)
    return tuple(
        rule for rule in ALL if (not wanted or rule.code in wanted) and rule.code not in unwanted
    )


def _codes(word: str) -> tuple[str, ...]:
    wanted = word.strip()
    codes = tuple(r.code for r in ALL if wanted.lower() == r.name)
    if not codes and wanted.upper().startswith("CKP"):
        codes = tuple(r.code for r in ALL if r.code.startswith(wanted.upper()))
    if not codes:
        raise _unknown(word)
    return codes


def _unknown(word: str) -> UsageError:
    from difflib import get_close_matches

    known = [text for rule in ALL for text in (rule.code, rule.name)]
    spelled = word.strip()
    near = get_close_matches(spelled.upper(), known, n=1, cutoff=0.6) or get_close_matches(
        spelled.lower(), known, n=1, cutoff=0.6
    )
    hint = f"did you mean {near[0]}?" if near else "ckptctl rules lists what there is"
    return UsageError(f"unknown rule: {spelled}", hint=hint)
