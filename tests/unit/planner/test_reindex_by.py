from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment, TrainableKind, TrialStatus
from ckptctl.model.policies import ByFunction, ByMetric, Policy, Ray26, Sequential
from ckptctl.planner.draft import Draft
from ckptctl.planner.reindex_by import plan_reindex_by
from tests.property.strategies import STATE, Save, done, make_experiment, make_trial, saves


def _topk(**changes: object) -> Experiment:
    """Three kept of eight saves, as `num_to_keep=3` leaves them."""
    own = [replace(save, iteration=n + 6) for n, save in enumerate(saves([3, 2, 1], first=5))]
    evicted = [f"checkpoint_{n:06d}" for n in range(5)]
    made = make_trial(own, evicted=evicted, **changes)  # type: ignore[arg-type]
    return make_experiment(made)


def _index_edit(draft: Draft) -> tuple[object, object] | None:
    edits = [e for e in draft.edits.get(STATE, ()) if "current_checkpoint_index" in e.pointer]
    return (edits[0].before, edits[0].after) if edits else None


def test_sequential_numbers_sets_the_counter_and_clears_rows_that_it_would_meet_again() -> None:
    experiment = _topk()
    where = experiment.trials[0].dirname
    draft = plan_reindex_by(experiment, Sequential())
    assert [new for _, _, new in draft.renames] == [
        "checkpoint_000000", "checkpoint_000001", "checkpoint_000002",
    ]  # fmt: skip
    assert _index_edit(draft) == (7, 2)
    assert draft.notes == (
        "recorded index 7 → 2, so that the next save sorts behind checkpoint_000002",
    )
    rows = {e.pointer[0]: e.after for e in draft.edits[f"{where}/result.json"]}
    # The next saves will be 3 and 4: the rows of the evicted ones of these names are cleared too.
    assert rows == {
        **dict.fromkeys("01234"), "5": "checkpoint_000000", "6": "checkpoint_000001",
        "7": "checkpoint_000002",
    }  # fmt: skip
    cells = {e.pointer[0]: e.after for e in draft.edits[f"{where}/progress.csv"]}
    assert all(cells[line] == "" for line in "01234")


def test_a_second_run_finds_nothing_to_do() -> None:
    for policy in (Sequential(), ByMetric("training_iteration"), Ray26()):
        after = done(_topk(), plan_reindex_by(_topk(), policy))
        assert plan_reindex_by(after, policy).is_empty


def test_a_counter_that_is_ahead_is_set_back_where_no_name_changes() -> None:
    experiment = make_experiment(make_trial(saves([0.5, 0.25]), counted=41))
    draft = plan_reindex_by(experiment, Sequential())
    assert not draft.moves and _index_edit(draft) == (41, 1)


def test_the_counter_never_goes_below_a_name_that_stays() -> None:
    empty = Save(name="checkpoint_000040", state=CheckpointState.EMPTY, recorded=False)
    missing = Save(name="checkpoint_000050", state=CheckpointState.MISSING)
    made = make_trial([missing, *saves([0.5, 0.25], first=3), empty], counted=60)
    draft = plan_reindex_by(make_experiment(made), Sequential())
    assert not draft.refusals and _index_edit(draft) == (60, 50)


def test_a_trial_without_folders_keeps_its_counter() -> None:
    experiment = make_experiment(make_trial([], counted=4))
    assert plan_reindex_by(experiment, Sequential()).is_empty


def test_the_counter_of_ray_2_7_means_the_next_index() -> None:
    experiment = replace(_topk(), layout="ray-tune-2.7", counter_means_next=True)
    assert _index_edit(plan_reindex_by(experiment, Sequential())) == (8, 3)


def test_the_numbering_of_ray_2_6() -> None:
    draft = plan_reindex_by(_topk(kind=TrainableKind.CLASS), Ray26())
    assert [new for _, _, new in draft.renames] == [
        "checkpoint_000006", "checkpoint_000007", "checkpoint_000008",
    ]  # fmt: skip
    assert _index_edit(draft) == (7, 8)
    assert plan_reindex_by(_topk(), Ray26()).is_empty


