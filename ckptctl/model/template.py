"""Name templates: literal text and ``{field:spec}``, parsed once and rendered per checkpoint.

Fields are looked up by name in flat metrics. Nothing here evaluates an attribute, an index or a
conversion, so a template can reach no more than the values it is given.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import Metrics, MetricValue
from ckptctl.model.format_spec import FormatSpec, SpecError, shown

__all__ = [
    "OWN_FIELDS",
    "BadValue",
    "Field",
    "MetricMissing",
    "MetricNotFinite",
    "RenderFailure",
    "Template",
    "Values",
]

OWN_FIELDS = ("index", "training_iteration", "trial_id")
"""Fields that are more than a metric; ``timestamp`` is a metric that Ray adds to every result."""

_NEAREST = 3
_WHOLE_FIELDS = ("index", "training_iteration")


class Field(Struct, frozen=True, kw_only=True):
    """One ``{name:spec}`` of a template."""

    name: str
    spec: FormatSpec

    def __str__(self) -> str:
        spec = str(self.spec)
        return f"{{{self.name}:{spec}}}" if spec else f"{{{self.name}}}"


class Values(Struct, frozen=True, kw_only=True):
    """What the fields of one checkpoint's name are taken from."""

    index: int | None
    training_iteration: int | None
    trial_id: str | None
    metrics: Metrics

    def get(self, field: str) -> tuple[MetricValue] | None:
        """The value of a field in a tuple, or None where there is none.

        A metric is tried as written, then with ``.`` read as ``/``, then the other way round.
        """
        if field in OWN_FIELDS:
            own = self._own(field)
            if own is not None or field == "index":
                return None if own is None else (own,)
        for key in dict.fromkeys((field, field.replace(".", "/"), field.replace("/", "."))):
            if key in self.metrics:
                return (self.metrics[key],)
        return None

    def _own(self, field: str) -> int | str | None:
        match field:
            case "index":
                return self.index
            case "training_iteration":
                return self.training_iteration
            case _:
                return self.trial_id

    def names(self) -> tuple[str, ...]:
        """Every field that has a value, in order."""
        own = (f for f in OWN_FIELDS if self._own(f) is not None)
        return tuple(sorted({*own, *self.metrics}))


class MetricMissing(Struct, frozen=True, kw_only=True):
    """A checkpoint has no value for a field."""

    field: str
    nearest: tuple[str, ...] = ()
    """Names that it has and that look alike, best first."""

    @property
    def value_told(self) -> str:
        """The value behind a checkpoint's name in a list: there is none."""
        return ""


class MetricNotFinite(Struct, frozen=True, kw_only=True):
    """A value is not a number, or infinite."""

    field: str
    value: float

    @property
    def value_told(self) -> str:
        """The value behind a checkpoint's name in a list: ``loss nan``."""
        return f"{self.field} {self.value}"


class BadValue(Struct, frozen=True, kw_only=True):
    """A value does not fit the field's format spec."""

    field: str
    value: MetricValue
    reason: str
    fitting: Field
    """The same field with a spec that fits."""

    @property
    def value_told(self) -> str:
        """The value behind a checkpoint's name in a list: ``loss 0.25``."""
        return f"{self.field} {shown(self.value)}"


RenderFailure = MetricMissing | MetricNotFinite | BadValue


class Template(Struct, frozen=True):
    """A parsed name template; ``str()`` of it parses to the same template again."""

    parts: tuple[str | Field, ...]
    """Literal text and fields, in order; no two texts in a row."""

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template; `UsageError` with the place of the fault where it is none."""
        return cls(tuple(_joined(_parse(text))))

    def __str__(self) -> str:
        return "".join(
            part.replace("{", "{{").replace("}", "}}") if isinstance(part, str) else str(part)
            for part in self.parts
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields, in order."""
        return tuple(part for part in self.parts if isinstance(part, Field))

    def render(self, values: Values) -> str | RenderFailure:
        """The name of one checkpoint, or why it has none."""
        written: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                written.append(part)
                continue
            text = _rendered(part, values)
            if not isinstance(text, str):
                return text
            written.append(text)
        return "".join(written)

    def with_fields(self, fields: Iterable[Field]) -> Template:
        """The same template with its fields replaced one by one."""
        following = iter(fields)
        return Template(
            tuple(part if isinstance(part, str) else next(following) for part in self.parts)
        )

    def prefixed(self, prefix: str, field: Field) -> Template:
        """The same with ``<field>-`` in front, behind `prefix` where the template begins so."""
        head, *rest = self.parts or ("",)
        if isinstance(head, str):
            head = head.removeprefix(prefix)
        following = [part for part in (head, *rest) if part]
        joint = ["-"] if following else []
        return Template(tuple(_joined([prefix, field, *joint, *following])))


