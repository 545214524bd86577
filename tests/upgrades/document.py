"""The tables of docs/upgrading-ray.md, written from what was seen; the prose stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.judge.judge import REPOSITORY
from tests.upgrades import results
from tests.upgrades.pairs import GOES_ON, NAMES, RAYS, TRAIN_V2, TRAIN_V2_RAYS, Seen, pairs

DOCUMENT = REPOSITORY / "docs" / "upgrading-ray.md"
BEGIN, END = "<!-- begin: make upgrades -->", "<!-- end: make upgrades -->"
TITLES = {
    "function": "Function trainables",
    "class": "Class trainables",
    "pbt": "Population-based training",
    TRAIN_V2: "Train V2",
}


def write(path: Path = DOCUMENT) -> None:
    """Put the tables of all results that are there between the marks."""
    found = {pair: seen for pair in pairs() if (seen := results.load(*pair)) is not None}
    text = path.read_text()
    head, rest = text.split(BEGIN)
    path.write_text(f"{head}{BEGIN}\n\n{tables(found)}\n{END}{rest.split(END)[1]}")


def tables(found: Mapping[tuple[str, str, str], Seen]) -> str:
    """For each scenario what the Rays do as it is, and what they do after `migrate`."""
    parts = []
    for name in NAMES:
        rays = TRAIN_V2_RAYS if name == TRAIN_V2 else RAYS
        parts.append(f"### {TITLES[name]}\n")
        parts.append("As it is:\n")
        parts.append(table(found, name, rays, lambda seen: seen.real))
        parts.append("After `ckptctl migrate`, with the number of edits:\n")
        parts.append(table(found, name, rays, migrated))
    wrong = [seen for seen in found.values() if seen.trouble]
    told = sum(seen.told == seen.real for seen in found.values())
    parts.append(
        f"`scan --for-ray` told beforehand what the Ray then did in {told} of {len(found)} pairs."
    )
    parts += [
        f"\n- {seen.scenario}, {seen.source} to {seen.target}: {'; '.join(seen.trouble)}"
        for seen in wrong
    ]
    return "\n".join(parts) + "\n"


def table(
    found: Mapping[tuple[str, str, str], Seen],
    name: str,
    rays: tuple[str, ...],
    cell: Callable[[Seen], str],
) -> str:
    lines = [f"| written by ↓ read by → | {' | '.join(rays)} |", f"|---|{'---|' * len(rays)}"]
    for source in rays:
        row = [found.get((name, source, target)) for target in rays]
        cells = ["not run" if seen is None else cell(seen) for seen in row]
        lines.append(f"| {source} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def migrated(seen: Seen) -> str:
    if seen.migrated.startswith("refused"):
        return "refused"
    if seen.edits == 0:
        return "nothing to do"
    return f"{seen.migrated} ({seen.edits})" if seen.migrated == GOES_ON else seen.migrated
