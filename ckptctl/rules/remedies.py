"""What mends a finding, as a command that can be pasted."""

from __future__ import annotations

import shlex

from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Applicability, Remedy


def command(verb: str, experiment: Experiment, *options: str) -> str:
    """``ckptctl VERB LOCATION OPTION...``, quoted for a shell."""
    location = experiment.location
    if location.startswith("-"):
        location = f"./{location}"
    return shlex.join(("ckptctl", verb, location, *options))


def safe(experiment: Experiment, note: str = "") -> Remedy:
    """What a plain `reindex` does."""
    return Remedy(
        applicability=Applicability.SAFE, command=command("reindex", experiment), note=note
    )


def unsafe(experiment: Experiment, note: str) -> Remedy:
    """What `reindex` does only when it is allowed to."""
    return Remedy(
        applicability=Applicability.UNSAFE,
        command=command("reindex", experiment, "--unsafe"),
        note=note,
    )


def by_hand(note: str, paste: str | None = None) -> Remedy:
    """What a person has to decide: nothing, or a command that does more than mend records."""
    return Remedy(applicability=Applicability.MANUAL, command=paste, note=note)


def quarantine(experiment: Experiment, note: str) -> Remedy:
    """Move folders aside: manual, since only a person knows whether they are worth anything."""
    return by_hand(note, command("reindex", experiment, "--quarantine"))
