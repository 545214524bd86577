"""Print what Ray's own readers say of an experiment: read.py EXPERIMENT."""

import argparse

import commands
import local_ray


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment")
    parser.add_argument("--time-limit", type=int, default=120)
    arguments = parser.parse_args()
    channel = local_ray.answer_channel()
    with local_ray.work_folder() as work, local_ray.time_limit(arguments.time_limit):
        local_ray.say(channel, commands.read(work, arguments.experiment))


if __name__ == "__main__":
    main()
