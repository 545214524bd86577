from __future__ import annotations

from pathlib import Path

import pytest

import ckptctl
from tests.support import copy_of

BEHIND = "extra-folder-ahead--ray-2.54.1-function_topk"
CLEAN = "ray-2.54.1-function_topk"


def test_what_is_clean_passes(tmp_path: Path) -> None:
    ckptctl.assert_clean(str(copy_of(CLEAN, tmp_path)))


def test_findings_are_the_failure(tmp_path: Path) -> None:
    place = str(copy_of(BEHIND, tmp_path))
    with pytest.raises(AssertionError) as caught:
        ckptctl.assert_clean(place)
    text = str(caught.value)
    assert "error CKP101 index-behind-storage" in text
    assert f"help: ckptctl reindex {place}" in text
    assert "CKP105" not in text
    assert "\x1b" not in text


def test_how_bad_and_which_can_be_chosen(tmp_path: Path) -> None:
    place = str(copy_of(BEHIND, tmp_path))
    ckptctl.assert_clean(place, ignore=["CKP101"])
    ckptctl.assert_clean(place, trial="*00001")
    with pytest.raises(AssertionError, match="CKP105"):
        ckptctl.assert_clean(place, ignore=["CKP101"], fail_on="warning")
    with pytest.raises(ckptctl.LocationError):
        ckptctl.assert_clean(str(tmp_path / "nowhere"))
