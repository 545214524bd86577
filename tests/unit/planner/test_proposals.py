from __future__ import annotations

import pytest

from ckptctl.model.template import Template
from ckptctl.planner.proposals import propose


def _first(template: str, wanted: str) -> str | None:
    proposal = propose([Template.parse(template)], lambda t: str(t) == wanted, names=3)
    return None if proposal is None else str(proposal.template)


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        ("checkpoint_{loss:.2f}", "checkpoint_{loss:.2f}"),
        ("checkpoint_{loss:.2f}", "checkpoint_{loss:.17f}"),
        ("checkpoint_{epoch}-{step}", "checkpoint_{epoch:03d}-{step}"),
        ("checkpoint_{epoch}-{step}", "checkpoint_{epoch:03d}-{step:03d}"),
        ("checkpoint_{epoch:2d}-{step}", "checkpoint_{epoch:04d}-{step}"),
        ("checkpoint_{loss}", "checkpoint_{training_iteration:06d}-{loss}"),
        ("model", "checkpoint_{index:06d}-model"),
        ("checkpoint_", "checkpoint_{training_iteration:06d}"),
        ("", "checkpoint_{index:06d}"),
        (
            "checkpoint_{loss}-it={training_iteration}",
            "checkpoint_{training_iteration:06d}-{loss}",
        ),
        ("checkpoint_{loss}/{x}", "checkpoint_{index:06d}"),
    ],
)
def test_a_change_is_found_where_it_is_the_only_one_that_passes(template: str, wanted: str) -> None:
    assert _first(template, wanted) == wanted


@pytest.mark.parametrize("template", ["checkpoint_{loss:<8}", "checkpoint_{x:+d}", "checkpoint_"])
def test_nothing_is_found_where_nothing_passes(template: str) -> None:
    assert _first(template, "none") is None


def test_the_smallest_precision_that_passes_is_taken() -> None:
    def passes(template: Template) -> bool:
        return all((f.spec.precision or 0) >= 5 for f in template.fields)

    proposal = propose([Template.parse("{a:.2f}-{b:.7g}")], passes, names=3)
    assert proposal is not None
    assert str(proposal.template) == "{a:.5f}-{b:.7g}"
    assert proposal.sentence(collided=True) == "{a:.5f} keeps them apart"


def test_a_search_over_very_many_names_tries_each_width_but_not_each_precision() -> None:
    tried: list[str] = []

    def passes(template: Template) -> bool:
        tried.append(str(template))
        return False

    propose([Template.parse("checkpoint_{n}-{loss:.2f}")], passes, names=10**9)
    assert "checkpoint_{n:012d}-{loss:.17f}" in tried
    assert len(tried) < 60
