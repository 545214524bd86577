from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment, TrainableKind, Trial
from ckptctl.planner.rows import names_for_rows
from tests.property.strategies import Save, make_experiment, make_trial, saves


def _edits(
    experiment: Experiment, names: dict[tuple[str, str], str] | None = None
) -> list[tuple[str, object, object]]:
    trial = experiment.trials[0]
    edits = names_for_rows(experiment, trial, names or {})
    return [(e.pointer.partition("/")[0], e.before, e.after) for e in edits]


def _class_trial(own: Sequence[Save], *, named_rows: bool = False) -> Trial:
    return make_trial(own, kind=TrainableKind.CLASS, named_rows=named_rows).trial


def _experiment(trial: Trial, layout: str = "ray-tune") -> Experiment:
    return replace(
        make_experiment(layout=layout, counter_means_next=layout == "ray-tune-2.7"),
        trials=(trial,),
    )


def test_unnamed_rows_get_old_and_new_names() -> None:
    trial = _class_trial(saves([0.5, 0.25]))
    names = {(str(trial.dirname), "checkpoint_000001"): "checkpoint_x"}
    assert _edits(_experiment(trial), names) == [
        ("0", None, "checkpoint_000000"),
        ("1", None, "checkpoint_x"),
    ]


def test_rows_that_have_names_stay() -> None:
    trial = _class_trial(saves([0.5, 0.25]), named_rows=True)
    assert _edits(_experiment(trial)) == []


def test_ray_2_6_knows_no_names_in_rows() -> None:
    assert _edits(_experiment(_class_trial(saves([0.5])), "ray-legacy")) == []


def test_a_trial_without_a_log_has_no_rows_to_name() -> None:
    trial = replace(_class_trial(saves([0.5])), result_log=None)
    assert _edits(_experiment(trial)) == []


def test_a_missing_folder_names_no_row() -> None:
    own = [*saves([0.5]), Save(name="checkpoint_000001", state=CheckpointState.MISSING)]
    assert _edits(_experiment(_class_trial(own))) == [("0", None, "checkpoint_000000")]


def test_a_folder_that_was_saved_into_twice_is_that_of_the_later_row() -> None:
    trial = _class_trial(saves([0.5, 0.25]))
    first, second = trial.records
    trial = replace(trial, records=(replace(second, row=1), replace(first, ref=second.ref)))
    assert _edits(_experiment(trial)) == [("1", None, "checkpoint_000001")]


def test_two_folders_that_claim_one_row_get_none() -> None:
    trial = _class_trial(saves([0.5, 0.25]))
    records = tuple(replace(r, row=1) for r in trial.records)
    trial = replace(trial, records=records, latest_record=records[-1])
    assert _edits(_experiment(trial)) == []


def test_names_that_ray_2_7_wrote_on_the_wrong_row_are_set_right() -> None:
    """Frequency 2: rows 0 and 2 hold the names, the saves were those of rows 1 and 3."""
    made = make_trial(saves([4, 3, 2, 1]), kind=TrainableKind.CLASS)
    names = ["checkpoint_000000", None, "checkpoint_000001", None]
    rows = tuple(replace(r, name=n) for r, n in zip(made.trial.rows, names, strict=True))
    records = tuple(
        replace(r, row=line) for r, line in zip(made.trial.records[:2], (1, 3), strict=True)
    )
    trial = replace(
        made.trial,
        rows=rows,
        records=records,
        latest_record=records[-1],
        checkpoints=made.trial.checkpoints[:2],
    )
    wanted = [
        ("0", "checkpoint_000000", None),
        ("1", None, "checkpoint_000000"),
        ("2", "checkpoint_000001", None),
        ("3", None, "checkpoint_000001"),
    ]
    assert _edits(_experiment(trial, "ray-tune-2.7")) == wanted
    assert _edits(_experiment(trial, "ray-tune")) == []
