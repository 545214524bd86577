"""How a run was set up, as its own files say: ``tuner.pkl``, ``trainer.pkl``, and our own note.

Both are bare pickles (Ray 2.6 to 2.60). They hold a user's functions and callbacks too, so they
are decoded as data and asked by path; nothing of them is run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_records import load_json
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_reader import decode
from ckptctl.layouts.base import Source
from ckptctl.layouts.pickled import Pickled
from ckptctl.layouts.tree import OWN_FOLDER, Tree
from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.metrics import whole_number
from ckptctl.model.stages import (
    NO_SETTINGS,
    Lightning,
    Requested,
    RunSettings,
    Saver,
    Tuned,
)

TUNER, TRAINER = "tuner.pkl", "trainer.pkl"
NOTE: Final = f"{OWN_FOLDER}/train-v2.json"
"""What `ckptctl.integrations.ray` writes down about a run of Train V2."""
MAX_BYTES: Final = 32 * 1024 * 1024
"""Larger files, which hold data of the user's, are passed over."""
_LIMITS = Limits(max_bytes=MAX_BYTES, max_ops=1_000_000)
_MAX_NOTE = 64 * 1024


def read_settings(tree: Tree, source: Source, own: Collection[str]) -> RunSettings:
    """What the files of a run say about how it was set up; nothing where there are none.

    `own` are the paths of what lies in ckptctl's own folder.
    """
    tuner, trainer = _open(tree, source, TUNER), _open(tree, source, TRAINER)
    recorded = _note(source) if NOTE.rpartition("/")[2] in own else None
    if not tuner.present and not trainer.present and recorded is None:
        return NO_SETTINGS
    parts = trainer.pair()
    params = Pickled(parts[1]) if parts else Pickled(None, present=False)
    where, asked = _asked(tuner, params)
    return RunSettings(
        trainer=parts[0].name if parts and isinstance(parts[0], Opaque) else None,
        own_loop=params.at("train_loop_per_worker").present if parts else None,
        trainable=tuner.text("__trainable_name"),
        requested=_requested(asked, where) if asked.present else None,
        tuned=_tuned(tuner.at("_tune_config")),
        recorded=recorded,
        configured=_configured(params.at("lightning_config", "_model_checkpoint_config")),
    )


def _open(tree: Tree, source: Source, name: str) -> Pickled:
    absent = Pickled(None, present=False)
    entry = tree.file(name)
    if entry is None or not 0 < entry.size <= MAX_BYTES:
        return absent
    data = source.peek(name, limit=MAX_BYTES)
    if data is None:
        return absent
    try:
        return Pickled(decode(data, _LIMITS).root)
    except CodecError:
        return absent


def _asked(tuner: Pickled, params: Pickled) -> tuple[Provenance, Pickled]:
    """The settings as Tune got them; those of the trainer where that is all there is."""
    asked = tuner.at("_run_config", "checkpoint_config")
    if asked.present:
        return Provenance(file=TUNER, pointer="#_run_config/checkpoint_config"), asked
    place = Provenance(file=TRAINER, pointer="#1/run_config/checkpoint_config")
    return place, params.at("run_config", "checkpoint_config")


def _requested(config: Pickled, place: Provenance) -> Requested:
    at_end = config.at("checkpoint_at_end").plain()
    return Requested(
        provenance=place,
        num_to_keep=config.whole("num_to_keep"),
        monitor=config.text("checkpoint_score_attribute"),
        mode=config.text("checkpoint_score_order"),
        frequency=config.whole("checkpoint_frequency"),
        at_end=at_end if isinstance(at_end, bool) else None,
    )


def _tuned(config: Pickled) -> Tuned | None:
    metric = config.text("metric")
    if metric is None:
        return None
    place = Provenance(file=TUNER, pointer="#_tune_config")
    return Tuned(provenance=place, metric=metric, mode=config.text("mode"))


def _configured(config: Pickled) -> Lightning | None:
    """What ``LightningConfigBuilder.checkpointing()`` was given (Ray 2.6 and 2.7).

    Ray's own subclass of `ModelCheckpoint` gets it; what is not given has Lightning's default.
    """
    if not config.present:
        return None
    found = config.plain()
    keeps = whole_number(found.get("save_top_k", 1)) if isinstance(found, Mapping) else None
    saver = Saver(
        name="RayModelCheckpoint",
        provenance=Provenance(file=TRAINER, pointer="#1/lightning_config/_model_checkpoint_config"),
        monitor=config.text("monitor"),
        mode=config.text("mode") or "min",
        keeps=keeps,
        keeps_exactly=True,
        every_n_epochs=config.whole("every_n_epochs"),
        every_n_train_steps=config.whole("every_n_train_steps"),
    )
    return Lightning(file=TRAINER, savers=(saver,))


def _note(source: Source) -> Mapping[str, object] | None:
    data = source.peek(NOTE, limit=_MAX_NOTE)
    if data is None:
        return None
    try:
        note = load_json(data)
    except CodecError:
        return None
    return note if isinstance(note, Mapping) else None
