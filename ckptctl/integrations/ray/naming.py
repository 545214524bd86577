"""One decision about one save: its index and its name, by the templates and policies of the CLI.

Made where the save is made, and carried from there with the result. A run goes on whatever is
reported: a save that lacks a metric of the template gets Ray's own name, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import TrainableKind, Trial
from ckptctl.model.format_spec import FormatSpec
from ckptctl.model.metrics import flatten, whole_number
from ckptctl.model.names import PREFIX, check_name, ray_name
from ckptctl.model.policies import (
    ByFunction,
    ByMetric,
    IndexFunction,
    Policy,
    Sequential,
    next_index,
    parse_policy,
)
from ckptctl.model.template import (
    BadValue,
    Field,
    MetricMissing,
    MetricNotFinite,
    RenderFailure,
    Template,
    Values,
)

_TRAINER = "Trainer"
_WIDTH = 6
"""Digits of Ray's own names, so that both sort among each other."""


class Naming(Struct, frozen=True, kw_only=True):
    """How the saves of a run are named and numbered; plain values, which travel in a pickle."""

    template: str | None = None
    by: str | IndexFunction | None = None
    """The name of a policy, or a function ``(metrics, previous_index) -> index``."""

    @property
    def shown(self) -> dict[str, str | None]:
        """The same as text, for records."""
        by = self.by if self.by is None or isinstance(self.by, str) else _named(self.by)
        return {"template": self.template, "by": by}


class Save(Struct, frozen=True, kw_only=True):
    """What is known of a save when it is named."""

    metrics: Mapping[Any, object]
    """As reported."""
    iteration: int | None = None
    trial_id: str | None = None
    kind: TrainableKind | None = None
    is_trainer: bool = False
    """Whether a trainer of Ray Train makes it."""


class Decision(Struct, frozen=True, kw_only=True):
    """The index and the name of a save."""

    index: int
    name: str
    notes: tuple[str, ...] = ()
    """What was not as the template or the policy wants it."""


def parse_naming(template: str | None, by: str | IndexFunction | None) -> Naming:
    """Check a template and a policy before anything runs.

    Raises:
        UsageError: one of them is none, or cannot be followed while a run goes on.
    """
    if template is not None:
        lead = _lead(Template.parse(template))
        if by == lead:  # the template says as much
            by = None
        elif by is not None and lead != "index":
            raise UsageError(
                f"the template {template!r} takes its index from {lead}, "
                f"and the policy {_text(by)} from elsewhere",
                hint="begin the template with checkpoint_{index:06d}, or leave the policy out",
            )
    if isinstance(by, str) and ":" in by:
        by = _loaded(by)
    elif isinstance(by, str):
        parse_policy(by)
    elif by is not None and not callable(by):
        raise UsageError(f"the index policy {by!r} is neither a name nor a function")
    return Naming(template=template, by=by)


def _text(by: str | IndexFunction) -> str:
    return by if isinstance(by, str) else _named(by)


def _named(function: IndexFunction) -> str:
    module = getattr(function, "__module__", "?")
    return f"{module}:{getattr(function, '__qualname__', type(function).__name__)}"


def _loaded(text: str) -> IndexFunction:
    module, _, name = text.partition(":")
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"the index policy {text}: {error}") from error
    if not callable(found):
        raise UsageError(f"the index policy {text}: {name} is not a function")
    return found


def _lead(template: Template) -> str:
    """The field in front, whose number rises with every save.

    A run that goes on is never renamed, so its names have to sort by construction: among
    themselves, and with those that Ray gives where ckptctl is not there.
    """
    head, *rest = template.parts or ("",)
    field = rest[0] if rest else None
    after = rest[1] if len(rest) > 1 else "-"
    if head == PREFIX and isinstance(field, Field) and isinstance(after, str):
        if _is_six_digits(field) and after.startswith("-"):
            return field.name
        if after.startswith("-"):
            fitting = Template((PREFIX, Field(name=field.name, spec=_six()), *template.parts[2:]))
            raise _unsorted(template, f"{fitting}")
    raise _unsorted(template, "checkpoint_{index:06d}-…")


def _six() -> FormatSpec:
    return FormatSpec.parse(f"0{_WIDTH}d")


def _is_six_digits(field: Field) -> bool:
    return str(field.spec) in ("06d", "06")


def _unsorted(template: Template, fitting: str) -> UsageError:
    return UsageError(
        f"while a run goes on, names have to sort in the order of the saves: {str(template)!r} "
        f"does not begin with {PREFIX} and a number of six digits",
        hint=f"{fitting} would do",
    )


def decide(naming: Naming, save: Save, previous: int) -> Decision:
    """The index and the name of a save that comes behind index `previous` (-1 for none)."""
    template = None if naming.template is None else Template.parse(naming.template)
    lead = "index" if template is None else _lead(template)
    policy = _policy(naming.by) if lead == "index" else ByMetric(lead)
    checkpoint = Checkpoint(
        trial=_where(save),
        name=CheckpointName("this save"),
        index=None,
        state=CheckpointState.COMPLETE,
        training_iteration=save.iteration,
        metrics=flatten(save.metrics),
    )
    index, bad = next_index(policy, _trial(save), checkpoint, previous)
    notes = () if bad is None else (f"{bad}: it gets {index}",)
    if template is None:
        return Decision(index=index, name=ray_name(index), notes=notes)
    return _rendered(template, checkpoint, save, index, notes)


def _rendered(
    template: Template, checkpoint: Checkpoint, save: Save, index: int, notes: tuple[str, ...]
) -> Decision:
    first, *others = template.fields
    values = Values(
        index=index,
        training_iteration=save.iteration,
        trial_id=save.trial_id,
        metrics=checkpoint.metrics,
    )
    numbered = template.with_fields((Field(name="index", spec=first.spec), *others))
    name = numbered.render(values)
    if not isinstance(name, str):
        return _plain(index, (*notes, _failed(name)))
    if reasons := check_name(name):
        return _plain(index, (*notes, f"the name {name!r} {reasons[0]}"))
    return Decision(index=index, name=name, notes=notes)


def _failed(failure: RenderFailure) -> str:
    match failure:
        case MetricMissing():
            near = f"; it has {', '.join(failure.nearest)}" if failure.nearest else ""
            return f"{failure.field} was not reported with this save{near}"
        case MetricNotFinite():
            return f"{failure.value_told} makes no name"
        case BadValue():
            return f"{failure.value_told}: {failure.reason}, {failure.fitting} fits"


def _plain(index: int, notes: tuple[str, ...]) -> Decision:
    name = ray_name(index)
    return Decision(index=index, name=name, notes=(*notes, f"it is called {name}"))


def _policy(by: str | IndexFunction | None) -> Policy:
    if by is None:
        return Sequential()
    return parse_policy(by) if isinstance(by, str) else ByFunction(name=_named(by), function=by)


def _where(save: Save) -> TrialDir:
    return TrialDir(f"{_TRAINER if save.is_trainer else ''}_{save.trial_id}")


def _trial(save: Save) -> Trial:
    return Trial(
        trial_id=save.trial_id,
        dirname=_where(save),
        status=None,
        in_state=True,
        on_storage=True,
        kind=save.kind,
    )


def iteration_in(metrics: Mapping[Any, object]) -> int | None:
    """The training iteration that a result tells of itself."""
    return whole_number(metrics.get("training_iteration"))
