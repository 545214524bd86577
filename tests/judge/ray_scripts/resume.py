"""Restore an experiment and let it go on: resume.py EXPERIMENT [--steps N] [--fail-at K]."""

import argparse

import commands
import local_ray


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment")
    parser.add_argument("--steps", type=int, help="up to this step (of the first trial)")
    parser.add_argument("--stagger", type=int, help="each further trial makes so many steps less")
    parser.add_argument("--fail-at", type=int, help="fail again after this step")
    parser.add_argument(
        "--local", action="store_const", const=True, help="no staging (before 2.12)"
    )
    parser.add_argument("--time-limit", type=int, default=300)
    arguments = vars(parser.parse_args())
    limit = arguments.pop("time_limit")
    options = {key: value for key, value in arguments.items() if value is not None}
    channel = local_ray.answer_channel()
    with local_ray.work_folder() as work, local_ray.time_limit(limit):
        try:
            local_ray.say(channel, commands.resume(work, **options))
        finally:
            local_ray.stop()


if __name__ == "__main__":
    main()
