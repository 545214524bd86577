from __future__ import annotations

from ckptctl.storage.folders import Folder


def test_a_folder_is_flat_however_deep_it_is() -> None:
    inner = Folder(names=("w",), sizes=(1,), times=(2.0,), odd=("link",))
    for _ in range(2_000):
        inner = Folder(folders={"d": inner}, odd=("link",))
    flat = inner.flat()
    assert flat.names == ("d/" * 2_000 + "w",)
    assert (flat.sizes, flat.times) == ((1,), (2.0,))
    assert sorted(flat.odd, key=len) == ["d/" * depth + "link" for depth in range(2_001)]
