"""docs/compatibility.md, written from what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.judge.judge import REPOSITORY, rays_folder
from tests.matrix import results
from tests.matrix.results import Result
from tests.matrix.scenarios import NAMES, RAYS, SCENARIOS, TRAIN_V2, cells

DOCUMENT = REPOSITORY / "docs" / "compatibility.md"

HEAD = """\
# What was run with which Ray

<!-- Written by `make matrix` from what it saw; edits are lost. -->

Each row is a run of the real Ray of that version: it made the experiment, and after every write of
ckptctl it read the experiment, restored it and went on training. `make matrix` runs all of it
again; a row that is fresh is not run twice.

## Scenarios

{scenarios}

Where nothing else is said, a run broke off by an exception in training. What a kill left was mended
first, by `ckptctl reindex --quarantine --allow-live`; the columns after it begin from there. Where
folders stayed whose metrics neither a record nor a row tells, the others were renamed with
`--on-missing skip`. Where a row names `{{index}}`, `{{training_iteration}}` was tried first, and
refused.

## What the columns say

- **Scan**: the errors and warnings of `ckptctl scan` in the healthy experiment. CKP106 in class
  trainables of Ray 2.7 and CKP108 in population-based runs are Ray's own faults: it writes the name
  of a save on the row before it, and two saves into one folder. CKP107 is a warning that every
  class trainable since 2.8 gets: its rows name no checkpoint.
- **Renamed**: `ckptctl rename --to 'checkpoint_{{training_iteration:06d}}-{{loss:.4f}}'`. Ray lists
  the same checkpoints, latest and best, `Result.from_path` lists every folder with its own metrics,
  and the restored run went on from the iteration before the arrow to the one behind it. It
  overwrote and removed nothing (but what retention evicts), and its saves sort behind the others.
- **Older state**: after that, the state file from before the run went on was put back beside the
  newer folders and rows. `ckptctl reindex`, then a scan exits 0, and Ray goes on from the newest
  checkpoint whose metrics are known. The result rows of class trainables do not say which folder
  they were saved in, so there that is an earlier one, and the newer folders are only spared.
- **Folders and index**: in the experiment as it was made, the latest folder of one trial and the
  oldest of another were removed, and the recorded index of a third (with two trials: of the second)
  was set back by two, or to zero. Ray 2.6 and Train V2 record no index. Then `ckptctl reindex`, a
  scan that exits 0, and Ray goes on as above.
- **Undone**: how many of these writes were taken back by `ckptctl undo` before they were done
  again, and gave every byte back.

The iterations that trials went on from are listed once each.
"""


def write(path: Path = DOCUMENT) -> None:
    """Write the document from all results that are there."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        render([found for cell in cells(RAYS, NAMES) if (found := results.load(*cell))])
    )


def render(found: Sequence[Result]) -> str:
    scenarios = [f"- **{scenario.name}**: {scenario.told}." for scenario in SCENARIOS]
    scenarios.append(
        f"- **{TRAIN_V2}**: a run of Ray Train V2 that failed after four saves (in 2.48 with"
        " `RAY_TRAIN_V2_ENABLED=1`). It has no trials and no index; its books are one JSON file."
    )
    parts = [HEAD.format(scenarios="\n".join(scenarios)), summary(found)]
    parts += [
        section(version, mine)
        for version in RAYS
        if (mine := [each for each in found if each.version == version])
    ]
    return "\n".join(parts)


def summary(found: Sequence[Result]) -> str:
    """One mark for each version and scenario."""
    marks = {(each.version, each.scenario): "failed" if each.failed else "yes" for each in found}
    lines = ["## In short", "", f"| Ray | {' | '.join(NAMES)} |", f"|---|{'---|' * len(NAMES)}"]
    for version in RAYS:
        had = cells((version,), NAMES)
        row = [
            marks.get((version, name), "not run") if (version, name) in had else "–"
            for name in NAMES
        ]
        lines.append(f"| {version} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def section(version: str, mine: Iterable[Result]) -> str:
    mine = list(mine)
    lines = [
        f"## Ray {version}",
        "",
        f"{installed(version)}. Run on {', '.join(sorted({each.date for each in mine}))}.",
        "",
        "| scenario | made | scan | renamed | older state | folders and index | undone |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [row(each) for each in mine]
    return "\n".join(lines) + "\n"


def row(result: Result) -> str:
    names = ("made", "scanned", "renamed", "older state", "folders and index", "undone")
    return f"| {result.scenario} | {' | '.join(cell(result, name) for name in names)} |"


def cell(result: Result, name: str) -> str:
    phase = result.phase(name)
    if phase is None:
        return "not run"
    text = " ".join(phase.text.split()).replace("|", "\\|")
    if phase.state == "failed":
        return f"**failed**: {text[:400]}"
    return text


def installed(version: str) -> str:
    """What Ray was installed with."""
    site = next((rays_folder() / f"ray-{version}").glob("lib/python*/site-packages"), None)
    if site is None:
        return "Installed elsewhere"
    names = ("numpy", "pandas", "pyarrow", "pydantic", "setuptools")
    versions = (
        f"{name} {path.name.split('-')[1].removesuffix('.dist')}"
        for name in names
        for path in sorted(site.glob(f"{name}-*.dist-info"))
    )
    return f"{site.parent.name.replace('python', 'Python ')} with {', '.join(versions)}"
