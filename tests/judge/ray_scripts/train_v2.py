"""Ray Train V2 (Ray 2.54 and newer): make or go on with a run, and what Ray then says of it."""

import json
import logging
import os
import tempfile
from pathlib import Path

os.environ["RAY_TRAIN_V2_ENABLED"] = "1"

import local_ray


def train_run(config):
    import ray.train
    from trainables import fail_if_told, metrics_at, note_restore, read_control, read_state
    from trainables import write_state

    control, restored = read_control(), None
    checkpoint = ray.train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            restored = read_state(folder)
        note_restore(control, "run", checkpoint.path, restored)
    step = restored["iteration"] if restored else 0
    while step < control["steps"]:
        step += 1
        fail_if_told(control, step, "run", restored)
        with tempfile.TemporaryDirectory() as folder:
            write_state(folder, step, "run", 0)
            ray.train.report(
                metrics_at(control, step, 0),
                checkpoint=ray.train.Checkpoint.from_directory(folder),
                checkpoint_dir_name=f"run-{step:03d}" if control["named"] else None,
            )


def fit(work, storage, name, steps, fail_at, keep, named):
    import ray.train
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    logging.getLogger("ray").setLevel(logging.ERROR)
    log = work / "restored.jsonl"
    log.write_text("")
    control = {"steps": steps, "fail_at": fail_at, "named": named, "log": str(log)}
    (work / "control.json").write_text(json.dumps({**control, "perturbed": False}))
    local_ray.start(work)
    ranking = {"checkpoint_score_attribute": "loss", "checkpoint_score_order": "min"}
    trainer = DataParallelTrainer(
        train_run,
        scaling_config=ray.train.ScalingConfig(num_workers=1),
        run_config=ray.train.RunConfig(
            name=name,
            storage_path=storage,
            checkpoint_config=ray.train.CheckpointConfig(
                num_to_keep=keep, **(ranking if keep else {})
            ),
        ),
    )
    error = None
    try:
        trainer.fit()
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    restored = [json.loads(line) for line in log.read_text().splitlines()]
    return {"error": error, "restored": restored, "read": read(storage, name)}


def read(storage, name):
    from commands import described
    from ray.train.v2.api.result import Result

    experiment = Path(storage, name)
    on_disk = {
        path.parent.relative_to(experiment).as_posix(): json.loads(path.read_text())
        for path in experiment.rglob("state.json")
        if ".ckptctl" not in path.parts
    }
    try:
        result = Result.from_path(str(experiment))
    except BaseException as raised:
        return {"error": f"{type(raised).__name__}: {raised}", "on_disk": on_disk}
    return {
        "error": None,
        "on_disk": on_disk,
        "latest": described(result.checkpoint),
        "checkpoints": [
            {**described(checkpoint), "metrics": metrics}
            for checkpoint, metrics in result.best_checkpoints or []
        ],
    }