def test_saves_that_lack_the_metric_are_noted() -> None:
    draft = plan_reindex_by(_topk(), ByMetric("step"))
    assert draft.notes[-1] == "3 checkpoints have no step, and the number behind the save before"


def test_chains_and_folders_in_the_way_need_no_temporary_name() -> None:
    draft = plan_reindex_by(_topk(), ByMetric("training_iteration"))
    assert [source[-1] for source, _ in draft.moves] == ["7", "6", "5"]


@pytest.mark.parametrize(
    ("policy", "code", "message"),
    [
        (ByFunction("m:f", lambda _m, _p: 3), "collision", "by m:f that is taken by an earlier"),
        (
            ByFunction("m:f", lambda _m, p: 9 if p < 0 else 8),
            "order",
            "is not above that of the save before",
        ),
        (ByFunction("m:f", lambda _m, _p: -2), "bad-name", "is negative"),
        (ByMetric("loss"), "bad-name", "is not a whole number"),
    ],
)
def test_indexes_that_cannot_be_used_are_refused_by_name(
    policy: Policy, code: str, message: str
) -> None:
    own = [replace(save, metrics={"loss": 0.5}) for save in saves([1, 2, 3])]
    draft = plan_reindex_by(make_experiment(make_trial(own)), policy)
    (refusal,) = draft.refusals
    assert refusal.code == code
    assert message in refusal.message
    assert refusal.checkpoints and len(refusal.details) == len(refusal.checkpoints)
    assert not draft.moves and not draft.edits


def test_ray_2_6_itself_would_write_over_what_is_numbered_one_too_high() -> None:
    own = [replace(save, iteration=n + 1) for n, save in enumerate(saves([3, 2, 1]))]
    made = make_trial(own, status=TrialStatus.ERROR, counter=False)
    experiment = make_experiment(made, layout="ray-legacy")
    (refusal,) = plan_reindex_by(experiment, ByMetric("training_iteration")).refusals
    assert refusal.code == "collision"
    assert "next checkpoint as checkpoint_000003" in refusal.message


def test_a_number_of_seven_digits_does_not_sort_behind_six() -> None:
    steps = [999_999, 1_000_000]
    own = [
        replace(save, metrics={"step": step})
        for save, step in zip(saves([3, 2]), steps, strict=True)
    ]
    experiment = make_experiment(make_trial(own))
    (refusal,) = plan_reindex_by(experiment, ByMetric("step")).refusals
    assert refusal.code == "order"
    assert not plan_reindex_by(experiment, ByMetric("step"), allow_reorder=True).refusals


def test_folders_that_another_part_of_the_plan_moves_away_are_not_there() -> None:
    empty = Save(name="checkpoint_000001", state=CheckpointState.EMPTY, recorded=False, row=False)
    made = make_trial([*saves([0.5]), empty, *saves([0.25], first=7)])
    experiment = make_experiment(made)
    (refusal,) = plan_reindex_by(experiment, Sequential()).refusals
    assert refusal.code == "collision"
    gone = f"{made.trial.dirname}/checkpoint_000001"
    draft = plan_reindex_by(experiment, Sequential(), gone=[gone])
    assert [new for _, _, new in draft.renames] == ["checkpoint_000001"]


def test_only_chosen_trials_are_numbered() -> None:
    made = [make_trial(saves([1], first=3), trial_id=f"a_{n}", position=n) for n in (0, 1)]
    draft = plan_reindex_by(make_experiment(*made), Sequential(), trial_glob="a_1")
    assert [t for t, _, _ in draft.renames] == [made[1].trial.dirname]
    assert draft.notes == (
        "a_1: recorded index 3 → 0, so that the next save sorts behind checkpoint_000000",
    )
