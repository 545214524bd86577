"""What each witness of a Tune trial says, in the same terms."""

from __future__ import annotations

from collections.abc import Mapping

from ckptctl.layouts.tune_sources import Dialect, TrialSources
from ckptctl.model.bookkeeping import Bookkeeping, Claim, Names, Provenance, Witness
from ckptctl.model.experiment import Record, TrainableKind, Trial
from ckptctl.model.names import index_of
from ckptctl.model.rows import columns


def tune_books(sources: TrialSources, trial: Trial) -> Mapping[Witness, Bookkeeping]:
    """What storage, the driver, the trainable and the log each say of a trial."""
    books = {Witness.STORAGE: storage_book(trial)}
    if sources.state is not None:
        books[Witness.TRIAL] = _trial_book(sources, trial)
    if sources.dialect is Dialect.LEGACY:
        books[Witness.TRAINABLE] = _trainable_book(trial)
    if trial.rows:
        books[Witness.SESSION] = _session_book(sources, trial)
    return books


def storage_book(trial: Trial) -> Bookkeeping:
    """What the folders themselves say."""
    folders = trial.folders
    names = Names(
        Witness.STORAGE,
        lambda: [c.name for c in folders],
        lambda at: Provenance(file=folders[at].path),
    )
    told = [c.index for c in folders]
    highest = max([index for index in told if index is not None], default=None)
    saved = [c.saved for c in folders]
    return Bookkeeping(
        latest_index=None
        if highest is None
        else Claim(
            value=highest,
            witness=Witness.STORAGE,
            provenance=Provenance(file=folders[told.index(highest)].path),
        ),
        latest_checkpoint=names[saved.index(max(saved))] if saved else None,
        checkpoints=names,
    )


def _trial_book(sources: TrialSources, trial: Trial) -> Bookkeeping:
    state = sources.state
    index = None
    if state is not None and state.raw_index is not None and trial.index_slot is not None:
        index = Claim(
            value=state.raw_index - (sources.dialect is Dialect.TUNE_2_7),
            witness=Witness.TRIAL,
            provenance=trial.index_slot,
        )
    latest = trial.latest_record
    return Bookkeeping(
        latest_index=index,
        latest_checkpoint=None if latest is None else _recorded(latest),
        iteration=trial.state_iteration,
        checkpoints=tuple(_recorded(r) for r in trial.records),
    )


def _trainable_book(trial: Trial) -> Bookkeeping:
    noted = [(c.left, c) for c in trial.saves if c.left is not None]
    if not noted:
        return Bookkeeping()
    iteration, newest = max(noted, key=lambda pair: pair[0].value)

    return Bookkeeping(
        latest_index=None
        if newest.index is None
        else Claim(value=newest.index, witness=Witness.TRAINABLE, provenance=iteration.provenance),
        latest_checkpoint=_noted(newest.name, iteration),
        iteration=iteration,
        checkpoints=tuple(_noted(c.name, left) for left, c in noted),
    )


def _noted(name: str, left: Claim[int]) -> Claim[str]:
    return Claim(value=name, witness=Witness.TRAINABLE, provenance=left.provenance)


def _recorded(record: Record) -> Claim[str]:
    name = record.ref.name if record.ref else record.path.rstrip("/").rpartition("/")[2]
    provenance = Provenance(file=record.provenance.file, pointer=record.path_pointer)
    return Claim(value=name, witness=Witness.TRIAL, provenance=provenance)


def _is_silent(sources: TrialSources, trial: Trial, highest: int) -> bool:
    """Whether the log names no saves any more: of class trainables only Ray 2.7 ever does.

    The names that it has are from before: Ray 2.7 began the trial, or ckptctl wrote them.
    """
    if sources.dialect is not Dialect.TUNE or trial.kind is not TrainableKind.CLASS:
        return False
    return any(c.index is not None and c.index > highest for c in trial.folders)


def _session_book(sources: TrialSources, trial: Trial) -> Bookkeeping:
    log = trial.result_log or ""
    rows = columns(trial.rows)

    def claim(line: int, name: str) -> Claim[str]:
        place = Provenance(file=log, pointer=f"{line}/checkpoint_dir_name")
        return Claim(value=name, witness=Witness.SESSION, provenance=place)

    def place_of(at: int) -> Provenance:
        (place,) = rows.last_of_each()[at : at + 1]
        return claim(rows.lines[place], "").provenance

    # A log may be as long as it likes, so what is in it is gone through and not gathered.
    highest, of_highest = -1, None
    latest: tuple[int, str] | None = None
    for line, name in rows.pairs:
        if name is None:
            continue
        latest = line, name
        index = index_of(name)
        if index is not None and index >= highest:
            highest, of_highest = index, (line, name)
    if of_highest is not None and _is_silent(sources, trial, highest):
        latest, of_highest = None, None
    newest = trial.rows[-1]
    return Bookkeeping(
        latest_index=None
        if of_highest is None
        else Claim(
            value=highest,
            witness=Witness.SESSION,
            provenance=claim(*of_highest).provenance,
        ),
        latest_checkpoint=None if latest is None else claim(*latest),
        iteration=None
        if newest.training_iteration is None
        else Claim(
            value=newest.training_iteration,
            witness=Witness.SESSION,
            provenance=Provenance(file=log, pointer=f"{newest.line}/training_iteration"),
        ),
        checkpoints=Names(
            Witness.SESSION,
            lambda: rows.names_at(rows.last_of_each()),
            place_of,
        ),
    )
