"""What the reading of result logs costs: ``python -m benchmarks.logs PATH``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from ckptctl.layouts.result_log import read_result_log


def main() -> None:
    """Read every result log below a folder, as a scan does."""
    gc.disable()  # as the command line does
    for file in Path(sys.argv[1]).glob("*/result.json"):
        read_result_log(file.name, file.read_bytes())


if __name__ == "__main__":
    main()
