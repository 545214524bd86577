"""``python -m ckptctl``."""

from ckptctl.cli.main import run

if __name__ == "__main__":
    run()
