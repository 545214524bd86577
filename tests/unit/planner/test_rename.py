from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import (
    Experiment,
    RecordRole,
    TrainableKind,
    TrialStatus,
    Unreadable,
)
from ckptctl.model.plan import Edit, Refusal
from ckptctl.model.template import Template
from ckptctl.planner.draft import Draft
from ckptctl.planner.rename import OnMissing, plan_rename
from tests.property.strategies import (
    OLD_STATE,
    STATE,
    Save,
    done,
    make_experiment,
    make_trial,
    saves,
)

PROPOSAL = "checkpoint_{training_iteration}-{loss:.2f}"
GOOD = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def _plan(
    experiment: Experiment,
    template: str = PROPOSAL,
    *,
    on_missing: OnMissing = "error",
    allow_reorder: bool = False,
    trial: str | None = None,
) -> Draft:
    return plan_rename(
        experiment,
        Template.parse(template),
        on_missing=on_missing,
        allow_reorder=allow_reorder,
        trial_glob=trial,
    )


def _refusal(draft: Draft) -> Refusal:
    assert draft.refusals and not draft.moves and not draft.edits
    return draft.refusals[0]


def _proposed(refusal: Refusal) -> str:
    words = shlex.split(refusal.help[-1])
    return words[words.index("--to") + 1]


def _one(losses: list[float], status: TrialStatus = TrialStatus.TERMINATED) -> Experiment:
    return make_experiment(make_trial(saves(losses), status=status))


# What passes


def test_the_template_of_the_proposal_passes_for_a_finished_trial_of_nine() -> None:
    draft = _plan(_one([1 / (n + 1) for n in range(9)]))
    assert not draft.refusals
    assert draft.renames[0][1:] == ("checkpoint_000000", "checkpoint_1-1.00")
    assert draft.renames[-1][1:] == ("checkpoint_000008", "checkpoint_9-0.11")
    assert draft.notes == (
        "recorded index 8 → 9, so that the next save sorts behind checkpoint_9-0.11",
    )


def test_every_record_follows_but_for_superseded_state_files() -> None:
    experiment = _one([0.5, 0.25])
    draft = _plan(experiment, GOOD)
    where = experiment.trials[0].dirname
    manager = "trial_data/0/1#checkpoint_manager#"
    assert OLD_STATE not in draft.edits
    assert {edit.pointer for edit in draft.edits[STATE]} == {
        f"{manager}_checkpoint_results/0/checkpoint/path",
        f"{manager}_checkpoint_results/1/checkpoint/path",
        f"{manager}_latest_checkpoint_result/checkpoint/path",
        "trial_data/0/0#storage#current_checkpoint_index",
    }
    assert draft.edits[f"{where}/result.json"] == (
        Edit(
            op="set",
            pointer="0/checkpoint_dir_name",
            before="checkpoint_000000",
            after="checkpoint_000001-0.5000",
        ),
        Edit(
            op="set",
            pointer="1/checkpoint_dir_name",
            before="checkpoint_000001",
            after="checkpoint_000002-0.2500",
        ),
    )
    assert len(draft.edits[f"{where}/progress.csv"]) == 2


def test_a_second_run_finds_nothing_to_do() -> None:
    for template in (GOOD, "checkpoint_{index:06d}-{loss:.4f}", "checkpoint_{loss:.4f}-{index}"):
        experiment = _one([0.25, 0.5])
        after = done(experiment, _plan(experiment, template))
        assert _plan(after, template) == Draft()


def test_an_index_written_behind_another_number_stays_as_it_was() -> None:
    experiment = _one([0.5, 0.25])
    template = "checkpoint_{training_iteration:06d}-{index:06d}"
    after = done(experiment, _plan(experiment, template))
    assert [c.name for c in after.trials[0].saves] == [
        "checkpoint_000001-000000", "checkpoint_000002-000001",
    ]  # fmt: skip
    assert _plan(after, template) == Draft()


def test_the_counter_of_ray_2_7_means_the_next_index() -> None:
    experiment = make_experiment(
        make_trial(saves([0.5, 0.25])), layout="ray-tune-2.7", counter_means_next=True
    )
    (index,) = [e for e in _plan(experiment, GOOD).edits[STATE] if "index" in e.pointer]
    assert (index.before, index.after) == (2, 3)


