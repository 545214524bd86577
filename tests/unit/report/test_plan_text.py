from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.plan import Outcome, Refusal
from ckptctl.report import plans
from ckptctl.report.lines import Page
from ckptctl.report.plain import render
from tests.unit.report.values import experiment, rename_plan


def test_a_rename_names_every_folder_and_counts_the_records() -> None:
    assert render(plans.render(rename_plan(), experiment(), Page())) == (
        "tune_lr   2 checkpoints get new names; 1 record in 1 file follows\n"
        "\n"
        "  c08b9_00000\n"
        "    checkpoint_000005  →  checkpoint_000006-0.3333\n"
        "    checkpoint_000006  →  checkpoint_000007-0.2857\n"
        "  recorded index 6 → 7, so that the next save sorts behind the others\n"
    )


def test_a_plan_without_moves_shows_the_edits() -> None:
    steps = rename_plan().rewrites
    text = render(plans.render(replace(rename_plan(), steps=steps, renames=()), None, Page()))
    assert text.startswith("tune_lr   1 record in 1 file changes; no folder moves\n")
    assert "6 → 7" in text


def test_a_plan_without_steps_says_so() -> None:
    empty = replace(rename_plan(), steps=(), renames=(), notes=())
    assert render(plans.render(empty, None, Page())) == "tune_lr   nothing to do\n"


def test_a_refusal_names_the_checkpoints_and_what_would_pass() -> None:
    refusal = Refusal(
        code="collision",
        message="2 checkpoints of c08b9_00000 would share the name checkpoint_7-0.29",
        details=("checkpoint_000006  loss 0.285714", "checkpoint_000009  loss 0.289120"),
        help=("{loss:.4f} keeps them apart", "ckptctl rename runs/tune_lr --to 'x'"),
    )
    assert render(plans.refusals([refusal], Page())) == (
        "error: refused: 2 checkpoints of c08b9_00000 would share the name checkpoint_7-0.29\n"
        "    checkpoint_000006  loss 0.285714\n"
        "    checkpoint_000009  loss 0.289120\n"
        "  help: {loss:.4f} keeps them apart\n"
        "        ckptctl rename runs/tune_lr --to 'x'\n"
    )


def test_an_outcome_says_how_to_take_it_back() -> None:
    done = Outcome(applied=True, steps_done=3, verified=True)
    plan = replace(rename_plan(), location="my runs/tune_lr")
    assert render(plans.outcome(plan, done)) == (
        "done and verified. Take it back: ckptctl undo 'my runs/tune_lr'\n"
    )


def test_a_long_plan_is_cut_at_a_terminal_only() -> None:
    renames = tuple(("fn_00000", f"checkpoint_{i:06d}", f"checkpoint_{i}-x") for i in range(100))
    plan = replace(rename_plan(), renames=renames)
    assert len(plans.render(plan, None, Page(width=120))) < 40
    assert len(plans.render(plan, None, Page())) > 100


def test_help_that_several_refusals_share_is_given_once() -> None:
    one, two, other = (
        Refusal(code="order", message=text, trial="t", checkpoints=("a",), help=(own,))
        for text, own in (("first", "do it"), ("second", "do it"), ("third", "do that"))
    )
    assert render(plans.refusals([one, two, other], Page())) == (
        "error: refused: first\n    a\n"
        "error: refused: second\n    a\n  help: do it\n"
        "error: refused: third\n    a\n  help: do that\n"
    )
