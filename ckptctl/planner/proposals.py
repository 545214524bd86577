"""The template that would pass: the smallest change that keeps names unique and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.model.format_spec import FormatSpec
from ckptctl.model.names import PREFIX
from ckptctl.model.template import Field, Template
from ckptctl.planner.mending import bare, without

__all__ = ["Proposal", "propose"]

_MAX_PRECISION = 17
"""With 17 significant digits a float is told apart from every other."""
_MAX_PADDING = 12
_LEADS = 2 * _MAX_PADDING + 3
"""How many changes of one template there are at most."""
_RENDERS = 2_000_000
"""About how many names a search may make; the least of it is spent on one try at each width."""


class Proposal(Struct, frozen=True, kw_only=True):
    """A template that passes, and what about it does."""

    template: Template
    apart: tuple[Field, ...] = ()
    """Fields with a higher precision."""
    order: tuple[Field, ...] = ()
    """Fields with zeros in front, or put in front themselves."""

    def sentence(self, *, collided: bool) -> str:
        """What the change does: ``{loss:.4f} keeps them apart``."""
        parts = []
        if self.apart:
            parts.append(f"{_fields(self.apart)} {_keep(self.apart)} them apart")
        if self.order:
            both = "apart and " if collided and not self.apart else ""
            parts.append(f"{_fields(self.order)} {_keep(self.order)} them {both}in order")
        return "; ".join(parts)


def _fields(fields: tuple[Field, ...]) -> str:
    return " and ".join(str(f) for f in fields)


def _keep(fields: tuple[Field, ...]) -> str:
    return "keeps" if len(fields) == 1 else "keep"


def propose(
    templates: Iterable[Template], passes: Callable[[Template], bool], *, names: int
) -> Proposal | None:
    """The first change of the first of `templates` that `passes`; `names` is how many it gives.

    Tried in turn with each: the template as it is, zeros in front of its first field, of all its
    fields, then the iteration or the index in front of everything; each with its own precision,
    and with the smallest higher one. Last come the iteration and the index alone. None where not
    even these pass.
    """
    left = max(2 * _LEADS, _RENDERS // max(names, 1))
    for lead in (lead for template in templates for lead in _leads(template)):
        precisions = _precisions(lead.template)
        tries = [0, *([precisions[-1]] if precisions else [])]
        if not any(passes(_sharpened(lead, p).template) for p in tries):
            left -= len(tries)
        else:
            return next(
                proposal
                for proposal in (_sharpened(lead, p) for p in (0, *precisions[:left], *tries))
                if passes(proposal.template)
            )
        if left <= 0:
            break
    return next((Proposal(template=t, order=t.fields) for t in bare() if passes(t)), None)


def _leads(template: Template) -> Iterator[Proposal]:
    yield Proposal(template=template)
    fields = template.fields
    for only_first in (True, False):
        for width in range(1, _MAX_PADDING + 1):
            yield from _padded(template, fields[: 1 if only_first else None], width)
    for name in ("training_iteration", "index"):
        field = Field(name=name, spec=FormatSpec.parse("06d"))
        rest = without(template, lambda f: f.name == name)  # noqa: B023 - called at once
        yield Proposal(template=rest.prefixed(PREFIX, field), order=(field,))


def _padded(template: Template, fields: tuple[Field, ...], width: int) -> Iterator[Proposal]:
    able = [f for f in fields if f.spec.may_pad and (f.spec.width or 0) < width]
    if not able:
        return
    wide = {f: replace(f, spec=f.spec.padded(width)) for f in able}
    changed = template.with_fields(wide.get(f, f) for f in template.fields)
    yield Proposal(template=changed, order=tuple(wide.values()))


def _precisions(template: Template) -> range:
    lowest = [f.spec.precision for f in template.fields if f.spec.rounds]
    return (
        range(min(p for p in lowest if p is not None) + 1, _MAX_PRECISION + 1)
        if lowest
        else (range(0))
    )


def _sharpened(lead: Proposal, precision: int) -> Proposal:
    """The same with every precision raised to at least this one."""
    sharp = {
        f: replace(f, spec=f.spec.sharper(precision))
        for f in lead.template.fields
        if f.spec.rounds and f.spec.precision is not None and f.spec.precision < precision
    }
    if not sharp:
        return lead
    changed = lead.template.with_fields(sharp.get(f, f) for f in lead.template.fields)
    return replace(lead, template=changed, apart=tuple(sharp.values()))
