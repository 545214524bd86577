"""JSON text of documents."""

from __future__ import annotations

import json

from ckptctl.report.document import Document


def render(document: Document) -> str:
    """Write one document; ASCII only, so that no name can act on a terminal."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def render_line(document: Document) -> str:
    """Write one document on one line."""
    return json.dumps(document, allow_nan=False) + "\n"
