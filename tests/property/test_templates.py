"""Properties of name templates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import MetricValue
from ckptctl.model.names import index_of, natural_key, ray_name
from ckptctl.model.template import BadValue, MetricMissing, MetricNotFinite, Template, Values
from tests.property.strategies import field_names, metric_values, specs, templates


def _values(metrics: dict[str, MetricValue]) -> Values:
    return Values(index=7, training_iteration=8, trial_id="c08b9_00000", metrics=metrics)


@given(templates())
def test_the_text_of_a_template_parses_to_the_same_template(text: str) -> None:
    template = Template.parse(text)
    assert Template.parse(str(template)) == template


@given(st.text(alphabet="{}ab:06d.!_[]", max_size=16))
def test_any_text_is_a_template_or_a_usage_error_that_tells_where(text: str) -> None:
    try:
        template = Template.parse(text)
    except UsageError as error:
        told = error.message
    else:
        assert Template.parse(str(template)) == template
        return
    assert "at character" in told


@given(field_names, specs, metric_values)
def test_a_field_is_rendered_as_python_does_or_fails_with_a_reason(
    name: str, spec: str, value: MetricValue
) -> None:
    rendered = Template.parse(f"{{{name}:{spec}}}").render(_values({name: value}))
    match rendered:
        case str() if isinstance(value, float) and spec and spec[-1] in "dx":
            assert rendered == format(int(value), spec)
        case str() if value is None or isinstance(value, bool):
            assert rendered == format(str(value), spec)
        case str():
            assert rendered == format(value, spec)
        case MetricNotFinite():
            assert isinstance(value, float) and not math.isfinite(value)
        case BadValue():
            assert rendered.reason and rendered.fitting.name == name
        case MetricMissing():
            pytest.fail("the metric is there")


@given(st.text())
def test_literal_text_is_kept_as_it_is(text: str) -> None:
    assert Template.parse(text.replace("{", "{{").replace("}", "}}")).render(_values({})) == text


@given(st.integers(0, 10**12))
def test_the_index_of_a_name_that_ray_gives_is_its_index(index: int) -> None:
    assert index_of(ray_name(index)) == index
    assert index_of(f"{ray_name(index)}-0.25") == index


@given(st.lists(st.text(max_size=12), unique=True))
def test_names_that_differ_never_have_the_same_natural_key(names: list[str]) -> None:
    assert len({natural_key(name) for name in names}) == len(names)
    sorted(names, key=natural_key)
