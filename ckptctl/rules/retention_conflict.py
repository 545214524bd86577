"""CKP401: two stages keep or rank checkpoints differently."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Finding, Severity
from ckptctl.rules import remedies
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import evidence_of
from ckptctl.stages.conflicts import Conflict, conflicts


class RetentionConflict(Rule):
    """Two stages keep or rank checkpoints differently.

    ## What it checks
    What Lightning's `ModelCheckpoint` left in the newest checkpoint (its metric, its mode and how
    many files it keeps) against the `CheckpointConfig` that Ray goes by; and a metric that
    `TuneConfig` and `CheckpointConfig` rank by opposite ends. For a run of Train V2, which leaves
    no `CheckpointConfig` on disk, the order of its recorded checkpoints stands for it: what does
    not fit that order is told as an info. A scan looks into one payload of an experiment;
    `ckptctl policy` and `--deep` into one of every trial.

    ## Why it matters
    The two do not know of each other. Lightning keeps the best files in its own working folder,
    which nobody copies; the folders that Ray keeps are the ones that last. If Ray ranks by another
    metric or the other end, the best checkpoint by Lightning is deleted on storage, and
    `Result.checkpoint` and `best_checkpoints` are not what `trainer.checkpoint_callback` says.

    ## Example
    `ModelCheckpoint(monitor="val_loss", mode="min", save_top_k=1)` inside, and
    `CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="train/loss",
    checkpoint_score_order="max")` outside: Ray keeps the two worst by training loss.

    ## Remedy
    Set the outer one to what is meant: `checkpoint_score_attribute` and `checkpoint_score_order`
    as `monitor` and `mode`. `ckptctl policy LOCATION` shows both stages side by side.

    ## Remedy safety
    Manual: ckptctl changes no setting, and what is deleted already is gone.
    """

    code = "CKP401"
    name = "retention-conflict"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """Compare what the stages of each trial say; what concerns all trials is told once."""
        told: set[tuple[str, str]] = set()
        for trial in experiment.trials:
            for conflict in conflicts(experiment, trial):
                said = (conflict.inner.claim, conflict.outer.claim)
                if conflict.inner.stage == "tune" and said in told:
                    continue
                told.add(said)
                yield self.finding(
                    experiment,
                    _message(conflict),
                    trial=trial,
                    evidence=(evidence_of(conflict.inner), evidence_of(conflict.outer)),
                    remedy=remedies.by_hand(
                        "make the outer setting say what is meant; ckptctl policy shows both",
                        remedies.command("policy", experiment),
                    ),
                    severity=None if conflict.exact else Severity.INFO,
                )


def _message(conflict: Conflict) -> str:
    which = "Lightning's " if conflict.inner.stage == "lightning" else ""
    if not conflict.exact:
        return f"{which}{conflict.inner.claim}, but {conflict.outer.claim} (inferred)"
    return f"{which}{conflict.inner.claim}, but Ray's {conflict.outer.claim}"
