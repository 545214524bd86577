"""Templates near to one that no names can be made of."""

from __future__ import annotations

import pytest

from ckptctl.model.template import Template
from ckptctl.planner.mending import cleaned, mended, without


@pytest.mark.parametrize(
    ("template", "rest"),
    [
        ("checkpoint_{a}-{x}", "checkpoint_{a}"),
        ("checkpoint_{x}-{a}", "checkpoint_{a}"),
        ("checkpoint_{a}-{x}-{b}", "checkpoint_{a}-{b}"),
        ("checkpoint_{a}-loss={x}-{b}", "checkpoint_{a}-{b}"),
        ("checkpoint_{a}-best-loss={x}", "checkpoint_{a}-best"),
        ("checkpoint_{x}", "checkpoint_"),
        ("checkpoint_best_{x}_{x}", "checkpoint_best"),
        ("{x}-{a}", "{a}"),
        ("{x}", ""),
        ("{a}{x}{b}", "{a}-{b}"),
        ("checkpoint_{a}", "checkpoint_{a}"),
    ],
)
def test_a_field_goes_with_its_label_and_joint(template: str, rest: str) -> None:
    assert str(without(Template.parse(template), lambda f: f.name == "x")) == rest


@pytest.mark.parametrize(
    ("template", "clean"),
    [
        ("checkpoint_{a}-\nx", "checkpoint_{a}-x"),
        ("checkpoint_{a}/{b}", "checkpoint_{a}-{b}"),
        ("..\\x\t\x00y{a}", "x-y{a}"),
        (".checkpoint_{a}", "checkpoint_{a}"),
        ("checkpoint_{a}:*", "checkpoint_{a}:*"),
        ("checkpoint_{a}" + 300 * "x", "checkpoint_{a}" + 40 * "x"),
    ],
)
def test_texts_lose_what_no_name_may_hold(template: str, clean: str) -> None:
    assert str(cleaned(Template.parse(template))) == clean


def test_the_prefix_comes_before_the_first_text_or_in_place_of_it() -> None:
    found = [str(t) for t in mended(Template.parse("model_{a}"), {})]
    assert found[:2] == ["checkpoint_model_{a}", "checkpoint_{a}"]


def test_the_nearest_names_come_before_leaving_a_field_out() -> None:
    template = Template.parse("checkpoint_{los}-{x:d}-{b}")
    (los, x, _) = template.fields
    near = {los.name: Template.parse("{loss}{lost}").fields, x.name: ()}
    found = [str(t) for t in mended(template, near)]
    assert found[:3] == ["checkpoint_{loss}-{b}", "checkpoint_{lost}-{b}", "checkpoint_{b}"]
    assert len(found) == len(set(found))