def test_the_counter_is_never_lowered_and_never_raised_further_than_needed() -> None:
    ahead = make_experiment(make_trial(saves([0.5, 0.25]), counted=7))
    assert not [e for e in _plan(ahead, GOOD).edits[STATE] if "index" in e.pointer]


def test_a_record_of_another_trial_follows_too() -> None:
    donor = make_trial(saves([0.5, 0.25]), trial_id="a_0")
    taker = make_trial(saves([0.5, 0.25]), trial_id="a_1", position=1)
    ref = donor.trial.latest
    foreign = replace(
        next(m for m in donor.mentions if m.ref == ref and m.provenance.file == STATE),
        provenance=replace(donor.mentions[0].provenance, pointer="trial_data/1/1#latest"),
    )
    experiment = make_experiment(donor, replace(taker, mentions=(*taker.mentions, foreign)))
    draft = _plan(experiment, GOOD, trial="a_0")
    assert {trial for trial, _, _ in draft.renames} == {donor.trial.dirname}
    (edit,) = [e for e in draft.edits[STATE] if e.pointer == "trial_data/1/1#latest"]
    assert str(edit.after).endswith("/checkpoint_000002-0.2500")


def test_a_row_of_an_evicted_checkpoint_never_comes_to_name_a_live_one() -> None:
    experiment = make_experiment(
        make_trial(
            [Save(name="checkpoint_000005", iteration=3, metrics={"loss": 0.5})],
            evicted=["checkpoint_000003", "checkpoint_000004"],
        )
    )
    where = experiment.trials[0].dirname
    draft = _plan(experiment, "checkpoint_{training_iteration:06d}")
    assert draft.moves == ((f"{where}/checkpoint_000005", f"{where}/checkpoint_000003"),)
    rows = {e.pointer: e.after for e in draft.edits[f"{where}/result.json"]}
    assert rows == {"0/checkpoint_dir_name": None, "2/checkpoint_dir_name": "checkpoint_000003"}
    cells = {e.pointer: e.after for e in draft.edits[f"{where}/progress.csv"]}
    assert cells == {"0/checkpoint_dir_name": "", "2/checkpoint_dir_name": "checkpoint_000003"}


def test_folders_that_are_no_checkpoints_keep_their_names() -> None:
    experiment = make_experiment(
        make_trial(
            [
                *saves([0.5]),
                Save(name="checkpoint_000001", state=CheckpointState.PARTIAL, iteration=2,
                     metrics={"loss": 0.25}),
                Save(name="checkpoint_000009", state=CheckpointState.EMPTY, recorded=False),
                Save(name="checkpoint_tmpccbce4", state=CheckpointState.TEMPORARY, recorded=False),
                Save(name="checkpoint_000011", state=CheckpointState.MISSING, recorded=False),
            ]
        )
    )  # fmt: skip
    draft = _plan(experiment, GOOD)
    assert [new for _, _, new in draft.renames] == [
        "checkpoint_000001-0.5000", "checkpoint_000002-0.2500",
    ]  # fmt: skip


def test_class_trainables_get_names_in_their_rows() -> None:
    experiment = make_experiment(
        make_trial(saves([0.5, 0.25]), kind=TrainableKind.CLASS, named_rows=False)
    )
    draft = _plan(experiment, GOOD)
    edits = draft.edits[experiment.trials[0].result_log or ""]
    assert [(e.pointer, e.before, e.after) for e in edits] == [
        ("0/checkpoint_dir_name", None, "checkpoint_000001-0.5000"),
        ("1/checkpoint_dir_name", None, "checkpoint_000002-0.2500"),
    ]
    assert _plan(done(experiment, draft), GOOD) == Draft()


def test_plain_folders_need_no_prefix_and_train_v2_no_padding() -> None:
    made = make_trial(saves([0.5, 0.25]), status=None, counter=False, dirname=".")
    plain = make_experiment(made, layout="plain")
    assert not _plan(plain, "epoch={training_iteration}").refusals
    v2 = make_experiment(made, layout="ray-train-v2")
    assert not _plan(v2, PROPOSAL).refusals
    assert _refusal(_plan(v2, "epoch={training_iteration}")).code == "bad-name"


