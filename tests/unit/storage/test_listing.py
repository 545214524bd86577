"""Looking things up in one listing."""

from __future__ import annotations

from ckptctl.storage.listing import Listing
from ckptctl.storage.store import Entry

LISTING = Listing(
    [
        Entry(path="t/ck_10/w", is_dir=False, size=9),
        Entry(path="t", is_dir=True),
        Entry(path="t/ck_1", is_dir=True),
        Entry(path="t/ck_1/w", is_dir=False, size=3),
        Entry(path="t/ck_1/sub", is_dir=True),
        Entry(path="t/ck_1/sub/x", is_dir=False, size=4),
        Entry(path="t/ck_1/link", is_dir=False, size=7, is_link=True),
        Entry(path="t/ck_1/fifo", is_dir=False, is_special=True),
        Entry(path="t/empty", is_dir=True),
    ]
)


def test_files_of_a_folder_are_its_own() -> None:
    assert LISTING.files("t/ck_1") == {"w": 3, "sub/x": 4}
    assert LISTING.files("t/ck_10") == {"w": 9}
    assert LISTING.files("t/empty") == {}
    assert LISTING.files("t/gone") is None


def test_a_file_is_itself() -> None:
    assert LISTING.files("t/ck_1/w") == {"": 3}
    assert LISTING.files("t/ck_1/link") == {}


def test_a_folder_exists_by_what_is_in_it() -> None:
    assert LISTING.exists("t/ck_10") and LISTING.get("t/ck_10") is None
    assert LISTING.exists("t/empty") and not LISTING.exists("t/ck")


def test_all_is_below_the_root() -> None:
    assert len(list(LISTING.below(""))) == 9
