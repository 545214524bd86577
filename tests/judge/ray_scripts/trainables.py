"""Two small trainables whose checkpoints say what they hold.

They live in a module of their own, because a restored experiment imports them by name.
What a run shall do (how many steps, where to fail) is not in the config, which the experiment
keeps, but in a control file, so that a second run of the same experiment can do something else.
"""

import json
import os
import tempfile
import time
import uuid
from pathlib import Path

from compat import Checkpoint, get_checkpoint, get_context, report
from ray import tune

CONTROL_ENV = "JUDGE_CONTROL"


def read_control():
    return json.loads(Path(os.environ[CONTROL_ENV]).read_text())


def metrics_at(control, step, seed):
    # Not monotone, so that the best checkpoint is seldom the latest, and never twice the same.
    loss = round(1.0 / (step + 1) + ((step * 7 + 3) % 5) * 0.11 + seed * 0.013, 6)
    accuracy = round(1.0 - loss / 4, 6)
    metrics = {"step": step, "loss": loss, "eval": {"acc": accuracy}, "val/f1": accuracy / 2}
    return {**metrics, "clock": step} if control["perturbed"] else metrics


def limit_for(control, seed):
    return control["steps"] - control["stagger"] * seed


def write_state(folder, step, trial_id, seed):
    # The nonce tells two saves of the same step apart.
    state = {"iteration": step, "trial_id": trial_id, "seed": seed, "nonce": uuid.uuid4().hex}
    Path(folder, "state.json").write_text(json.dumps(state))
    Path(folder, "weights.bin").write_bytes(bytes((step + k) % 256 for k in range(64)))


def read_state(folder):
    return json.loads(Path(folder, "state.json").read_text())


def note_restore(control, trial_id, path, state):
    line = json.dumps({"trial_id": trial_id, "path": str(path), "state": state})
    with open(control["log"], "a", encoding="utf-8") as log:
        log.write(line + "\n")


def fail_if_told(control, step, trial_id, restored):
    """Raise before the given step (and everything that follows it) is made."""
    time.sleep(control.get("pause") or 0)
    retry_at = control.get("retry_at")
    if retry_at is not None and restored is None and step > retry_at:
        raise RuntimeError(f"told to fail after step {retry_at}, and to be retried")
    foreign = restored is not None and restored["trial_id"] != trial_id
    if foreign and control["perturbed"]:
        raise RuntimeError("told to fail on the checkpoint of another trial")
    if control["fail_at"] is not None and step > control["fail_at"]:
        raise RuntimeError(f"told to fail after step {control['fail_at']}")


def take_turn(control, step, seed):
    """Have the result of the late seed come after the other's where Ray perturbs both.

    In the other order Ray may pause the exploited trial before it has registered its own save.
    """
    if not control["perturbed"] or step != 2:
        return
    arrived = Path(control["log"]).with_name("arrived")
    if seed != control["late"]:
        arrived.touch()
        return
    deadline = time.monotonic() + 30
    while not arrived.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)


def train_function(config):
    control = read_control()
    trial_id = get_context().get_trial_id()
    restored = None
    checkpoint = get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            restored = read_state(folder)
        path = getattr(checkpoint, "path", None) or folder
        note_restore(control, trial_id, path, restored)
    step = restored["iteration"] if restored else 0
    while step < limit_for(control, config["seed"]):
        step += 1
        fail_if_told(control, step, trial_id, restored)
        metrics = metrics_at(control, step, config["seed"])
        take_turn(control, step, config["seed"])
        if step % config["every"]:
            report(metrics)
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_state(folder, step, trial_id, config["seed"])
            report(metrics, checkpoint=Checkpoint.from_directory(folder))


class ClassTrainable(tune.Trainable):
    def setup(self, config):
        self.seed = config["seed"]
        self.control = read_control()
        self.step_done = 0
        self.restored = None

    def step(self):
        fail_if_told(self.control, self.step_done + 1, self.trial_id, self.restored)
        self.step_done += 1
        take_turn(self.control, self.step_done, self.seed)
        done = self.step_done >= limit_for(self.control, self.seed)
        return {**metrics_at(self.control, self.step_done, self.seed), "done": done}

    def save_checkpoint(self, checkpoint_dir):
        write_state(checkpoint_dir, self.step_done, self.trial_id, self.seed)

    def load_checkpoint(self, checkpoint_dir):
        self.restored = read_state(checkpoint_dir)
        self.step_done = self.restored["iteration"]
        note_restore(self.control, self.trial_id, checkpoint_dir, self.restored)
