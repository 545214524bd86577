"""CKP001: a checkpoint folder whose name follows no known format."""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.rules.base import Rule
from ckptctl.rules.wording import count, listing


class UnparsedName(Rule):
    """A folder is called like a checkpoint, but its name cannot be read.

    ## What it checks
    The names of folders that begin with `checkpoint` and are neither a number
    (`checkpoint_000007`), a number with something after it (`checkpoint_000007-0.25`), a date
    name of Train V2, nor a temporary name.

    ## Why it matters
    Such a name carries no index and no order. `Result.from_path` lists every folder that begins
    with `checkpoint_` and takes the one that sorts last for the latest: `checkpoint_best` always
    sorts behind all numbers.

    ## Example
    `checkpoint_best` beside `checkpoint_000005` and `checkpoint_000006`.

    ## Remedy
    Where a record names the folder, `ckptctl rename` gives it a name of the others' kind and lets
    the records follow. Otherwise rename or move it by hand.

    ## Remedy safety
    Nothing is changed without being asked for: only a person knows what the folder is.
    """

    code = "CKP001"
    name = "unparsed-name"
    severity = Severity.INFO

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        """One finding for each trial that has such folders."""
        by_trial: dict[str, list[str]] = {}
        for path in experiment.unparsed:
            parent, _, name = path.rpartition("/")
            by_trial.setdefault(parent or ".", []).append(name)
        for trial, names in by_trial.items():
            verb = "matches" if len(names) == 1 else "match"
            yield self.finding(
                experiment,
                f"{count(len(names), 'folder')} {verb} no known name format: {listing(names)}",
                trial=trial,
                checkpoints=names,
                evidence=(
                    Evidence(
                        witness="storage",
                        claim=name,
                        file=name if trial == "." else f"{trial}/{name}",
                    )
                    for name in names
                ),
            )
