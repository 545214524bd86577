from __future__ import annotations

import pytest

from ckptctl.report.lines import Page
from ckptctl.report.places import inside, place


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        (
            "trial_data/1/0#storage#current_checkpoint_index",
            "a.json › trial_data[1][0] › storage › current_checkpoint_index",
        ),
        ("#~4/ray.tune:RunConfig", "a.json › name ray.tune:RunConfig"),
        ("", "a.json"),
        ("~9", "a.json › ~9"),
    ],
)
def test_a_place_is_told_document_by_document(pointer: str, shown: str) -> None:
    assert place("a.json", pointer, Page()) == shown
    assert inside("a.json", pointer, Page()) == shown.removeprefix("a.json").removeprefix(" › ")
