"""What each kind of job runs. In a module of its own: restored experiments import it by name."""

import json
import tempfile
import time
from pathlib import Path

from compat import (
    RAY_VERSION,
    Checkpoint,
    CheckpointConfig,
    FailureConfig,
    RunConfig,
    get_checkpoint,
    report,
)
from ray import tune


def losses(step):
    return {"loss": round(1.0 / (step + 1) + (step % 3) * 0.25, 6), "acc": round(step / 100, 4)}


def fail_once(config, step):
    """Fail before a step, but only once in the life of the experiment, or where it is told to."""
    if config.get("fail_at") is not None and step > config["fail_at"]:
        marker = Path(config["marker"])
        if not marker.exists():
            marker.write_text(str(step))
            raise RuntimeError("told to fail")


class Counted(tune.Trainable):
    def setup(self, config):
        self.config, self.done_steps = config, 0

    def step(self):
        fail_once(self.config, self.done_steps + 1)
        self.done_steps += 1
        if self.config.get("clock"):
            time.sleep(0.02)
        metrics = losses(self.done_steps)
        if self.config.get("lacks") == self.done_steps:
            del metrics["loss"]
        clock = {"clock": self.done_steps} if self.config.get("clock") else {}
        asks = {"should_checkpoint": True} if self.done_steps == self.config.get("asks_at") else {}
        return {**metrics, **clock, **asks, "done": self.done_steps >= limit_of(self.config)}

    def save_checkpoint(self, folder):
        if self.config.get("fail_save_at") == self.done_steps:
            fail_once({**self.config, "fail_at": 0}, self.done_steps)
        Path(folder, "state.json").write_text(json.dumps({"step": self.done_steps}))

    def load_checkpoint(self, folder):
        self.done_steps = json.loads(Path(folder, "state.json").read_text())["step"]


def limit_of(config):
    """How many steps there are; a file can say so anew for a run that goes on."""
    more = Path(config["marker"] + ".steps")
    return int(more.read_text()) if more.exists() else config["steps"]


def begun():
    checkpoint = get_checkpoint()
    if checkpoint is None:
        return 0
    with checkpoint.as_directory() as folder:
        return json.loads(Path(folder, "state.json").read_text())["step"]


def function(config):
    step = begun()
    while step < limit_of(config):
        step += 1
        fail_once(config, step)
        metrics = losses(step)
        if config.get("lacks") == step:
            del metrics["loss"]
        if step % config["every"]:
            report(metrics)
            continue
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "state.json").write_text(json.dumps({"step": step}))
            report(metrics, checkpoint=Checkpoint.from_directory(folder))


def settings_of(job):
    config = {"steps": job.get("steps", 6), "every": job.get("every", 1)}
    config |= {name: job.get(name) for name in ("asks_at", "fail_at", "fail_save_at", "lacks")}
    folder = job.get("marks") or job["storage"]  # a bucket holds no such file
    return config | {"marker": str(Path(folder, f"{job['name']}-failed"))}


def place_of(job):
    """Where the experiment lies; a bucket is told with its endpoint behind it."""
    base, mark, endpoint = job["storage"].partition("?")
    return f"{base}/{job['name']}{mark}{endpoint}"


def run_config(job):
    callbacks = None
    if job.get("scan"):
        from ckptctl.integrations.ray import checkpoint_scan

        callbacks = [checkpoint_scan(fail_on=job["scan"])]
    return RunConfig(
        name=job["name"],
        storage_path=job["storage"],
        checkpoint_config=CheckpointConfig(**job.get("config", {})),
        failure_config=FailureConfig(max_failures=job.get("retries", 0)),
        callbacks=callbacks,
        verbose=0,
    )


def tuner(trainable, job, **more):
    tuned = {"metric": "loss", "mode": job["tune"]} if job.get("tune") else {}
    return tune.Tuner(
        trainable,
        param_space={**settings_of(job), **more.pop("space", {})},
        tune_config=tune.TuneConfig(**tuned, **more),
        run_config=run_config(job),
    )


def classes(job):
    return tuner(Counted, job)


def functions(job):
    return tuner(function, job)


def population(job):
    from ray.tune.schedulers import PopulationBasedTraining

    scheduler = PopulationBasedTraining(
        time_attr="training_iteration",
        metric="acc" if job.get("by_acc") else "loss",
        mode="min",
        perturbation_interval=2,
        quantile_fraction=0.5,
        hyperparam_mutations={"lr": tune.uniform(0.1, 1.0)},
        synch=bool(job.get("synch", True)),
        require_attrs=False,
    )
    trainable = Counted if job.get("of") == "class" else function
    space = {"lr": tune.grid_search([0.1, 0.9]), "clock": True}
    return tuner(trainable, job, scheduler=scheduler, space=space)


def halving(job):
    """Trials that are paused at every rung, whose only saves are those of the pauses."""
    from ray.tune.schedulers import HyperBandScheduler

    scheduler = HyperBandScheduler("training_iteration", "loss", "min", 4, 2)
    return tuner(Counted, job, scheduler=scheduler, num_samples=4)