def test_names_that_make_trouble_elsewhere_are_noted_once() -> None:
    for end, reason in ((":{loss:.2f}", "':', which Windows refuses"), (" ", "a space or a dot")):
        draft = _plan(_one([0.5, 0.25]), f"checkpoint_{{index:06d}}{end}")
        (note,) = (note for note in draft.notes if "CKP006" in note)
        assert note.startswith("unsafe-name (CKP006): checkpoint_000000")
        assert reason in note


def test_only_the_trial_that_location_names_is_renamed() -> None:
    one, two = (make_trial(saves([0.5]), trial_id=f"a_{n}", position=n) for n in (0, 1))
    experiment = replace(make_experiment(one, two), focus=two.trial.dirname)
    assert {t for t, _, _ in _plan(experiment, GOOD).renames} == {two.trial.dirname}


# What is refused


def test_losses_that_look_alike_collide_and_the_next_precision_is_proposed() -> None:
    own = [
        Save(name="checkpoint_000006", iteration=7, metrics={"loss": 0.285714}),
        Save(name="checkpoint_000009", iteration=7, metrics={"loss": 0.289120}),
    ]
    draft = _plan(make_experiment(make_trial(own)))
    refusal = _refusal(draft)
    assert refusal.code == "collision"
    assert refusal.message == "2 checkpoints of c08b9_00000 would share the name checkpoint_7-0.29"
    assert refusal.checkpoints == ("checkpoint_000006", "checkpoint_000009")
    assert refusal.details[0] == (
        "checkpoint_000006  training_iteration 7, loss 0.285714  →  checkpoint_7-0.29"
    )
    assert refusal.help == (
        "{loss:.3f} keeps them apart",
        "ckptctl rename runs/exp --to 'checkpoint_{training_iteration}-{loss:.3f}'",
    )


def test_a_collision_that_only_the_iteration_can_part_gets_it_in_front() -> None:
    experiment = _one([0.25, 0.25])
    refusal = _refusal(_plan(experiment, "checkpoint_{loss:.2f}"))
    assert _proposed(refusal) == "checkpoint_{training_iteration:06d}-{loss:.2f}"
    assert "apart and in order" in refusal.help[0]
    assert not _plan(experiment, _proposed(refusal)).refusals


def test_iteration_ten_does_not_sort_behind_nine() -> None:
    experiment = _one([1 / (n + 1) for n in range(10)])
    refusal = _refusal(_plan(experiment))
    assert refusal.code == "order"
    assert "checkpoint_10-0.10 comes before checkpoint_9-0.11" in refusal.message
    assert "checkpoint_000009" in refusal.checkpoints
    assert _proposed(refusal) == "checkpoint_{training_iteration:02d}-{loss:.2f}"
    assert not _plan(experiment, _proposed(refusal)).refusals


def test_the_next_save_of_a_failed_trial_counts_in_the_order() -> None:
    experiment = _one([0.5, 0.33, 0.25], TrialStatus.ERROR)
    refusal = _refusal(_plan(experiment))
    assert refusal.code == "order"
    assert refusal.message == (
        "a restore of c08b9_00000 would save its next checkpoint as checkpoint_000004, "
        "which sorts before checkpoint_3-0.25"
    )
    assert _proposed(refusal) == "checkpoint_{training_iteration:06d}-{loss:.2f}"
    assert not _plan(experiment, _proposed(refusal)).refusals


