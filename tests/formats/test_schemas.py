"""The shipped schemas are fresh, and hold for all that ckptctl really writes."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ckptctl import api
from ckptctl.errors import RefusedError, StalePlanError, UsageError
from ckptctl.report import document, history, policy, rules, schema
from ckptctl.report.document import Document
from ckptctl.report.renderers import SCAN
from tests.formats.scans import CORPUS, NASTY, hostile_plans, hostile_scan, scan_of
from tests.support import copy_of, corpus


@cache
def shipped(name: str) -> Document:
    text = resources.files("ckptctl").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    found: Document = json.loads(text)
    return found


def closed(part: Any) -> Any:
    """The same schema, but a field that it does not name is an error."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    inner = {key: closed(value) for key, value in part.items()}
    return {"additionalProperties": False, **inner} if "properties" in part else inner


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(closed(shipped(name)))


def holds(name: str, value: Document) -> None:
    written = json.loads(json.dumps(value, allow_nan=False))
    assert [e.message for e in validator(name).iter_errors(written)] == []


@pytest.mark.parametrize("file", schema.files())
def test_the_shipped_schema_is_fresh(file: str) -> None:
    found = resources.files("ckptctl").joinpath(file).read_text("utf-8")
    assert found == schema.files()[file], "run `make docs`"


def test_no_schema_is_left_over() -> None:
    folder = resources.files("ckptctl").joinpath("schemas")
    assert {f"schemas/{f.name}" for f in folder.iterdir()} == set(schema.files())


@pytest.mark.parametrize("name", schema.DOCUMENTS)
def test_the_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(shipped(name))
    assert shipped(name)["$schema"] == schema.DIALECT


@pytest.mark.parametrize("name", CORPUS)
def test_a_scan_is_what_its_schema_says(name: str) -> None:
    holds("scan", json.loads(SCAN["json"](scan_of(name))))


@pytest.mark.parametrize("text", NASTY)
def test_names_do_not_matter(text: str) -> None:
    holds("scan", hostile_scan(text).document)
    holds("plans", hostile_plans(text).document)


@pytest.mark.parametrize("name", CORPUS)
def test_picks_are_what_their_schema_says(name: str) -> None:
    for experiment in scan_of(name).experiments:
        latest = [(experiment, t, r.path if r else None) for t, r in api.latest(experiment)]
        holds("picks", document.picks_document("latest", latest))
        best = [(experiment, t, b.name if b else None) for t, b in api.best(experiment)]
        holds("picks", document.picks_document("best", best))


@pytest.mark.parametrize("name", CORPUS)
def test_stages_are_what_their_schema_says(name: str) -> None:
    holds("policy", policy.Policy(told=api.policy(str(corpus(name)))).document)


@pytest.mark.parametrize("name", CORPUS)
def test_plans_are_what_their_schema_says(name: str) -> None:
    for experiment in scan_of(name).experiments:
        plans = [
            api.plan_reindex(experiment, unsafe=True),
            api.plan_reindex(experiment, by="sequential"),
            api.plan_rename(experiment, template="checkpoint_{loss:.2f}"),
        ]
        holds("plans", document.plans_document("reindex", [(plan, None) for plan in plans]))
        for plan in plans:
            holds("saved-plan", json.loads(api.plan_to_json(plan)))


def test_what_is_done_and_undone_is_what_its_schema_says(tmp_path: Path) -> None:
    place = str(copy_of("killed--ray-2.54.1", tmp_path))
    (experiment,) = api.scan(place)
    plan = api.plan_reindex(experiment)
    done = api.apply(plan, allow_live=True)
    holds("plans", document.plans_document("reindex", [(plan, done)]))
    back = api.plan_undo(place)
    assert back is not None
    holds("plans", document.plans_document("undo", [(back, api.undo(place, allow_live=True))]))
    holds("history", history.document(place, api.history(place)))


def test_rules_and_errors_are_what_their_schemas_say() -> None:
    holds("rules", rules.document(api.rules()))
    holds("error", document.error_document(UsageError("x")))
    holds("error", document.error_document(RefusedError("x", reasons=("a",))))
    holds("error", document.error_document(StalePlanError("x", changed=("a",))))
