"""Runs jobs, one JSON object a line on stdin, in one Ray; answers each with a line on stdout.

A job makes or goes on with one experiment: {"kind": …, "storage": …, "name": …, and settings}.
What a job asks of ckptctl is in "naming", "index" and "scan"; `ckptctl` is on the PYTHONPATH.
"""

import contextlib
import json
import logging
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
JUDGE = HERE.parents[1] / "judge" / "ray_scripts"
sys.path[:0] = [str(HERE), str(JUDGE)]

import local_ray


def hooks(job):
    """What the job installs, in order."""
    stack = contextlib.ExitStack()
    if job.get("index") or job.get("naming"):
        from ckptctl.integrations.ray import checkpoint_index, checkpoint_naming

        if job.get("index"):
            stack.enter_context(checkpoint_index(job["index"]))
        if job.get("naming") and job["kind"] != "v2":
            stack.enter_context(checkpoint_naming(job["naming"]))
    return stack


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def run(job):
    from kinds import MAKERS, restored

    told = Warnings()
    logging.getLogger("ckptctl").addHandler(told)
    error = None
    try:
        with hooks(job):
            if job.get("restore"):
                restored(job).fit()
            else:
                MAKERS[job["kind"]](job).fit()
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    finally:
        logging.getLogger("ckptctl").removeHandler(told)
    return {"error": error, "warnings": told.texts}


def main():
    channel = local_ray.answer_channel()
    local_ray.end_with_parent()
    path = os.environ["PYTHONPATH"]
    with local_ray.work_folder() as work:
        # Of the workers too, which are what has to find ckptctl.
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), str(JUDGE), path])
        try:
            for line in sys.stdin:
                job = json.loads(line)
                if not job.get("no_ray"):
                    local_ray.start(work)
                    logging.getLogger("ray").setLevel(logging.ERROR)
                with local_ray.time_limit(job.get("limit", 240)):
                    answer = run(job)
                local_ray.say(channel, answer)
        finally:
            local_ray.stop()


if __name__ == "__main__":
    main()
