"""What travels, and what is told where a worker is not as it has to be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ckptctl import _version, api, cluster
from ckptctl.cli import _settings
from ckptctl.cluster import Answer, named, units
from ckptctl.cluster.packed import Assembly, PackedFolders, pack
from ckptctl.cluster.place import open_place, place_of
from ckptctl.cluster.workers import in_order
from ckptctl.errors import ClusterError, LocationError, StalePlanError, UsageError
from ckptctl.storage.folders import Folder
from ckptctl.storage.local_walk import walk
from tests.cluster.here import Here
from tests.support import DAMAGED, HEALTHY, copy_of, corpus

NAME = "ray-2.54.1-class_freq"


def told(folder: Folder) -> Any:
    """All that a folder says."""
    inner = {name: told(one) for name, one in folder.folders.items()}
    return folder.names, folder.sizes, folder.times, set(folder.odd), folder.unreadable, inner


def sent(folder: Folder) -> PackedFolders:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(pack(folder)), type=PackedFolders)


@pytest.mark.parametrize("name", [*HEALTHY, *DAMAGED])
def test_folders_come_out_as_they_went_in(name: str) -> None:
    listed = walk(str(corpus(name)))
    assembly = Assembly(Folder())
    assembly.add(sent(listed))
    found = assembly.root()
    assert told(found) == told(listed)
    assert found.census is not None and listed.census is not None
    assert set(found.census.shapes) >= set(listed.census.shapes)
    assert found.census.odd == listed.census.odd


def test_what_is_no_text_and_what_nobody_follows_is_in_it(tmp_path: Path) -> None:
    inner = tmp_path / "trial"
    inner.mkdir()
    os.mkfifo(inner / "pipe")
    Path(os.fsdecode(os.fsencode(inner) + b"/\xff.bin")).write_bytes(b"1")
    listed = walk(str(tmp_path))
    listed.folders["trial"].unreadable = "no permission"
    assembly = Assembly(Folder())
    assembly.add(sent(listed))
    found = assembly.root()
    assert told(found) == told(listed) and found.folders["trial"].names == ("\udcff.bin",)
    assert found.census is not None and found.census.odd


def test_files_of_one_folder_may_come_in_two_parts() -> None:
    first = Folder(names=("a", "c"), sizes=(1, 3), times=(1.0, 3.0))
    second = Folder(names=("b",), sizes=(2,), times=(None,))
    assembly = Assembly(Folder())
    assembly.add(sent(first))
    assembly.add(sent(second))
    assert told(assembly.root())[:3] == (("a", "b", "c"), (1, 2, 3), (1.0, None, 3.0))


def failing(item: int) -> int:
    if item == 1:
        raise StalePlanError("changed: \udcff", changed=("x",), hint="look", location="s3://b")
    if item == 2:
        raise ValueError("a bug")
    return item + 10


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """`failing` is a function of the package."""
    monkeypatch.setattr(units, "failing", failing, raising=False)
    monkeypatch.setattr(failing, "__module__", "ckptctl.cluster.units")
    monkeypatch.setattr(failing, "__annotations__", {"item": int, "return": int})


def found_by(workers: Here, items: list[int], location: str = "x") -> list[tuple[int, str]]:
    with units.on_workers(workers, failing, items, location) as found:
        return list(found)


def test_results_come_in_order_with_who_found_them(registered: None) -> None:
    found = found_by(Here(), [3, 4, 5])
    assert found == [(13, units.here()), (14, units.here()), (15, units.here())]


def test_an_error_of_ours_is_the_same_error_here(registered: None) -> None:
    with pytest.raises(StalePlanError) as raised:
        found_by(Here(), [1])
    error = raised.value
    assert (error.message, error.changed) == ("changed: \\udcff", ("x",))
    assert (error.hint, error.location) == ("look", "s3://b")


def test_another_error_is_a_bug(registered: None) -> None:
    with pytest.raises(ValueError, match="a bug"):
        found_by(Here(), [2])


def test_a_worker_of_another_version_is_told(
    registered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def older(do: Callable[[], Answer]) -> Answer:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(units, "__version__", "0.0.9")
            answer = do()
        assert isinstance(answer, bytes)
        return answer.replace(_version.__version__.encode(), b"0.0.9")

    with pytest.raises(ClusterError) as raised:
        found_by(Here(around=older), [3], "s3://b/exp")
    assert f"has ckptctl 0.0.9, and this is {_version.__version__}" in raised.value.message
    assert "s3://b/exp" in raised.value.message
    assert f"pip install ckptctl=={_version.__version__}" in str(raised.value.hint)


def test_a_worker_without_ckptctl_is_told(registered: None) -> None:
    def bare(do: Callable[[], Answer]) -> Answer:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "ckptctl.cluster.units", None)
            return do()

    with pytest.raises(ClusterError, match=r"worker on .* has no ckptctl: .*ckptctl.cluster.units"):
        found_by(Here(around=bare), [3])


def elsewhere(place: Path, *, other: bool) -> Here:
    """Workers that do not have the folder that is at `place`, or have another one there."""

    def around(do: Callable[[], Answer]) -> Answer:
        hidden = place.rename(place.with_name("hidden"))
        try:
            if other:
                place.mkdir()
            return do()
        finally:
            if other:
                place.rmdir()
            hidden.rename(place)

    return Here(around=around)


@pytest.mark.parametrize(
    ("other", "why"), [(False, "not there"), (True, "another folder has its name there")]
)
def test_workers_that_do_not_see_the_location_are_told(
    divided: None, tmp_path: Path, other: bool, why: str
) -> None:
    place = copy_of(NAME, tmp_path)
    with pytest.raises(ClusterError) as raised:
        api.scan(str(place), executor=elsewhere(place, other=other))
    assert f"cannot work on {place}: a worker does not see it: process " in raised.value.message
    assert why in raised.value.message and "--executor local" in str(raised.value.hint)


def test_a_folder_that_only_workers_do_not_see_is_told(divided: None, tmp_path: Path) -> None:
    place = copy_of(NAME, tmp_path)
    trial = next(p for p in place.iterdir() if p.is_dir())

    def around(do: Callable[[], Answer]) -> Answer:
        hidden = trial.rename(tmp_path / "hidden")
        try:
            return do()
        finally:
            hidden.rename(trial)

    with pytest.raises(ClusterError, match=f"what begins with {trial.name}\\S* is not all there"):
        api.scan(str(place), executor=Here(around=around))


def test_a_log_that_only_workers_cannot_read_is_told(tmp_path: Path) -> None:
    place = copy_of(NAME, tmp_path)
    log = next(place.glob("*/result.json"))

    def around(do: Callable[[], Answer]) -> Answer:
        hidden = log.rename(tmp_path / "hidden")
        try:
            return do()
        finally:
            hidden.rename(log)

    with pytest.raises(ClusterError, match=r"result\.json cannot be read"):
        api.scan(str(place), executor=Here(around=around))


def test_a_folder_is_known_by_its_number_or_its_time(tmp_path: Path) -> None:
    place = place_of(str(tmp_path))
    number, time = place.marks
    assert open_place(place).root == str(tmp_path)
    open_place(msgspec.structs.replace(place, marks=(number, 0)))
    open_place(msgspec.structs.replace(place, marks=(0, time)))
    with pytest.raises(ClusterError):
        open_place(msgspec.structs.replace(place, marks=(0, 0)))


def test_what_cannot_be_read_at_all_is_no_trouble_of_the_cluster(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="not there"):
        api.scan(str(tmp_path / "nothing"), executor=Here())


@pytest.mark.parametrize("name", ["spark", "Ray", ""])
def test_an_executor_that_there_is_not_is_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(UsageError, match="is not available"):
        api.scan("/nowhere", executor=name)


def test_the_command_line_names_the_executors_that_there_are() -> None:
    assert set(_settings.EXECUTORS) == {"local", *named._HOMES} == set(named.EXECUTORS)


def test_without_a_cluster_nothing_is_imported_for_one() -> None:
    code = (
        "import sys; from ckptctl.cli.main import main; code = main(sys.argv[1:]);"
        "names = ('ckptctl.cluster', 'ckptctl.integrations', 'ray', 'dask', 'distributed');"
        "sys.exit(code or [name for name in names if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "latest", str(corpus(NAME))], capture_output=True, check=False
    )
    assert done.returncode == 1 and done.stderr == b"[]\n" and done.stdout


def test_an_extra_that_is_missing_is_told_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "ckptctl.integrations.dask.cluster", raising=False)
    with pytest.raises(UsageError) as raised:
        api.scan("/nowhere", executor="dask")
    assert "pip install 'ckptctl[dask]'" in str(raised.value.hint)
    assert "dask" not in named._at_work


def test_no_more_is_begun_than_there_is_room_for_and_what_is_begun_ends() -> None:
    begun: list[bytes] = []
    settled: list[bytes] = []

    def submit(unit: bytes) -> bytes:
        begun.append(unit)
        return unit

    units = (bytes([n]) for n in range(9))
    with in_order(submit, lambda unit: unit, settled.extend, units, at_once=3) as answers:
        assert next(answers) == b"\0" and begun == [b"\0", b"\1", b"\2"]
        assert next(answers) == b"\1" and len(begun) == 4
        assert not settled
    assert settled == [b"\2", b"\3"]


def test_the_option_offers_every_executor_that_there_is() -> None:
    """It has a list of its own, since help and completions import no cluster."""
    assert _settings.EXECUTORS == cluster.EXECUTORS
