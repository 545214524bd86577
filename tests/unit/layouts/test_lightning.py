"""Files of Lightning: what a real one says, and that a hostile one does no harm."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckptctl.layouts.lightning import MAX_PICKLE, read_lightning
from ckptctl.model.stages import Lightning
from ckptctl.scanner import scan
from tests.support import HEALTHY, copy_of, corpus

V1 = "ray-2.54.1-lightning_v1"
KEY = "ModelCheckpoint{'monitor': 'val_loss', 'mode': 'min', 'every_n_epochs': 1}"


def real() -> bytes:
    (file,) = corpus(V1).glob("*/checkpoint_000003/checkpoint.ckpt")
    return file.read_bytes()


def read(data: bytes, size: int | None = None) -> Lightning | None:
    return read_lightning("x.ckpt", len(data) if size is None else size, lambda: io.BytesIO(data))


def zipped(
    root: Any, *, prefix: str = "archive", method: int = zipfile.ZIP_STORED, extra: int = 0
) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        data = root if isinstance(root, bytes) else pickle.dumps(root, protocol=2)
        archive.writestr(f"{prefix}/data.pkl", data)
        for number in range(extra):
            archive.writestr(f"{prefix}/data/{number}", b"")
    return stream.getvalue()


def root(**values: Any) -> dict[str, Any]:
    state = {"monitor": "val_loss", "best_k_models": {"a": 0.5}, "best_model_score": 0.5}
    callbacks = {KEY: state}
    return {"pytorch-lightning_version": "2.6.6", "epoch": 3, "callbacks": callbacks, **values}


def test_a_real_file_tells_of_its_callbacks() -> None:
    found = read(real())
    assert found is not None
    assert (found.version, found.epoch, found.global_step) == ("2.6.6", 3, 16)
    (saver,) = found.savers
    assert (saver.monitor, saver.mode, saver.keeps) == ("val_loss", "min", 1)
    assert (saver.every_n_epochs, saver.every_n_train_steps, saver.interval) == (1, 0, None)
    assert saver.best == pytest.approx(0.01786261796951294)
    assert saver.provenance.pointer.startswith("callbacks/ModelCheckpoint{")


def test_early_stopping_and_callbacks_of_other_names_are_told() -> None:
    callbacks = {
        "EarlyStopping{'monitor': 'val_acc', 'mode': 'max'}": {"patience": 3, "wait_count": 0},
        "Mine": {"best_k_models": {}, "monitor": "loss"},
        "Progress": {"seen": 1},
        7: {},
    }
    found = read(zipped(root(callbacks=callbacks)))
    assert found is not None
    (stopper,), (saver,) = found.stoppers, found.savers
    assert (stopper.monitor, stopper.mode, stopper.patience) == ("val_acc", "max", 3)
    assert (saver.name, saver.monitor, saver.mode, saver.keeps) == ("Mine", "loss", None, None)


def test_only_the_directory_and_the_pickle_of_a_large_file_are_read() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(root(), protocol=2))
        archive.writestr("archive/data/0", b"\0" * (8 << 20))
    data, reads = stream.getvalue(), []

    class Counted(io.BytesIO):
        def read(self, count: int | None = -1) -> bytes:
            found = super().read(count)
            reads.append(len(found))
            return found

    assert read_lightning("x.ckpt", len(data), lambda: Counted(data)) is not None
    assert sum(reads) < 80_000


def truncated() -> bytes:
    return real()[:3000]


def garbage_in_the_pickle() -> bytes:
    return zipped(b"\x80\x02garbage")


def bomb() -> bytes:
    return zipped(b"\0" * (12 << 20), method=zipfile.ZIP_DEFLATED)


def larger_than_is_read() -> bytes:
    return zipped(b"\0" * (MAX_PICKLE + 1))


def lies_about_its_size() -> bytes:
    data = bytearray(zipped(root()))
    at = data.index(b"PK\x01\x02")
    data[at + 20 : at + 28] = struct.pack("<II", 4096, 4096)
    return bytes(data)


def bad_offset() -> bytes:
    data = bytearray(zipped(root()))
    at = data.index(b"PK\x01\x02")
    data[at + 42 : at + 46] = struct.pack("<I", 0xFFFFFFF0)
    return bytes(data)


def bad_directory() -> bytes:
    data = bytearray(zipped(root()))
    at = data.index(b"PK\x05\x06")
    data[at + 12 : at + 20] = struct.pack("<II", 0xFFFFFFF0, 0xFFFFFFF0)
    return bytes(data)


def encrypted() -> bytes:
    data = bytearray(zipped(root()))
    for mark, behind in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = data.index(mark) + behind
        data[at] |= 1
    return bytes(data)


def two_pickles() -> bytes:
    stream = io.BytesIO(zipped(root()))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("other/data.pkl", pickle.dumps(root(), protocol=2))
    return stream.getvalue()


def no_callbacks() -> bytes:
    return zipped({"pytorch-lightning_version": "2.6.6", "callbacks": [1]})


def not_lightnings() -> bytes:
    return zipped({"state_dict": {}, "callbacks": {}})


HOSTILE: list[Callable[[], bytes]] = [
    bytes,
    truncated,
    garbage_in_the_pickle,
    bomb,
    larger_than_is_read,
    lies_about_its_size,
    bad_offset,
    bad_directory,
    encrypted,
    two_pickles,
    no_callbacks,
    not_lightnings,
    lambda: pickle.dumps(root(), protocol=2),
]


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_what_is_no_file_of_lightnings_or_not_whole_says_nothing(make: Callable[[], bytes]) -> None:
    assert read(make()) is None


def test_a_pickle_that_would_run_something_is_not_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"

    class Runs:
        def __reduce__(self) -> Any:
            return (open, (str(canary), "w"))

    state = {"monitor": Runs(), "best_model_score": Runs(), "best_k_models": Runs()}
    found = read(zipped(root(callbacks={KEY: state}, epoch=Runs())))
    assert found is not None
    assert found.savers[0].best is None
    assert not canary.exists()


@pytest.mark.parametrize(
    "key",
    [
        "ModelCheckpoint{'monitor': __import__('os')}",
        "ModelCheckpoint{" + "(" * 4000,
        "ModelCheckpoint{" + "'a': 1, " * 10_000 + "}",
        "ModelCheckpoint{1, 2}",
        "ModelCheckpoint{'monitor': 7, 'mode': ['min']}",
    ],
)
def test_a_strange_key_gives_no_settings(key: str) -> None:
    found = read(zipped(root(callbacks={key: {"best_k_models": {}}})))
    assert found is not None
    assert (found.savers[0].monitor, found.savers[0].mode) == (None, None)


def test_a_file_that_cannot_be_opened_says_nothing() -> None:
    def gone() -> io.BytesIO:
        raise FileNotFoundError

    assert read_lightning("x.ckpt", 10, gone) is None


def test_a_scan_opens_one_payload_and_a_deep_one_one_of_every_trial(tmp_path: Path) -> None:
    place = copy_of("ray-2.54.1-function_topk", tmp_path)
    for checkpoint in place.glob("*/checkpoint_*"):
        (checkpoint / "checkpoint.ckpt").write_bytes(real())
    opened = {
        deep: [t.lightning is not None for t in scan(str(place), deep=deep)[0].trials]
        for deep in (False, True)
    }
    assert opened[False].count(True) == 1
    assert opened[True] == [True] * len(opened[True]) and len(opened[True]) > 1


def test_payloads_of_other_kinds_are_not_opened_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy_of("ray-2.54.1-pbt", tmp_path)
    for checkpoint in place.glob("*/checkpoint_*"):
        (checkpoint / "weights.ckpt").write_bytes(b"TF")
    seen: list[str] = []
    reading = "ckptctl.layouts.lightning.read_lightning"
    monkeypatch.setattr(reading, lambda path, *_: seen.append(path))
    (experiment,) = scan(str(place))
    assert len(experiment.trials) == 4
    assert len(seen) == 3


def test_every_healthy_experiment_has_its_settings() -> None:
    for name in HEALTHY:
        (experiment,) = scan(str(corpus(name)))
        asked = experiment.settings.requested
        assert (asked is None) == ("train_v2" in name or "lightning_v2" in name), name