def _rendered(field: Field, values: Values) -> str | RenderFailure:
    found = values.get(field.name)
    if found is None:
        return MetricMissing(field=field.name, nearest=_nearest(field.name, values.names()))
    value = found[0]
    if isinstance(value, float) and not math.isfinite(value):
        return MetricNotFinite(field=field.name, value=value)
    try:
        return field.spec.format(value)
    except SpecError as error:
        spec = FormatSpec.parse(".4f" if isinstance(value, float) else "")
        fitting = replace(field, spec=spec)
        return BadValue(field=field.name, value=value, reason=str(error), fitting=fitting)


@lru_cache(maxsize=256)
def _nearest(field: str, names: tuple[str, ...]) -> tuple[str, ...]:
    last = field.rpartition("/")[2].casefold()
    same_end = [n for n in names if n.rpartition("/")[2].casefold() == last]
    close = difflib.get_close_matches(field, names, n=_NEAREST)
    return tuple(dict.fromkeys((*same_end, *close)))[:_NEAREST]


def _joined(parts: Iterable[str | Field]) -> Iterator[str | Field]:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
        text = ""
        yield part
    if text:
        yield text


def _parse(text: str) -> Iterator[str | Field]:
    at = 0
    while at < len(text):
        char = text[at]
        if char not in "{}":
            yield char
            at += 1
        elif text[at : at + 2] == char * 2:
            yield char
            at += 2
        elif char == "}":
            raise _fault(text, at, "a } without its {; write }} for the character")
        else:
            end = _field_end(text, at)
            yield _field(text, at + 1, text[at + 1 : end])
            at = end + 1


def _field_end(text: str, start: int) -> int:
    for at in range(start + 1, len(text)):
        if text[at] == "{":
            raise _fault(text, at, "a field inside a field")
        if text[at] == "}":
            return at
    raise _fault(text, start, "a { that nothing closes; write {{ for the character")


def _field(text: str, at: int, inside: str) -> Field:
    name, colon, spec = inside.partition(":")
    _check_field_name(text, at, name)
    try:
        field = Field(name=name, spec=FormatSpec.parse(spec))
        if name in _WHOLE_FIELDS:
            field.spec.format(0)
    except SpecError as error:
        raise _fault(text, at + len(name) + len(colon), str(error)) from error
    return field


def _check_field_name(text: str, at: int, name: str) -> None:
    if not name:
        raise _fault(text, at, "a field without a name")
    if name != name.strip():
        raise _fault(text, at, f"spaces around the field name {name.strip()!r}")
    if (mark := name.find("!")) >= 0:
        raise _fault(text, at + mark, "a conversion such as !r; write a format spec behind a colon")
    if (mark := min((name.find(c) for c in "[]" if c in name), default=-1)) >= 0:
        raise _fault(text, at + mark, "indexing; nested metrics are joined by /, as in {eval/acc}")
    head, _, rest = name.partition(".")
    if rest.startswith("_") or "._" in rest or (rest and head in (*OWN_FIELDS, "timestamp")):
        raise _fault(text, at + len(head), "attribute access; nested metrics are joined by /")


def _fault(text: str, at: int, what: str) -> UsageError:
    return UsageError(
        f"bad name template at character {at + 1}: {what}: {text!r}",
        hint="a template is literal text and {field:spec}, "
        "such as checkpoint_{training_iteration:06d}-{loss:.4f}",
    )