def restored(job):
    trainable = {"class": Counted, "function": function, "pbt": function}[job["kind"]]
    if job.get("of") == "class":
        trainable = Counted
    return tune.Tuner.restore(
        place_of(job),
        trainable=trainable,
        resume_unfinished=True,
        resume_errored=True,
        restart_errored=False,
    )


def scaling(workers=1, cpus=0.5):
    import ray.train

    try:
        from ray.train import ScalingConfig
    except ImportError:
        from ray.air import ScalingConfig
    # Of two CPUs a trainer and two workers are to have what they need.
    return ScalingConfig(
        num_workers=workers, trainer_resources={"CPU": 0}, resources_per_worker={"CPU": cpus}
    )


def data_parallel(job):
    from ray.train.data_parallel_trainer import DataParallelTrainer

    return DataParallelTrainer(
        function,
        train_loop_config=settings_of(job),
        scaling_config=scaling(job.get("workers", 1)),
        run_config=run_config(job),
    )


def torch(job):
    from ray.train.torch import TorchTrainer

    return TorchTrainer(
        function,
        train_loop_config=settings_of(job),
        scaling_config=scaling(job.get("workers", 1)),
        run_config=run_config(job),
    )


def boosted(job):
    import ray.data

    rows = [{"x": float(n), "z": float(n % 5), "y": n % 2} for n in range(64)]
    data = {"train": ray.data.from_items(rows)}
    common = {"scaling_config": scaling(cpus=1), "run_config": run_config(job)}
    rounds = job.get("rounds", 6)
    if job["kind"] == "xgboost":
        from ray.train.xgboost import XGBoostTrainer

        params = {"objective": "binary:logistic", "eval_metric": ["logloss"]}
        if job.get("own_loop"):
            return XGBoostTrainer(xgboost_loop, datasets=data, **common)
        return XGBoostTrainer(
            label_column="y", params=params, num_boost_round=rounds, datasets=data, **common
        )
    from ray.train.lightgbm import LightGBMTrainer

    params = {"objective": "binary", "metric": ["binary_logloss"], "verbosity": -1}
    params |= {"min_data_in_leaf": 1, "min_data_in_bin": 1}
    return LightGBMTrainer(
        label_column="y", params=params, num_boost_round=rounds, datasets=data, **common
    )


def xgboost_loop():
    import numpy
    import xgboost
    from ray.train.xgboost import RayTrainReportCallback

    data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), label=[0, 1] * 5)
    xgboost.train(
        {"objective": "binary:logistic"},
        data,
        num_boost_round=6,
        evals=[(data, "train")],
        callbacks=[RayTrainReportCallback(frequency=3, checkpoint_at_end=False)],
    )


def second_generation(job):
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    config = {**settings_of(job), "naming": job.get("naming"), "slow": job.get("slow")}
    return DataParallelTrainer(v2_loop, train_loop_config=config, **v2_configs(job))


def v2_configs(job):
    import ray.train

    run = ray.train.RunConfig(
        name=job["name"],
        storage_path=job["storage"],
        checkpoint_config=ray.train.CheckpointConfig(**job.get("config", {})),
        failure_config=ray.train.FailureConfig(max_failures=job.get("retries", 0)),
    )
    workers = ray.train.ScalingConfig(num_workers=job.get("workers", 2))
    return {"run_config": run, "scaling_config": workers}


def v2_loop(config):
    import ray.train

    rank = ray.train.get_context().get_world_rank()
    step, names = begun_v2(), None
    if config["naming"]:
        from ckptctl.integrations.ray import checkpoint_names

        names = checkpoint_names(config["naming"])
    while step < config["steps"]:
        step += 1
        if rank == 0:
            fail_once(config, step)
        metrics = losses(step)
        metrics["loss"] += rank  # each rank has a loss of its own
        with tempfile.TemporaryDirectory() as folder:
            if rank == 0:
                Path(folder, "state.json").write_text(json.dumps({"step": step}))
            Path(folder, f"rank-{rank}.txt").write_text(str(step))
            ray.train.report(
                metrics,
                checkpoint=ray.train.Checkpoint.from_directory(folder),
                **({"checkpoint_dir_name": names(metrics)} if names else {}),
            )


def begun_v2():
    import ray.train

    checkpoint = ray.train.get_checkpoint()
    if checkpoint is None:
        return 0
    with checkpoint.as_directory() as folder:
        return json.loads(Path(folder, "state.json").read_text())["step"]


def lightning(job):
    import lightning_runs

    return lightning_runs.legacy(job) if RAY_VERSION < (2, 7) else lightning_runs.today(job)


def answers(job):
    import copies

    return copies.Answers(job)


MAKERS = {
    "answers": answers,
    "lightning": lightning,
    "class": classes,
    "function": functions,
    "pbt": population,
    "halving": halving,
    "trainer": data_parallel,
    "torch": torch,
    "xgboost": boosted,
    "lightgbm": boosted,
    "v2": second_generation,
}
