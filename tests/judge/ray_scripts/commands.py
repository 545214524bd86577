"""What a judge can be asked: make an experiment, read one, go on with one."""

import contextlib
import hashlib
import json
import logging
import math
import os
import shutil
from pathlib import Path

import local_ray

SCENARIOS = ("function", "function_every", "class", "pbt", "pbt_class", "finished_nine")

METRICS = ("training_iteration", "step", "loss", "eval/acc", "val/f1", "checkpoint_dir_name")


def make(work, scenario, storage, name, **options):
    """Run a new experiment of two trials and say where it is."""
    from compat import CheckpointConfig, FailureConfig, RunConfig
    from ray import tune

    scheduler = None
    settings = {"steps": 4, "every": 1, "frequency": 1, "at_end": True, "keep": None}
    settings |= {"fail_at": None, "stagger": 0, "trials": 2, "late": 1, "max_failures": 0}
    settings |= {
        "function": {},
        "function_every": {"every": 2, "steps": 6},
        "class": {},
        # Between two perturbations: a trial that waits for one which failed waits for ever.
        "pbt": {"fail_at": 3},
        "pbt_class": {"fail_at": 3},
        "finished_nine": {"steps": 9, "stagger": 2},
    }[scenario]
    settings |= options
    if settings["fail_at"] is not None:
        settings["steps"] = max(settings["steps"], settings["fail_at"] + 2)
    is_class = scenario in ("class", "pbt_class")
    config = {"seed": tune.grid_search(list(range(settings["trials"]))), "lr": 0.1}
    checkpoints = {"num_to_keep": settings["keep"]}
    if settings["keep"]:
        checkpoints |= {
            "checkpoint_score_attribute": "loss",
            "checkpoint_score_order": "min",
        }
    if is_class:
        checkpoints["checkpoint_frequency"] = settings["frequency"]
        checkpoints["checkpoint_at_end"] = settings["at_end"]
    else:
        config["every"] = settings["every"]
    if scenario.startswith("pbt"):
        scheduler = population_based(tune)
    run_config = RunConfig(
        name=name,
        storage_path=str(storage),
        checkpoint_config=CheckpointConfig(**checkpoints),
        failure_config=FailureConfig(max_failures=settings["max_failures"]),
        verbose=0,
    )
    with running(work, Path(storage), settings, perturbed=scheduler is not None):
        tuner = tune.Tuner(
            trainable_named("ClassTrainable" if is_class else "train_function"),
            param_space=config,
            tune_config=tune.TuneConfig(
                metric=None if scheduler else "loss",
                mode=None if scheduler else "min",
                scheduler=scheduler,
            ),
            run_config=run_config,
        )
        errors = [str(error) for error in tuner.fit().errors]
    unasked = [error for error in errors if "told to fail" not in error]
    if unasked:
        raise RuntimeError(f"a trial failed of itself: {unasked[0]}")
    return {"experiment": str(Path(storage, name)), "errors": errors}


def population_based(tune):
    # Synchronous, and the first seed is always the worse one (that is, of smaller loss): which
    # trial takes over which checkpoint is then the same in every run. A resumed run reports no
    # "clock", so that it perturbs nothing further.
    from ray.tune.schedulers import PopulationBasedTraining

    return PopulationBasedTraining(
        time_attr="clock",
        metric="loss",
        mode="max",
        perturbation_interval=2,
        quantile_fraction=0.5,
        resample_probability=0.0,
        hyperparam_mutations={"lr": tune.uniform(0.05, 0.2)},
        synch=True,
        require_attrs=False,
    )


def resume(work, experiment, **options):
    """Restore an experiment, let it go on, and tell what became of its checkpoints."""
    from ray import tune

    experiment = Path(experiment)
    settings = {"steps": 6, "fail_at": None, "stagger": 0, "late": 1} | options
    before = checkpoints_on_disk(experiment)
    name = recorded_trainable(experiment)
    with running(work, experiment.parent, settings) as restored:
        tuner = tune.Tuner.restore(
            str(experiment), trainable=trainable_named(name), resume_errored=True
        )
        grid = tuner.fit()
        # A Ray that fails to load the state says so on its log only, and starts from scratch.
        trial_ids = [result.metrics.get("trial_id") for result in grid if result.metrics]
    after = checkpoints_on_disk(experiment)
    return {
        "restored": restored,
        "trial_ids": trial_ids,
        "errors": [str(error) for error in grid.errors],
        "experiment_path": str(getattr(grid, "experiment_path", experiment)),
        "before": before,
        "after": after,
        "overwritten": differing(before, after),
        "new": {
            trial: sorted(set(folders) - set(before.get(trial, {})))
            for trial, folders in after.items()
        },
        "gone": {
            trial: sorted(set(folders) - set(after.get(trial, {})))
            for trial, folders in before.items()
        },
        "rows": logged_iterations(experiment),
        **read_after(work, experiment),
    }


def read_after(work, experiment):
    # Ray 2.9 cannot open what it wrote itself after a restore that failed.
    try:
        return {"read": read(work, experiment), "read_error": None}
    except Exception as error:
        return {"read": None, "read_error": f"{type(error).__name__}: {error}"}


