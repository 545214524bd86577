"""One small Ray on this machine, without dashboard, usage reports or network."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_TRAIN_ENABLE_V2_MIGRATION_WARNINGS": "0",
    # Of two seconds, which every run waits several times.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.1",
    # What else runs on this machine must not cost a trial its worker.
    "RAY_memory_monitor_refresh_ms": "0",
    # Tune asks a worker whether its trials have room, which cannot run one of them afterwards.
    # Ray ends it when it was idle for a second, and starts another for the next run: half of all.
    "RAY_idle_worker_killing_time_threshold_ms": "600000",
    "RAY_num_workers_soft_limit": "3",
    "TUNE_PRINT_ALL_TRIAL_ERRORS": "0",
    "TUNE_FUNCTION_THREAD_TIMEOUT_S": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "PYTHONWARNINGS": "ignore",
}


def answer_channel():
    """Keep stdout for the answer: what Ray prints goes to stderr."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def say(channel, document):
    channel.write(json.dumps(document) + "\n")
    channel.flush()


def end_with_parent():
    """Have this process end in order when the one that started it dies."""
    signal.signal(signal.SIGTERM, lambda signum, frame: sys.exit(143))
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


@contextlib.contextmanager
def work_folder():
    # A socket's path under it must stay below about 107 characters.
    parent = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="rj", dir=parent if len(parent) < 16 else "/tmp"))
    try:
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        os.environ["JUDGE_CONTROL"] = str(folder / "control.json")
        os.environ["PYTHONPATH"] = str(HERE)
        # Trials that are ended leave what they were about to report.
        (folder / "tmp").mkdir()
        os.environ["TMPDIR"] = str(folder / "tmp")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start(folder):
    import ray

    if ray.is_initialized():
        return
    leave_out_what_nobody_asks()
    ray.init(
        num_cpus=2,
        num_gpus=0,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=True,
        logging_level="ERROR",
        object_store_memory=80 * 1024 * 1024,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(folder / "ray"),
    )


def leave_out_what_nobody_asks():
    """No scaling, no web page and no logs of workers on the driver, which cost more than trials."""
    from ray._private.node import Node

    for process in ("monitor", "log_monitor", "api_server"):
        setattr(Node, f"start_{process}", lambda self, **options: None)


def stop():
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        ray.shutdown()


@contextlib.contextmanager
def time_limit(seconds):
    def give_up(signum, frame):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
