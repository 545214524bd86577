"""The JSON that is written trial by trial is the JSON of the document."""

from __future__ import annotations

import json

import pytest

from ckptctl.api import audit
from ckptctl.report import scan_json
from ckptctl.report.document import scan_document
from ckptctl.report.json import indented, quickly, render
from tests.support import DAMAGED, HEALTHY, corpus


@pytest.mark.parametrize("name", [*HEALTHY, *DAMAGED])
def test_the_parts_are_the_whole(name: str) -> None:
    pairs = audit(str(corpus(name)))
    experiments = [e for e, _ in pairs]
    findings = [f for _, own in pairs for f in own]
    text = "".join(scan_json.parts(experiments, findings))
    assert text == render(scan_document(experiments, findings))
    assert text == json.dumps(scan_document(experiments, findings), indent=2) + "\n"


@pytest.mark.parametrize("name", [*HEALTHY, *DAMAGED])
@pytest.mark.parametrize("many", [0, 1, 3])
def test_a_long_trial_in_parts_is_the_same(
    name: str, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = audit(str(corpus(name)))
    experiments = [e for e, _ in pairs]
    text = "".join(scan_json.parts(experiments, []))
    monkeypatch.setattr(scan_json, "_MANY", max(many, 1))
    if not many:  # what is not ASCII is written in another way
        monkeypatch.setattr(scan_json, "quickly", lambda _value, _depth: None)
    assert "".join(scan_json.parts(experiments, [])) == text


def test_nothing_is_a_document_too() -> None:
    assert "".join(scan_json.parts([], [])) == render(scan_document([], []))


@pytest.mark.parametrize("value", [{}, [], {"a": [1, {"b": []}], "c": "é"}, {"a": "\x7f\n"}, 1])
@pytest.mark.parametrize("depth", range(4))
def test_a_value_stands_at_its_depth(value: object, depth: int) -> None:
    text = json.dumps(value, indent=2).replace("\n", "\n" + "  " * depth)
    assert indented(value, depth) == text
    assert quickly(value, depth) in (text, None)
