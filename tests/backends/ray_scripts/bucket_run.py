"""One run of Tune in a bucket: bucket_run.py make|restore STORAGE NAME LOG

STORAGE is a bucket as pyarrow takes it, endpoint and all. What each trial was restored from, and
what became of it, is one JSON line on stdout.
"""

import json
import os
import sys
import tempfile
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "judge" / "ray_scripts"))

import local_ray
from ray import tune
from ray.tune import Checkpoint, RunConfig, get_checkpoint, get_context, report

STEPS = 5


def train(config):
    """Save every step; fail after the third in the first run, and go on in the second."""
    begun, checkpoint = 0, get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            state = json.loads(Path(folder, "state.json").read_text())
        begun = state["step"]
        with open(config["log"], "a") as log:
            line = {"trial_id": get_context().get_trial_id(), "path": checkpoint.path, **state}
            log.write(json.dumps(line) + "\n")
    for step in range(begun + 1, STEPS + 1):
        if checkpoint is None and step == 4:
            raise RuntimeError("told to fail")
        with tempfile.TemporaryDirectory() as folder:
            state = {"step": step, "nonce": uuid.uuid4().hex}
            Path(folder, "state.json").write_text(json.dumps(state))
            report({"loss": 1 / step, "step": step}, checkpoint=Checkpoint.from_directory(folder))


def main():
    command, storage, name, log = sys.argv[1:]
    channel = local_ray.answer_channel()
    with local_ray.work_folder() as work:
        local_ray.start(work)
        try:
            if command == "make":
                tuner = tune.Tuner(
                    train,
                    param_space={"lr": tune.grid_search([0.1, 0.2]), "log": log},
                    run_config=RunConfig(name=name, storage_path=storage, verbose=0),
                )
            else:
                bucket, _, query = storage.partition("?")
                tuner = tune.Tuner.restore(f"{bucket}/{name}?{query}", train, resume_errored=True)
            grid = tuner.fit()
            local_ray.say(
                channel,
                {
                    "errors": [str(error) for error in grid.errors],
                    "latest": [r.checkpoint.path for r in grid if r.checkpoint],
                    "best": grid.get_best_result("loss", "min").metrics["step"],
                },
            )
        finally:
            local_ray.stop()


if __name__ == "__main__":
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    main()
