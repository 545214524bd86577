"""CKP111: the saved state of a trial is older than its result log."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Experiment, Row, TrainableKind, Trial, TrialStatus
from ckptctl.model.finding import Finding, Severity
from ckptctl.model.names import index_of
from ckptctl.model.rows import columns
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count


class StaleState(TrialRule):
    """The result log is ahead of the saved trial state.

    ## What it checks
    The iteration of the last result row against the last result in the state. Rows alone are no
    fault while a trial is not finished: Ray logs every result and saves the state only every ten
    seconds or so, and after a failed attempt the state holds the result of the restored checkpoint
    again (`Ray 2.54 tune/experiment/trial.py`, `on_restore`). So for a trial that is not
    TERMINATED a save must be missing in the state as well: a row ahead that names a checkpoint, or
    a folder, which neither a record nor the index covers. The row of a class trainable is written
    before the save, which may have failed: there only a folder counts.

    ## Why it matters
    A restore goes on from the state's latest checkpoint. It repeats iterations that are in the log
    already, writes their saves into the folders of the first attempt, and logs every row again.

    ## Example
    The state ends at iteration 12 and knows `checkpoint_000012`; the log ends at 36.

    ## Remedy
    `ckptctl reindex LOCATION` records the checkpoints that the log names, raises the index and
    lets the state's last result be the log's last row.

    ## Remedy safety
    Safe: the log is what the trial reported. Folders whose metrics it does not tell stay
    unrecorded (CKP105).
    """

    code = "CKP111"
    name = "stale-state"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Compare the ends of log and state, and look for saves that the state lacks."""
        state = trial.state_iteration
        if state is None or taken_over(trial) or not trial.rows:
            return
        last = trial.rows[-1]
        if last.training_iteration is None or last.training_iteration <= state.value:
            return
        told = columns(trial.rows).iterations
        ahead = [trial.rows[n] for n, i in enumerate(told) if i is not None and i > state.value]
        rows, folders = _unknown_rows(ahead, trial), _unknown_folders(trial)
        if not (rows or folders or trial.status is TrialStatus.TERMINATED):
            return
        names = list(dict.fromkeys([r.name for r in rows if r.name] + [c.name for c in folders]))
        saves = f" and lacks {count(len(names), 'checkpoint')}" if names else ""
        yield self.finding(
            experiment,
            f"the result log ends at iteration {last.training_iteration}, the saved state at "
            f"{state.value}{saves}",
            trial=trial,
            checkpoints=names,
            evidence=(
                facts.says(state, f"iteration {state.value}"),
                facts.logged(
                    trial, last, f"iteration {last.training_iteration}", "training_iteration"
                ),
            ),
            remedy=remedies.safe(experiment, "it lets the state follow the log"),
        )


def taken_over(trial: Trial) -> bool:
    """Whether the state's last result is another trial's, whose checkpoint was taken over."""
    latest, state = trial.latest_record, trial.state_iteration
    return (
        latest is not None
        and state is not None
        and facts.is_foreign(trial, latest)
        and latest.training_iteration in (None, state.value)
    )


def _is_unknown(name: str, trial: Trial, recorded: set[str]) -> bool:
    """Whether the state cannot have seen a save: not recorded, and not counted by the index."""
    if name in recorded:
        return False
    index, number = facts.trial_index(trial), index_of(name)
    return index is None or number is None or number > index.value


def _proves_save(name: str, trial: Trial) -> bool:
    return trial.kind is not TrainableKind.CLASS or any(c.name == name for c in trial.folders)


def _unknown_rows(ahead: list[Row], trial: Trial) -> list[Row]:
    records = facts.all_records(trial)
    recorded = facts.own_names(trial, records)
    newest = max((r.training_iteration or 0 for r in records), default=0)
    return [
        row
        for row in ahead
        if (
            _proves_save(row.name, trial) and _is_unknown(row.name, trial, recorded)
            if row.name is not None
            else row.checkpointed and (row.training_iteration or 0) > newest
        )
    ]


def _unknown_folders(trial: Trial) -> list[Checkpoint]:
    recorded = facts.own_names(trial, facts.all_records(trial))
    return [
        c
        for c in trial.folders
        if c.state is not CheckpointState.EMPTY and _is_unknown(c.name, trial, recorded)
    ]
