"""One Ray for many runs of Train V2: what session.py is for Tune."""

# Before anything else: it decides what `ray.train` is.
import train_v2

import session

if __name__ == "__main__":
    session.COMMANDS = {"fit": train_v2.fit, "read": lambda work, **run: train_v2.read(**run)}
    session.main()
