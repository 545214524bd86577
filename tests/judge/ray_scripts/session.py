"""One Ray for many commands: a JSON request a line on stdin, a JSON answer a line on stdout.

A request is {"command": name, "limit": seconds, "arguments": {...}}; an answer
is {"answer": ...} or {"error": text}. Starting Ray takes longer than a small experiment does.
"""

import json
import sys
import traceback

import commands
import local_ray

COMMANDS = {
    "make": commands.make,
    "read": commands.read,
    "resume": commands.resume,
    "where": lambda work: str(work),
}


def main():
    channel = local_ray.answer_channel()
    local_ray.end_with_parent()
    with local_ray.work_folder() as work:
        try:
            for line in sys.stdin:
                local_ray.say(channel, answer(work, json.loads(line)))
        finally:
            local_ray.stop()


def answer(work, request):
    try:
        with local_ray.time_limit(request["limit"]):
            return {"answer": COMMANDS[request["command"]](work, **request["arguments"])}
    except Exception:
        return {"error": traceback.format_exc()}


if __name__ == "__main__":
    main()
