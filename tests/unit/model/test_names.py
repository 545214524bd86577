from __future__ import annotations

import pytest

from ckptctl.model.names import (
    NameKind,
    check_name,
    fold,
    index_of,
    kind_of,
    natural_key,
    portable,
    ray_name,
)


@pytest.mark.parametrize(
    ("name", "kind", "index"),
    [
        ("checkpoint_000008", NameKind.RAY_INDEX, 8),
        ("checkpoint_1000000", NameKind.RAY_INDEX, 1000000),
        ("checkpoint_8", NameKind.TAGGED, 8),
        ("checkpoint_000008-0.2500", NameKind.TAGGED, 8),
        ("checkpoint_8-loss=0.25", NameKind.TAGGED, 8),
        ("checkpoint_2026-11-30", NameKind.TAGGED, 2026),
        ("checkpoint_2026-11-30_10-37-15.123456", NameKind.DATE, None),
        ("checkpoint_2026-11-30_10-37-15", NameKind.DATE, None),
        ("checkpoint_2026-11-30_10-37-15.123456-0.25", NameKind.DATE, None),
        ("checkpoint_tmpccbce4", NameKind.TEMPORARY, None),
        ("checkpoint_-00001", NameKind.TEMPORARY, None),
        ("checkpoint_000001.bak", NameKind.OTHER, None),
        ("checkpoint_000001_best", NameKind.OTHER, None),
        ("checkpoint_best", NameKind.OTHER, None),
        ("checkpoint_", NameKind.OTHER, None),
        ("checkpoint_٣", NameKind.OTHER, None),
        ("epoch=3-loss=0.50", NameKind.OTHER, None),
    ],
)
def test_a_name_tells_its_kind_and_its_index(name: str, kind: NameKind, index: int | None) -> None:
    assert (kind_of(name), index_of(name)) == (kind, index)


def test_more_digits_than_a_name_can_have_are_no_index() -> None:
    assert index_of("checkpoint_" + "9" * 5000) is None
    assert natural_key("9" * 5000)


def test_natural_order_counts() -> None:
    names = ["checkpoint_10", "checkpoint_9", "checkpoint_000010", "model_1024000000", "model_9"]
    assert sorted(names, key=natural_key) == [
        "checkpoint_9", "checkpoint_000010", "checkpoint_10", "model_9", "model_1024000000",
    ]  # fmt: skip


def test_ray_writes_six_digits_and_more_where_it_has_to() -> None:
    assert [ray_name(n) for n in (0, 7, 1234567)] == [
        "checkpoint_000000", "checkpoint_000007", "checkpoint_1234567",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not negative"):
        ray_name(-1)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is empty"),
        ("checkpoint_a/b", "path separator"),
        ("checkpoint_a\\b", "path separator"),
        ("checkpoint_a\nb", "control character"),
        ("checkpoint_a\x1b[31m", "control character"),
        ("checkpoint_a\x00", "control character"),
        ("checkpoint_a\u2028b", "control character"),
        ("checkpoint_\ud800", "UTF-8"),
        (".checkpoint_1", "dot"),
        (".", "dot"),
        ("..", "dot"),
        ("checkpoint_" + "ä" * 123, "257 bytes"),
        ("checkpoint_tmpccbce4", "temporary"),
        ("checkpoint_-5", "temporary"),
    ],
)
def test_a_name_that_no_folder_may_get_is_told_why(name: str, reason: str) -> None:
    assert any(reason in told for told in check_name(name))


@pytest.mark.parametrize(
    "name", ["checkpoint_000001", "checkpoint_1-ä 🙂", "checkpoint_" + "a" * 244, "epoch=3"]
)
def test_an_unusual_name_may_still_be_a_name(name: str) -> None:
    assert check_name(name) == ()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("checkpoint_1:2", "Windows"),
        ("checkpoint_1.", "Windows drops"),
        ("con", "device"),
        ("COM1.txt", "device"),
        ("checkpoint_1#2", "object stores"),
        ("checkpoint_1 2", "a space"),
        ("checkpoint_ä", "ASCII"),
        ("checkpoint_1-loss=0.5", "registries"),
        ("checkpoint_" + "a" * 120, "128 of artifact registries"),
        ("checkpoint_" + "a" * 140, "143 of an encrypted"),
        ("checkpoint_" + "a" * 300, "255"),
        ("a/b", "path separator"),
    ],
)
def test_a_name_that_makes_trouble_elsewhere_is_told_where(name: str, problem: str) -> None:
    assert any(problem in told for told in portable(name))


@pytest.mark.parametrize(
    "name",
    ["checkpoint_000001", "checkpoint_000008-0.2500", "checkpoint_2026-11-30_10-37-15.123456"],
)
def test_the_names_that_ray_and_we_give_work_everywhere(name: str) -> None:
    assert portable(name) == ()


def test_folding_ignores_case_and_unicode_form() -> None:
    assert fold("Checkpoint_A") == fold("checkpoint_a")
    assert fold("e\u0301") == fold("É")
    assert fold("a") != fold("b")
