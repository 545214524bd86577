"""One decision about one save, as the hook makes it while a run goes on."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from ckptctl.errors import UsageError
from ckptctl.integrations.ray import checkpoint_index, checkpoint_names, checkpoint_naming
from ckptctl.integrations.ray.naming import Decision, Naming, Save, decide, parse_naming
from ckptctl.model.experiment import TrainableKind

TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def decided(
    template: str | None = None,
    by: Any = None,
    previous: int = -1,
    *,
    iteration: int | None = None,
    kind: TrainableKind | None = None,
    is_trainer: bool = False,
    **metrics: Any,
) -> Decision:
    save = Save(
        metrics=metrics,
        iteration=iteration,
        trial_id="a_00000",
        kind=kind,
        is_trainer=is_trainer,
    )
    return decide(parse_naming(template, by), save, previous)


def test_a_template_gives_the_name_and_its_leading_number_the_index() -> None:
    found = decided(TEMPLATE, previous=4, iteration=5, loss=0.25)
    assert (found.index, found.name, found.notes) == (5, "checkpoint_000005-0.2500", ())


@pytest.mark.parametrize(
    ("by", "kind", "index"),
    [
        ("sequential", None, 5),
        ("training_iteration", None, 10),
        ("step", None, 40),
        ("eval.step", None, 41),
        ("nothing", None, 5),
        ("ray-2.6", TrainableKind.CLASS, 10),
        ("ray-2.6", TrainableKind.FUNCTION, 9),
    ],
)
def test_policies_are_those_of_reindex(by: str, kind: TrainableKind | None, index: int) -> None:
    metrics: dict[str, Any] = {"step": 40, "eval": {"step": 41}}
    found = decided(None, by, 4, iteration=10, kind=kind, **metrics)
    assert (found.index, found.name) == (index, f"checkpoint_{index:06d}")


def test_trainers_of_ray_2_6_counted_for_themselves() -> None:
    found = decided(None, "ray-2.6", 4, iteration=10, is_trainer=True)
    assert found.index == 5


def test_a_function_is_asked_with_the_metrics_and_the_index_before() -> None:
    def twice(metrics: Mapping[str, Any], previous: int) -> int:
        return previous + 2 * int(metrics["step"])

    assert decided(None, twice, 4, step=3).index == 10
    failed = decided(None, twice, 4)
    assert failed.index == 5
    assert "KeyError" in failed.notes[0]
    assert "it gets 5" in failed.notes[0]


@pytest.mark.parametrize("value", [3, 4, -1, 2.5, "7", True])
def test_an_index_that_does_not_rise_is_the_one_before_plus_1(value: object) -> None:
    found = decided(None, "step", 4, step=value)
    assert (found.index, found.name) == (5, "checkpoint_000005")
    assert len(found.notes) == 1


def test_a_number_in_front_that_does_not_rise_is_raised_in_the_name_too() -> None:
    found = decided(TEMPLATE, previous=8, iteration=6, loss=0.5)
    assert (found.index, found.name) == (9, "checkpoint_000009-0.5000")


@pytest.mark.parametrize(
    ("metrics", "note"),
    [
        ({"val_loss": 0.5}, "loss was not reported with this save; it has val_loss"),
        ({"loss": math.nan}, "loss nan makes no name"),
        ({"loss": "low"}, "loss 'low': "),
    ],
)
def test_a_run_does_not_end_for_a_name(metrics: dict[str, Any], note: str) -> None:
    found = decided(TEMPLATE, previous=1, iteration=2, **metrics)
    assert (found.index, found.name) == (2, "checkpoint_000002")
    assert found.notes[0].startswith(note)
    assert found.notes[1] == "it is called checkpoint_000002"


def test_a_metric_cannot_lead_out_of_the_folder() -> None:
    found = decided("checkpoint_{index:06d}-{tag}", previous=1, tag="../../x")
    assert found.name == "checkpoint_000002"
    assert "holds a path separator" in found.notes[0]


def test_a_template_and_a_policy_work_together() -> None:
    found = decided("checkpoint_{index:06d}-{acc:.1f}", "training_iteration", iteration=7, acc=0.5)
    assert (found.index, found.name) == (7, "checkpoint_000007-0.5")


@pytest.mark.parametrize(
    ("template", "fitting"),
    [
        ("checkpoint_{training_iteration}-{loss:.2f}", "checkpoint_{training_iteration:06d}-{loss"),
        ("checkpoint_{index:04d}", "checkpoint_{index:06d} would do"),
        ("checkpoint_{loss:.4f}", "checkpoint_{loss:06d} would do"),
        ("checkpoint-{index:06d}", "checkpoint_{index:06d}-… would do"),
        ("checkpoint_best", "checkpoint_{index:06d}-… would do"),
        ("checkpoint_{index:06d}{loss:.2f}", "checkpoint_{index:06d}-… would do"),
    ],
)
def test_a_template_whose_names_may_not_sort_is_refused_with_one_that_does(
    template: str, fitting: str
) -> None:
    with pytest.raises(UsageError) as error:
        parse_naming(template, None)
    assert error.value.hint is not None
    assert error.value.hint.startswith(fitting)


@pytest.mark.parametrize(
    ("template", "by"),
    [
        (TEMPLATE, "step"),
        ("checkpoint_{index:06d", None),
        (None, ""),
        (None, "no_such_module:function"),
        (None, "math:pi"),
        (None, 7),
    ],
)
def test_what_cannot_be_followed_is_refused_before_anything_runs(template: Any, by: Any) -> None:
    with pytest.raises(UsageError):
        parse_naming(template, by)


def test_a_policy_that_is_named_by_its_module_is_loaded_at_once() -> None:
    naming = parse_naming(None, "operator:add")
    assert callable(naming.by)
    assert Naming(by=naming.by).shown["by"] == "_operator:add"


def test_without_ray_every_call_says_what_to_install() -> None:
    for call in (
        lambda: checkpoint_index("sequential"),
        lambda: checkpoint_naming(TEMPLATE),
        lambda: checkpoint_names(TEMPLATE),
    ):
        with pytest.raises(UsageError) as error:
            call()
        assert error.value.hint == 'pip install "ckptctl[ray]"'


def test_the_integration_imports_neither_ray_nor_what_only_the_command_line_needs() -> None:
    heavy = ("ray", "typer", "rich", "fsspec", "s3fs", "gcsfs", "ckptctl.layouts", "ckptctl.cli")
    code = f"import sys, ckptctl.integrations.ray; print(*(m for m in {heavy} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
