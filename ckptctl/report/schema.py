"""The JSON schemas of the documents, as they are shipped in ``ckptctl/schemas``."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from ckptctl.journal.wire import WirePlan
from ckptctl.report import shapes
from ckptctl.report.document import FORMAT_VERSION
from ckptctl.report.shapes_plans import PlansDocument
from ckptctl.report.shapes_policy import PolicyDocument

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: Mapping[str, type[msgspec.Struct]] = {
    "scan": shapes.ScanDocument,
    "plans": PlansDocument,
    "picks": shapes.PicksDocument,
    "history": shapes.HistoryDocument,
    "diff": shapes.DiffDocument,
    "policy": PolicyDocument,
    "rules": shapes.RulesDocument,
    "error": shapes.ErrorDocument,
    "saved-plan": WirePlan,
}
"""Every document that ckptctl writes, by the name of its schema."""


def schema(name: str) -> dict[str, object]:
    """Make the schema of one document. Objects are left open: fields may be added."""
    kind = DOCUMENTS[name]
    (root,), parts = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    title = str(root["$ref"]).rpartition("/")[2]
    body = parts.pop(title)
    return {
        "$schema": DIALECT,
        "$id": f"urn:ckptctl:schema:{name}:{FORMAT_VERSION}",
        **body,
        **({"$defs": dict(sorted(parts.items()))} if parts else {}),
    }


def files() -> Mapping[str, str]:
    """Every schema file below the package, with the text it has to hold."""
    return {
        f"schemas/{name}.schema.json": json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"
        for name in DOCUMENTS
    }