def read(work, experiment):
    """What the real readers say, without restoring anything."""
    from ray.tune import ExperimentAnalysis, ResultGrid

    experiment = Path(experiment)
    analysis = ExperimentAnalysis(str(experiment))
    grid = ResultGrid(analysis)
    trials = []
    for trial, result in zip(analysis.trials, grid, strict=True):
        trials.append(
            {
                "trial_id": trial.trial_id,
                "dirname": Path(result.path or trial.local_path).name,
                "status": trial.status,
                "error": str(result.error) if result.error else None,
                "iteration": (trial.last_result or {}).get("training_iteration"),
                "latest": described(result.checkpoint),
                "checkpoints": [
                    {**described(checkpoint), "metrics": subset(metrics)}
                    for checkpoint, metrics in result.best_checkpoints or []
                ],
            }
        )
    document = {"trials": trials, "best": None, "best_error": None, "from_path": {}}
    try:
        best = grid.get_best_result(metric="loss", mode="min")
        document["best"] = described(best.checkpoint)
        document["best_metrics"] = subset(best.metrics)
        by_metric = best.get_best_checkpoint("loss", "min")
        document["best_by_metric"] = described(by_metric)
    except Exception as error:
        document["best_error"] = f"{type(error).__name__}: {error}"
    for folder in sorted(path for path in experiment.iterdir() if (path / "params.json").exists()):
        document["from_path"][folder.name] = read_trial(folder)
    return document


def read_trial(folder):
    from compat import Result

    try:
        result = Result.from_path(str(folder))
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "latest": None, "checkpoints": []}
    return {
        "error": None,
        "latest": described(result.checkpoint),
        "checkpoints": [
            {**described(checkpoint), "metrics": subset(metrics)}
            for checkpoint, metrics in result.best_checkpoints or []
        ],
    }


def described(checkpoint):
    if checkpoint is None:
        return None
    path = getattr(checkpoint, "path", None) or getattr(checkpoint, "_local_path", None)
    return {
        "path": path,
        "name": Path(path).name,
        "exists": Path(path).is_dir(),
        "state": state_in(path),
    }


def state_in(folder):
    state = Path(folder, "state.json")
    return json.loads(state.read_text()) if state.is_file() else None


def subset(metrics):
    flat = {}
    for key, value in (metrics or {}).items():
        if isinstance(value, dict):
            flat |= {f"{key}/{inner}": deeper for inner, deeper in value.items()}
        else:
            flat[key] = value
    return {key: plain(flat[key]) for key in METRICS if key in flat}


def plain(value):
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def checkpoints_on_disk(experiment):
    """What every checkpoint folder holds, by trial folder and name."""
    found = {}
    for trial in sorted(path for path in experiment.iterdir() if (path / "params.json").exists()):
        found[trial.name] = {
            folder.name: {"digest": digest(folder), "state": state_in(folder)}
            for folder in sorted(trial.iterdir())
            if folder.is_dir() and folder.name.startswith("checkpoint")
        }
    return found


def logged_iterations(experiment):
    """The iterations in every result log, by trial folder."""
    return {
        log.parent.name: [json.loads(row)["training_iteration"] for row in log.open()]
        for log in sorted(experiment.glob("*/result.json"))
    }


def digest(folder):
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(str(path.relative_to(folder)).encode())
        total.update(path.read_bytes() if path.is_file() else b"")
    return total.hexdigest()


def differing(before, after):
    return [
        f"{trial}/{name}"
        for trial, folders in before.items()
        for name, value in folders.items()
        if after.get(trial, {}).get(name, value) != value
    ]


def recorded_trainable(experiment):
    states = sorted(experiment.glob("experiment_state-*.json"))
    state = json.loads(states[-1].read_text())
    trial = state["trial_data"][0][0] if "trial_data" in state else state["checkpoints"][0]
    return json.loads(trial)["trainable_name"]


def trainable_named(name):
    import trainables

    return getattr(trainables, name)


@contextlib.contextmanager
def running(work, storage, settings, perturbed=False):
    """Ray started, the control file written, and the staging of the run removed afterwards.

    Staging is removed as if the machine or the Ray session were another one the next time: as
    long as it is there, Ray uploads the result logs in it over those of the storage.
    """
    from compat import RAY_VERSION

    logging.getLogger("ray").setLevel(logging.ERROR)
    local_ray.start(work)
    log = work / "restored.jsonl"
    log.write_text("")
    (work / "arrived").unlink(missing_ok=True)
    control = {key: settings[key] for key in ("steps", "fail_at", "stagger", "late")}
    control |= {"perturbed": perturbed, "log": str(log)}
    control |= {key: settings.get(key) for key in ("retry_at", "pause")}
    (work / "control.json").write_text(json.dumps(control))
    cache = work / "cache"
    if RAY_VERSION < (2, 12):
        local = storage if settings.get("local") else settings.get("cache", cache)
        os.environ["RAY_AIR_LOCAL_CACHE_DIR"] = str(local)
    restored = []
    try:
        yield restored
    finally:
        restored.extend(json.loads(line) for line in log.read_text().splitlines())
        if not settings.get("keep_staging"):
            for staging in (cache, *work.glob("ray/session_2*/artifacts/*")):
                shutil.rmtree(staging, ignore_errors=True)