def test_precision_and_padding_are_raised_together() -> None:
    experiment = make_experiment(
        make_trial(
            [
                replace(save, iteration=place // 2 + 9)
                for place, save in enumerate(saves([0.5, 0.501, 0.502, 0.503]))
            ]
        )
    )
    refusal = _refusal(_plan(experiment))
    assert _proposed(refusal) == "checkpoint_{training_iteration:02d}-{loss:.3f}"
    assert refusal.help[0] == (
        "{loss:.3f} keeps them apart; {training_iteration:02d} keeps them in order"
    )


def test_an_order_can_be_allowed_but_a_collision_cannot() -> None:
    experiment = _one([1 / (n + 1) for n in range(10)])
    assert not _plan(experiment, allow_reorder=True).refusals
    assert not _plan(_one([0.5], TrialStatus.ERROR), allow_reorder=True).refusals
    draft = _plan(_one([0.25, 0.25]), "checkpoint_{loss:.2f}", allow_reorder=True)
    assert _refusal(draft).code == "collision"
    assert "--allow-reorder" in _refusal(draft).help[-1]


def test_an_order_that_no_template_mends_names_the_option() -> None:
    own = [Save(name="checkpoint_best", metrics={"loss": 0.5}), *saves([0.25])]
    experiment = make_experiment(make_trial(own))
    refusal = _refusal(_plan(experiment, "checkpoint_{index:06d}-{loss}", on_missing="skip"))
    assert refusal.code == "order"
    assert refusal.help[-1].endswith("--on-missing skip --allow-reorder")


def test_a_metric_that_nobody_reported_is_refused_with_the_nearest_name() -> None:
    experiment = _one([0.5, 0.25])
    refusal = _refusal(_plan(experiment, "checkpoint_{index:06d}-{los:.2f}"))
    assert refusal.code == "metric-missing"
    assert refusal.message == "2 checkpoints of c08b9_00000 have no los"
    assert refusal.help[0] == "nearest: loss"
    assert _proposed(refusal) == "checkpoint_{index:06d}-{loss:.2f}"


def test_a_metric_far_from_every_name_lists_those_that_there_are() -> None:
    refusal = _refusal(_plan(_one([0.5]), "checkpoint_{index:06d}-{zzz}"))
    assert refusal.help == (
        "its metrics: loss",
        "ckptctl rename runs/exp --to 'checkpoint_{training_iteration:06d}'",
    )


def _without(loss: float | None) -> Experiment:
    own = saves([0.5, 0.25])
    gap = replace(own[0], metrics={} if loss is None else {"loss": loss})
    return make_experiment(make_trial([gap, own[1]]))


@pytest.mark.parametrize(
    ("loss", "code", "note"),
    [
        (None, "metric-missing", "1 checkpoint keeps its name: no loss"),
        (float("nan"), "metric-not-finite", "1 checkpoint keeps its name: no finite loss"),
        (float("inf"), "metric-not-finite", "1 checkpoint keeps its name: no finite loss"),
    ],
)
def test_a_checkpoint_without_a_value_is_refused_or_left_alone(
    loss: float | None, code: str, note: str
) -> None:
    experiment = _without(loss)
    refusal = _refusal(_plan(experiment, GOOD))
    assert refusal.code == code
    assert refusal.checkpoints == ("checkpoint_000000",)
    assert refusal.help[-1].endswith("--on-missing skip")
    draft = _plan(experiment, GOOD, on_missing="skip")
    assert [old for _, old, _ in draft.renames] == ["checkpoint_000001"]
    assert note in draft.notes


def test_a_spec_that_does_not_fit_is_refused_with_one_that_does() -> None:
    refusal = _refusal(_plan(_one([0.25]), "checkpoint_{index:06d}-{loss:d}", on_missing="skip"))
    assert refusal.code == "bad-name"
    assert "no whole number" in refusal.message
    assert refusal.help[0] == "{loss:.4f} fits"
    assert _proposed(refusal) == "checkpoint_{index:06d}-{loss:.4f}"


def test_failures_in_several_trials_are_one_refusal() -> None:
    made = [make_trial(saves([0.5]), trial_id=f"a_{n}", position=n) for n in (0, 1)]
    refusal = _refusal(_plan(make_experiment(*made), "checkpoint_{index:06d}-{los}"))
    assert refusal.trial is None
    assert refusal.message == "2 checkpoints have no los"
    assert all(path.endswith("/checkpoint_000000") for path in refusal.checkpoints)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("checkpoint_{index:06d}/{loss}", "path separator"),
        ("checkpoint_{index:06d}-{note}", "control character"),
        ("epoch={index:06d}", "does not begin with checkpoint_"),
        ("checkpoint_{index:0240d}-{loss:.20f}", "bytes long"),
        (".checkpoint_{index:06d}", "begins with a dot"),
    ],
)
def test_a_bad_name_is_refused(template: str, reason: str) -> None:
    own = [replace(saves([0.5])[0], metrics={"loss": 0.5, "note": "a\nb"})]
    refusal = _refusal(_plan(make_experiment(make_trial(own)), template))
    assert refusal.code == "bad-name"
    assert reason in refusal.message


