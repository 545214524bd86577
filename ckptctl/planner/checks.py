"""Why new names of a trial must be refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.names import PREFIX, check_name, fold, ray_name
from ckptctl.model.plan import Refusal
from ckptctl.model.wording import count
from ckptctl.planner.ground import After
from ckptctl.planner.wording import Describe, command, described, only_name

__all__ = ["check"]


def check(
    after: After,
    *,
    last_used: int | None,
    allow_reorder: bool = False,
    describe: Describe = only_name,
) -> Iterator[Refusal]:
    """Every reason against the new names; none where no name changes.

    `last_used` is the trial's counter as the plan leaves it. With `allow_reorder` names may sort
    in another order than they were saved, but never collide. Names that cannot be given are
    refused for that alone: what they would collide with or sort before says nothing.
    """
    if not after.names:
        return
    impossible = [*_bad_names(after, describe)] or [
        *_collisions(after, describe),
        *_held_names(after, describe),
    ]
    if impossible:
        yield from impossible
        return
    if not allow_reorder:
        yield from _text_order(after, describe)
    yield from _next_save(after, last_used, describe, allow_reorder=allow_reorder)


def _refusal(
    code: str,
    after: After,
    message: str,
    concerned: Iterable[tuple[Checkpoint, str]],
    describe: Describe,
    *help_lines: str,
) -> Refusal:
    checkpoints = tuple(concerned)
    return Refusal(
        code=code,
        message=message,
        trial=after.ground.trial.dirname,
        checkpoints=tuple(c.name for c, _ in checkpoints),
        details=described(describe, checkpoints),
        help=help_lines,
    )


def _bad_names(after: After, describe: Describe) -> Iterator[Refusal]:
    by_reason: defaultdict[str, list[tuple[Checkpoint, str]]] = defaultdict(list)
    for checkpoint, new in _renamed(after):
        reasons = check_name(new)
        for reason in reasons:
            by_reason[reason].append((checkpoint, new))
        if not reasons and not new.startswith(PREFIX) and _read_by_ray(after):
            by_reason[f"does not begin with {PREFIX}, so Ray would not find it"].append(
                (checkpoint, new)
            )
    for reason, concerned in by_reason.items():
        who = count(len(concerned), "checkpoint")
        message = f"{who} of {after.ground.label} would get a name that {reason}"
        yield _refusal("bad-name", after, message, concerned, describe)


def _read_by_ray(after: After) -> bool:
    return after.ground.experiment.layout.startswith("ray-")


def _renamed(after: After) -> Iterator[tuple[Checkpoint, str]]:
    return ((c, new) for c, new in after.folders if c.name in after.names)


def _collisions(after: After, describe: Describe) -> Iterator[Refusal]:
    groups: defaultdict[str, list[tuple[Checkpoint, str]]] = defaultdict(list)
    for checkpoint, new in after.folders:
        groups[fold(new)].append((checkpoint, new))
    others = {fold(name): name for name in after.ground.others}
    for key, concerned in groups.items():
        if not any(c.name in after.names for c, _ in concerned):
            continue
        if len(concerned) > 1:
            yield _refusal("collision", after, _clash(after, concerned), concerned, describe)
        elif key in others:
            message = _taken(after, concerned[0], others[key])
            yield _refusal("collision", after, message, concerned, describe)


def _clash(after: After, concerned: list[tuple[Checkpoint, str]]) -> str:
    names = list(dict.fromkeys(new for _, new in concerned))
    who = f"{count(len(concerned), 'checkpoint')} of {after.ground.label}"
    if len(names) == 1:
        return f"{who} would share the name {names[0]}"
    shown = ", ".join(names)
    return f"{who} would get names that differ only in case: {shown}: some disks hold just one"


def _taken(after: After, renamed: tuple[Checkpoint, str], there: str) -> str:
    checkpoint, new = renamed
    where = f"{checkpoint.name} of {after.ground.label} would get the name {new}"
    if new == there:
        return f"{where}, which something else there has"
    return f"{where}, which differs from {there} there only in case: some disks hold just one"


def _held_names(after: After, describe: Describe) -> Iterator[Refusal]:
    held = after.ground.held - after.ground.others
    for checkpoint, new in _renamed(after):
        if new in held:
            yield _refusal(
                "collision",
                after,
                f"{checkpoint.name} of {after.ground.label} would get the name {new}, under which "
                "a checkpoint is recorded that is gone: its record would come to name this one",
                [(checkpoint, new)],
                describe,
                "take the record of the missing checkpoint out first",
                command("reindex", after.ground.experiment.location),
            )


def _text_order(after: After, describe: Describe) -> Iterator[Refusal]:
    saved = [new for _, new in after.folders]
    if len(set(saved)) < len(saved):
        return
    by_text = sorted(saved)
    concerned = [
        (c, new) for (c, new), other in zip(after.folders, by_text, strict=True) if new != other
    ]
    if concerned:
        first, second = _first_swap(saved)
        message = (
            f"the new names of {after.ground.label} would not sort in save order: "
            f"{second} comes before {first}, but was saved after it"
        )
        yield _refusal("order", after, message, concerned, describe)
    elif (moved := _latest_moved(after)) is not None:
        yield _refusal("order", after, moved, _renamed(after), describe)


def _first_swap(saved: list[str]) -> tuple[str, str]:
    return next((first, second) for first, second in pairwise(saved) if second < first)


def _latest_moved(after: After) -> str | None:
    """The recorded latest is the one that sorts last, and has to stay so."""
    trial = after.ground.trial
    ref = trial.latest_record.ref if trial.latest_record else None
    here = [c.name for c, _ in after.folders]
    if ref is None or ref.trial != trial.dirname or ref.name not in here or ref.name != max(here):
        return None
    new = after.names.get(ref.name, ref.name)
    last = max(name for _, name in after.folders)
    if new == last:
        return None
    return f"the latest of {after.ground.label} would be {new}, but {last} would sort after it"


def _next_save(
    after: After, last_used: int | None, describe: Describe, *, allow_reorder: bool
) -> Iterator[Refusal]:
    number = after.next_number(last_used) if after.ground.goes_on else None
    if number is None or number < 0:
        return
    upcoming = ray_name(number)
    overwritten = [(c, new) for c, new in after.folders if _will_be_written(new, number)]
    behind = [(c, new) for c, new in after.folders if new >= upcoming]
    where = f"a restore of {after.ground.label} would save its next checkpoint as {upcoming}"
    if overwritten:
        message = f"{where} and go on from there into {overwritten[0][1]}"
        yield _refusal("collision", after, message, overwritten, describe)
    elif behind and not allow_reorder:
        message = f"{where}, which sorts before {max(new for _, new in behind)}"
        yield _refusal("order", after, message, behind, describe)


def _will_be_written(name: str, number: int) -> bool:
    """Whether Ray itself, counting up from `number`, comes to this very name."""
    digits = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX) or not (digits.isascii() and digits.isdecimal()):
        return False
    return len(digits) <= 18 and int(digits) >= number and ray_name(int(digits)) == name
