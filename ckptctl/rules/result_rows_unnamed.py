"""CKP107: a result log that names no checkpoint at all."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Remedy, Severity
from ckptctl.model.rows import columns
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count


class ResultRowsUnnamed(TrialRule):
    """The result log names no checkpoint, though there are some.

    ## What it checks
    In Ray 2.8 and newer: whether any row of the result log has the key `checkpoint_dir_name`,
    where checkpoint folders are there.

    ## Why it matters
    `Result.from_path` looks the folders up by this key and fails with
    `KeyError: 'checkpoint_dir_name'` (Ray 2.8 to 2.60). Class trainables never write it, so this
    is so for every one of them, RLlib included, that ran without `checkpoint_naming` or
    `checkpoint_index` of `ckptctl.integrations.ray`, which put it there from the start.

    ## Example
    Twelve rows without the key, and folders `checkpoint_000000` to `checkpoint_000002`.

    ## Remedy
    `ckptctl reindex LOCATION` adds the key to the rows: each folder's name on the row of its
    save, as the records tell it, and null elsewhere.

    ## Remedy safety
    Safe: nothing but this key is added, and Ray writes it itself for function trainables. Manual
    where no record of the trial could be read, since then nothing tells which row saved what.
    """

    code = "CKP107"
    name = "result-rows-unnamed"
    severity = Severity.WARNING

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """Look for the key in all rows."""
        if experiment.layout != facts.TUNE or not trial.rows or columns(trial.rows).keyed:
            return
        folders = [c for c in trial.folders if c.name.startswith("checkpoint_")]
        if not folders:
            return
        verb = "exists" if len(folders) == 1 else "exist"
        yield self.finding(
            experiment,
            f"no result row has the key checkpoint_dir_name, though "
            f"{count(len(folders), 'checkpoint')} {verb}: Result.from_path fails",
            trial=trial,
            evidence=(
                facts.logged(
                    trial, trial.rows[0], f"{count(len(trial.rows), 'row')} without the key"
                ),
                *(facts.lies(c) for c in folders[:1]),
            ),
            remedy=_remedy(trial, experiment),
        )


def _remedy(trial: Trial, experiment: Experiment) -> Remedy:
    if facts.own_names(trial, facts.all_records(trial)):
        return remedies.safe(experiment, "it names each checkpoint on the row of its save")
    return remedies.by_hand("no record tells which row saved which checkpoint")
