from __future__ import annotations

import json

import pytest

from ckptctl.report.json import render, render_line


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\ud800\ud83d\ude00", "\ufffd\U0001f600"),
        ("\U0001f600", "\U0001f600"),
        ("\udcff", "\udcff"),
        ("\\ud800", "\\ud800"),
        ("\\\ud800", "\\\ufffd"),
    ],
)
def test_half_a_character_does_not_spoil_the_document(text: str, read: str) -> None:
    assert json.loads(render({"a": text})) == {"a": read}
    assert json.loads(render_line({"a": text})) == {"a": read}