def test_a_name_that_something_else_has_is_refused() -> None:
    own = [
        *saves([0.5]),
        Save(name="checkpoint_000001", state=CheckpointState.EMPTY, recorded=False),
    ]
    experiment = make_experiment(make_trial(own))
    refusal = _refusal(_plan(experiment, "checkpoint_{training_iteration:06d}"))
    assert refusal.code == "collision"
    assert refusal.message == "2 checkpoints of c08b9_00000 would share the name checkpoint_000001"
    temporary = replace(own[1], name="checkpoint_Tmp", state=CheckpointState.TEMPORARY)
    experiment = make_experiment(make_trial([own[0], temporary]))
    refusal = _refusal(_plan(experiment, "checkpoint_Tmp"))
    assert "which something else there has" in refusal.message
    refusal = _refusal(_plan(experiment, "checkpoint_tMP"))
    assert "differs from checkpoint_Tmp there only in case" in refusal.message


def test_names_that_differ_only_in_case_are_refused_in_words_of_their_own() -> None:
    own = [
        replace(save, metrics={"tag": tag})
        for save, tag in zip(saves([0.5, 0.25]), ("A", "a"), strict=True)
    ]
    refusal = _refusal(_plan(make_experiment(make_trial(own)), "checkpoint_{tag}"))
    assert refusal.code == "collision"
    assert "differ only in case: checkpoint_A, checkpoint_a" in refusal.message


def test_a_record_of_a_missing_checkpoint_never_comes_to_name_a_live_one() -> None:
    own = [
        Save(name="checkpoint_000001", state=CheckpointState.MISSING, iteration=9),
        Save(name="checkpoint_000000", iteration=1, metrics={"loss": 0.5}),
    ]
    experiment = make_experiment(make_trial(own))
    refusal = _refusal(_plan(experiment, "checkpoint_{training_iteration:06d}"))
    assert refusal.code == "collision"
    assert refusal.help[-1] == "ckptctl reindex runs/exp"


def test_a_state_that_cannot_be_read_refuses_every_rename() -> None:
    problem = Unreadable(file=STATE, reason="torn", truncated=True, role=RecordRole.STATE)
    experiment = replace(_one([0.5]), problems=(problem,))
    assert _refusal(_plan(experiment, GOOD)).code == "unreadable"
    assert _refusal(_plan(experiment, "checkpoint_{nope}")).code == "unreadable"
    superseded = replace(problem, file=OLD_STATE, role=RecordRole.SUPERSEDED_STATE)
    assert not _plan(replace(experiment, problems=(superseded,)), GOOD).refusals


@pytest.mark.parametrize("kind", [TrainableKind.CLASS, TrainableKind.FUNCTION])
def test_ray_2_6_counts_iterations_and_comes_to_names_that_are_too_high(
    kind: TrainableKind,
) -> None:
    own = [
        Save(name="checkpoint_000001", iteration=2, metrics={"step": 3}),
        Save(name="checkpoint_000003", iteration=4, metrics={"step": 40}),
    ]
    made = make_trial(own, status=TrialStatus.ERROR, counter=False, kind=kind)
    experiment = make_experiment(made, layout="ray-legacy")
    draft = _plan(experiment, "checkpoint_{step:06d}", allow_reorder=True)
    refusal = _refusal(draft)
    assert refusal.code == "collision"
    assert "go on from there into checkpoint_000040" in refusal.message
    good = _plan(experiment, "checkpoint_{index:06d}-{step}")
    assert not good.refusals and STATE in good.edits


def test_the_latest_stays_the_last_by_text_where_it_was() -> None:
    own = [
        Save(name="checkpoint_000005", iteration=2, metrics={"loss": 0.5}),
        Save(name="checkpoint_000001", iteration=3, metrics={"loss": 0.25}, recorded=False),
    ]
    experiment = make_experiment(make_trial(own))
    refusal = _refusal(_plan(experiment, GOOD))
    assert refusal.code == "order"
    assert "the latest of c08b9_00000 would be checkpoint_000002-0.5000" in refusal.message


def test_the_command_line_keeps_the_options_of_the_call() -> None:
    experiment = replace(_one([0.25, 0.25]), location="runs/my exp")
    draft = _plan(experiment, "checkpoint_{loss:.2f}", trial="c08*", on_missing="skip")
    assert _refusal(draft).help[-1] == (
        "ckptctl rename 'runs/my exp' --to "
        "'checkpoint_{training_iteration:06d}-{loss:.2f}' --trial 'c08*' --on-missing skip"
    )
