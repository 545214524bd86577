from __future__ import annotations

import pytest

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import MetricValue
from ckptctl.model.format_spec import FormatSpec, SpecError
from ckptctl.model.template import BadValue, Field, MetricMissing, MetricNotFinite, Template, Values


def _render(text: str, **metrics: MetricValue) -> object:
    values = Values(index=7, training_iteration=8, trial_id="c08b9_00000", metrics=dict(metrics))
    return Template.parse(text).render(values)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("checkpoint_{training_iteration:06d}-{loss:.4f}", "checkpoint_000008-0.2500"),
        ("checkpoint_{index:06d}", "checkpoint_000007"),
        ("{trial_id}", "c08b9_00000"),
        ("{{{index}}}", "{7}"),
        ("{timestamp}", "1796037037"),
        ("{loss}", "0.25"),
        ("{loss:%}", "25.000000%"),
        ("{step:06d}", "000004"),
        ("{step:x}", "4"),
        ("{step}", "4.0"),
        ("{flag}-{none}", "True-None"),
        ("{flag:>6}", "  True"),
        ("{optimizer:.2}", "Ad"),
        ("{negative:.1f}", "-0.2"),
        ("{small}", "1e-05"),
        ("no fields", "no fields"),
        ("", ""),
    ],
)
def test_a_template_renders(template: str, name: str) -> None:
    rendered = _render(
        template,
        loss=0.25, step=4.0, flag=True, none=None, optimizer="Adam", negative=-0.25,
        small=1e-05, timestamp=1796037037,
    )  # fmt: skip
    assert rendered == name


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("eval/acc", "eval/acc"),
        ("eval/acc", "eval.acc"),
        ("eval.acc", "eval/acc"),
        ("eval.acc", "eval.acc"),
        ("a/b.c", "a/b.c"),
    ],
)
def test_a_nested_metric_is_found_in_both_readings(key: str, written: str) -> None:
    assert _render(f"{{{written}:.1f}}", **{key: 0.5}) == "0.5"


def test_a_metric_as_it_is_written_goes_first() -> None:
    assert _render("{a.b}", **{"a.b": 1, "a/b": 2}) == "1"
    assert _render("{a/b}", **{"a.b": 1, "a/b": 2}) == "2"


def test_own_fields_win_over_metrics_of_their_name() -> None:
    assert _render("{index}-{training_iteration}", index=1, training_iteration=1) == "7-8"


def test_a_field_of_its_own_is_looked_up_where_the_checkpoint_has_none() -> None:
    values = Values(
        index=None,
        training_iteration=None,
        trial_id=None,
        metrics={"training_iteration": 3, "trial_id": "x", "index": 4},
    )
    assert Template.parse("{training_iteration}-{trial_id}").render(values) == "3-x"
    # A metric called index is not the leading number of the name.
    assert isinstance(Template.parse("{index}").render(values), MetricMissing)


@pytest.mark.parametrize(
    ("template", "at", "what"),
    [
        ("checkpoint_{loss", 12, "nothing closes"),
        ("checkpoint_loss}", 16, "without its {"),
        ("checkpoint_{}", 13, "without a name"),
        ("checkpoint_{:06d}", 13, "without a name"),
        ("{loss!r}", 6, "conversion"),
        ("{loss[0]}", 6, "indexing"),
        ("{loss.__class__}", 6, "attribute"),
        ("{a.b._c}", 3, "attribute"),
        ("{index.real}", 7, "attribute"),
        ("{loss:{width}}", 7, "field inside a field"),
        ("{ loss}", 2, "spaces"),
        ("{loss:06q}", 7, "format spec"),
        ("{loss:.2f.2f}", 7, "format spec"),
        ("{loss:%Y-%m-%d}", 7, "format spec"),
        ("{loss:n}", 7, "format spec"),
        ("{loss:.2d}", 7, "neither numbers nor text"),
        ("{index:s}", 8, "does not fit"),
        ("{loss:999999999d}", 7, "more than a name"),
        ("{loss:.999999999f}", 7, "more than a name"),
        ("{loss:256d}", 7, "more than a name"),
    ],
)
def test_a_bad_template_is_a_usage_error_that_tells_where(
    template: str, at: int, what: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Template.parse(template)
    assert f"at character {at}:" in caught.value.message
    assert what in caught.value.message
    assert caught.value.hint


def test_a_missing_metric_tells_the_nearest_names() -> None:
    failure = _render("{val_los:.2f}", val_loss=0.5, accuracy=0.9)
    assert failure == MetricMissing(field="val_los", nearest=("val_loss",))
    assert failure.value_told == ""


def test_a_nested_metric_is_near_by_its_last_part() -> None:
    failure = _render("{acc}", **{"env_runners/acc": 0.9, "loss": 1.0})
    assert isinstance(failure, MetricMissing)
    assert failure.nearest[0] == "env_runners/acc"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_not_finite_has_no_name(value: float) -> None:
    failure = _render("{loss}", loss=value)
    assert isinstance(failure, MetricNotFinite)
    assert failure.value_told == f"loss {value}"


@pytest.mark.parametrize(
    ("spec", "value", "reason"),
    [
        ("06d", 0.25, "no whole number"),
        ("d", 1e300, "no whole number"),
        (".4f", "Adam", "is text"),
        (".4f", None, "is text"),
        ("d", True, "is text"),
        ("s", 1, "is a number"),
        ("c", -1, "is a number"),
    ],
)
def test_a_value_that_does_not_fit_its_spec_tells_a_field_that_does(
    spec: str, value: MetricValue, reason: str
) -> None:
    failure = _render(f"{{x:{spec}}}", x=value)
    assert isinstance(failure, BadValue)
    assert failure.value_told == f"x {value!r}"
    assert isinstance(_render(str(failure.fitting), x=value), str)
    assert reason in failure.reason


def test_a_number_of_more_digits_than_python_writes_is_a_bad_value() -> None:
    failure = _render("{x:d}", x=10**5000)
    assert isinstance(failure, BadValue)
    assert failure.value_told == "x a number of very many digits"
    long = _render("{x:d}", x="a" * 500)
    assert isinstance(long, BadValue) and len(long.value_told) < 200


def test_a_template_takes_a_field_in_front() -> None:
    field = Field(name="index", spec=FormatSpec.parse("06d"))
    for text, prefixed in [
        ("checkpoint_{loss:.2f}", "checkpoint_{index:06d}-{loss:.2f}"),
        ("model-{loss:.2f}", "checkpoint_{index:06d}-model-{loss:.2f}"),
        ("{loss}", "checkpoint_{index:06d}-{loss}"),
        ("", "checkpoint_{index:06d}"),
        ("checkpoint_", "checkpoint_{index:06d}"),
    ]:
        changed = Template.parse(text).prefixed("checkpoint_", field)
        assert str(changed) == prefixed
        assert Template.parse(prefixed) == changed


@pytest.mark.parametrize("spec", ["", "06d", "*^+z#012,.3f", "_x", "<", "=<5", ".2", "007d", "00"])
def test_a_spec_is_written_as_it_was_read(spec: str) -> None:
    assert FormatSpec.parse(str(FormatSpec.parse(spec))) == FormatSpec.parse(spec)


def test_a_spec_that_fits_nothing_is_none() -> None:
    with pytest.raises(SpecError):
        FormatSpec.parse(",_d")
