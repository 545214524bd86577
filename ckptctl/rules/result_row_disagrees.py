"""CKP106: the result log pairs checkpoints with other saves than the records do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.experiment import Experiment, Record, Row, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.model.rows import columns
from ckptctl.rules import facts, remedies
from ckptctl.rules.base import TrialRule
from ckptctl.rules.wording import count


class _Disagreement(Struct, frozen=True):
    record: Record
    name: str
    row: Row
    """The row of the save that the record is of."""
    namesake: Row | None
    """Another row, which names the record's folder."""


class ResultRowDisagrees(TrialRule):
    """A result row names another folder than the record of that save.

    ## What it checks
    For each record of the trial's own folders the row of the same save: the row's name has to be
    the folder's. A row without a name is a fault only where another row names the folder; rows
    that name nothing at all are CKP107. Iterations repeat in population-based training, so a row
    is only compared where it is certain that it tells of the same save. Where a scheduler had one
    result saved twice, its row can name but one of the two folders.

    ## Why it matters
    `Result.from_path` finds a checkpoint's metrics by the names in the log, `Tuner.restore` by the
    records: the two give one checkpoint different metrics, and the best one is another. Ray 2.7
    predicts the name from the result before, so the rows of its class trainables are always wrong.

    ## Example
    `checkpoint_000001` was saved at iteration 10; the row that names it is the one of iteration 6.

    ## Remedy
    `ckptctl reindex LOCATION` writes each folder's name on the row of its save.

    ## Remedy safety
    Safe: the records say which iteration each folder holds; only names in the log change.
    """

    code = "CKP106"
    name = "result-row-disagrees"
    severity = Severity.ERROR

    def check_trial(self, trial: Trial, experiment: Experiment) -> Iterator[Finding]:
        """One finding that lists the trial's wrong rows."""
        found = list(_disagreements(trial))
        if not found:
            return
        names = list(dict.fromkeys(d.name for d in found))
        yield self.finding(
            experiment,
            f"the result log and the records pair {count(len(names), 'checkpoint')} with "
            f"different saves: {_first(found[0])}",
            trial=trial,
            checkpoints=names,
            evidence=(e for d in found for e in _evidence(d, trial)),
            remedy=remedies.safe(
                experiment,
                "it writes the name on the row of the save"
                if len(names) == 1
                else "it writes each name on the row of its save",
            ),
        )


def _disagreements(trial: Trial) -> Iterator[_Disagreement]:
    records = [
        r for r in facts.all_records(trial) if not facts.is_foreign(trial, r) and not r.estimated
    ]
    if not records:
        return
    rows = columns(trial.rows)
    named = rows.last_places({r.ref.name for r in records if r.ref is not None})
    by_line = {line: place for place, line in enumerate(rows.lines)}
    saves = {(r.row, r.ref.name) for r in records if r.ref is not None}
    single = _single_rows(trial, records)
    for record in records:
        line = record.row if record.row is not None else single.get(record.training_iteration)
        place = None if line is None else by_line.get(line)
        if place is None or record.ref is None or rows.names[place] == record.ref.name:
            continue
        if (line, rows.names[place]) in saves:  # of one result that was saved twice
            continue
        row = rows[place]
        namesake = rows[named[record.ref.name]] if record.ref.name in named else None
        if row.name is not None or (row.has_name and namesake is not None):
            yield _Disagreement(record, record.ref.name, row, namesake)


def _single_rows(trial: Trial, records: list[Record]) -> dict[int | None, int]:
    """Lines by iteration, where one row and one record have it."""
    saves = Counter(r.training_iteration for r in records if r.training_iteration is not None)
    lines: dict[int | None, list[int]] = {i: [] for i, number in saves.items() if number == 1}
    rows = columns(trial.rows)
    for line, iteration in zip(rows.lines, rows.iterations, strict=True):
        if iteration in lines:
            lines[iteration].append(line)
    return {iteration: own[0] for iteration, own in lines.items() if len(own) == 1}


def _at(iteration: int | None) -> str:
    return "" if iteration is None else f" at iteration {iteration}"


def _first(found: _Disagreement) -> str:
    saved = f"{found.name} was saved{_at(found.record.training_iteration)}"
    if found.row.name is not None:
        return f"{saved}, but the row of that save names {found.row.name}"
    where = _at(found.namesake.training_iteration) if found.namesake else ""
    return f"{saved}, but the row that names it is the one{where}"


def _evidence(found: _Disagreement, trial: Trial) -> Iterator[Evidence]:
    at = _at(found.record.training_iteration)
    yield facts.recorded(found.record, f"{found.name}{at}")
    row = found.namesake if found.row.name is None and found.namesake else found.row
    yield facts.logged(trial, row, f"{row.name}{_at(row.training_iteration)}")
