"""Make a real experiment: make.py SCENARIO STORAGE_DIR NAME [options]."""

import argparse

import commands
import local_ray


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", choices=commands.SCENARIOS)
    parser.add_argument("storage")
    parser.add_argument("name")
    parser.add_argument("--steps", type=int, help="steps of the first trial")
    parser.add_argument("--stagger", type=int, help="each further trial makes so many steps less")
    parser.add_argument("--every", type=int, help="checkpoint every n-th report (function)")
    parser.add_argument("--frequency", type=int, help="checkpoint_frequency (class)")
    parser.add_argument("--no-at-end", dest="at_end", action="store_const", const=False)
    parser.add_argument("--keep", type=int, help="num_to_keep, ranked by the smallest loss")
    parser.add_argument("--fail-at", type=int, help="fail after this step; resume.py goes on")
    parser.add_argument("--trials", type=int, help="how many trials (2)")
    parser.add_argument("--late", type=int, help="which seed comes last to a perturbation (1)")
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
            local_ray.say(channel, commands.make(work, **options))
        finally:
            local_ray.stop()


if __name__ == "__main__":
    main()
