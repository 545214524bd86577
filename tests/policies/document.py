"""The page that tells what each Ray does with each setting, from what was seen."""

from __future__ import annotations

from collections.abc import Sequence

from tests.policies.truth import Seen

_HEAD = """\
# Which setting applies to which trainer

Made by `make policies`, which runs each trainer of each Ray with each setting and looks at what
is left; each cell is what that Ray did. `ckptctl policy` says the same of every run of this
page{but}.

- *frequency* and *at end*: `CheckpointConfig(checkpoint_frequency=2)`, `checkpoint_at_end=True` and
  `=False`. A list is the training iterations of the checkpoints that were there afterwards.
- *refused*: Ray raises an error before anything is trained.
- *ranked*: `num_to_keep=2` by a loss, `min`: the iterations of the checkpoints that stayed, the
  best two and the latest. Train V2 counts no iterations: there it is the order of the saves.

"""
_COLUMNS = ("ranked", "frequency", "at_end_true", "at_end_false")


def render(found: Sequence[Seen]) -> str:
    """The whole page."""
    wrong = [f"- Ray {s.version}, {s.kind}: {text}" for s in found for text in s.wrong]
    parts = [_HEAD.replace("{but}", ", but for what is listed at the end" if wrong else "")]
    for version in dict.fromkeys(s.version for s in found):
        rows = [s for s in found if s.version == version]
        parts.append(f"## Ray {version}\n\n")
        parts.append("| trainer | ranked | frequency | at end: yes | at end: no | policy says |\n")
        parts.append("|---|---|---|---|---|---|\n")
        parts += [_row(s) for s in rows]
        parts.append("\n")
    if wrong:
        parts.append("## Where they differ\n\n" + "\n".join(wrong) + "\n")
    return "".join(parts).rstrip("\n") + "\n"


def _row(seen: Seen) -> str:
    cells = [seen.ray[column] for column in _COLUMNS]
    told = "; ".join(
        f"{name.removeprefix('checkpoint_')}: {seen.told[name].rpartition('(')[2].rstrip(')')}"
        for name in ("checkpoint_frequency", "checkpoint_at_end")
        if name in seen.told
    )
    return f"| {seen.kind} | {' | '.join(cells)} | {told} |\n"
