"""Addresses of values in nested documents."""

from __future__ import annotations

import pytest

from ckptctl.codec.errors import PointerError
from ckptctl.codec.pointer import Pointer

TEXTS = {
    "": ((),),
    "a": (("a",),),
    "trial_data/3/0#storage#current_checkpoint_index": (
        ("trial_data", "3", "0"),
        ("storage",),
        ("current_checkpoint_index",),
    ),
    "#a/0": ((), ("a", "0")),
    "a#": (("a",), ()),
    "a##b": (("a",), (), ("b",)),
    "a~1b/c~2d/~0e/~3": (("a/b", "c#d", "~e", ""),),
    "~03": (("~3",),),
}


@pytest.mark.parametrize(("text", "levels"), TEXTS.items())
def test_text_form(text: str, levels: tuple[tuple[str, ...], ...]) -> None:
    assert Pointer.parse(text).levels == levels
    assert str(Pointer(levels)) == text


def test_building() -> None:
    pointer = (Pointer.of(("rows", 5)) / "cell/x").enter() / 0 / "é"
    assert str(pointer) == "rows/5/cell~1x#0/é"
    assert pointer.last == "é"
    assert pointer.parent == Pointer.of(("rows", 5, "cell/x"), (0,))
    assert Pointer.of() == Pointer()
    assert Pointer().enter().last is None


def test_a_root_has_no_parent() -> None:
    with pytest.raises(PointerError):
        Pointer.parse("a#").parent.parent  # noqa: B018


@pytest.mark.parametrize("text", ["a//b", "/a", "a/", "a~", "a~4", "a~3", "~3a", "#/"])
def test_what_is_no_pointer(text: str) -> None:
    with pytest.raises(PointerError):
        Pointer.parse(text)
