"""Run by a Ray: makes an experiment. ``python run_ray.py FOLDER TRIALS RESULTS CHECKPOINTS``."""

import os
import sys
import tempfile

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("TUNE_MAX_PENDING_TRIALS_PG", "8")

import ray
from ray import tune


def trainable(config):
    for step in range(1, config["results"] + 1):
        metrics = {"loss": config["lr"] / step, "eval": {"acc": 1 - 1 / step}}
        if step % config["every"]:
            tune.report(metrics)
            continue
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "model.pt"), "wb") as file:
                file.write(b"weights")
            tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(folder))


def main():
    folder, trials, results, checkpoints = sys.argv[1], *map(int, sys.argv[2:])
    ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    tune.Tuner(
        trainable,
        param_space={
            "lr": tune.uniform(0.1, 1.0),
            "results": results,
            "every": results // checkpoints,
        },
        tune_config=tune.TuneConfig(
            num_samples=trials, metric="loss", mode="min", reuse_actors=True
        ),
        run_config=tune.RunConfig(
            name="many",
            storage_path=folder,
            verbose=0,
            checkpoint_config=tune.CheckpointConfig(
                num_to_keep=4, checkpoint_score_attribute="loss", checkpoint_score_order="min"
            ),
        ),
    ).fit()
    ray.shutdown()


if __name__ == "__main__":
    main()
