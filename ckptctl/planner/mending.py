"""What is near to a template that no names can be made of: candidates, the nearest first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping

from ckptctl.model.format_spec import FormatSpec
from ckptctl.model.names import PREFIX
from ckptctl.model.template import Field, Template

__all__ = ["Changes", "bare", "mended", "without"]

Changes = Mapping[str, tuple[Field, ...]]
"""What may stand in place of a field that cannot be written, by its name; nothing: leave it out."""

_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
_LONG = 200
_SHORT = 40
_JOINTS = "-_.= "
_LABEL = re.compile(r"[A-Za-z]+=$")


def mended(template: Template, changes: Changes) -> Iterator[Template]:
    """Templates near to this one, each once; whether names can be made of them is not known.

    First the fields in `changes` are replaced, then they are left out, then each other field in
    turn. Texts lose what no name may hold, and the prefix that Ray looks for is put in front.
    """
    seen: set[Template] = set()
    for candidate in _candidates(template, changes):
        clean = cleaned(candidate)
        for one in (clean, *_led(clean)):
            if one not in seen and one != template:
                seen.add(one)
                yield one


def bare() -> Iterator[Template]:
    """The plainest names: the iteration or the index, and nothing else."""
    for name in ("training_iteration", "index"):
        yield Template((PREFIX, Field(name=name, spec=FormatSpec.parse("06d"))))


def _candidates(template: Template, changes: Changes) -> Iterator[Template]:
    for place in range(max((len(fields) for fields in changes.values()), default=0)):
        chosen = {name: own[min(place, len(own) - 1)] for name, own in changes.items() if own}
        other = template.with_fields(chosen.get(f.name, f) for f in template.fields)
        yield without(other, lambda f: f.name in changes and f.name not in chosen)  # noqa: B023
    rest = without(template, lambda f: f.name in changes)
    yield rest
    for field in dict.fromkeys(rest.fields):
        yield without(rest, lambda f: f == field)  # noqa: B023


def without(template: Template, gone: Callable[[Field], bool]) -> Template:
    """The template without some fields, their labels (``epoch=``), and the joints around them."""
    kept: list[str | Field] = []
    gap = False
    for part in template.parts:
        if isinstance(part, Field) and gone(part):
            if kept and isinstance(kept[-1], str):
                kept[-1] = _unlabelled(kept[-1])
            gap = True
            continue
        following = part.lstrip(_JOINTS) if gap and isinstance(part, str) else part
        if not following:
            continue
        if gap and kept and kept[-1] != PREFIX:
            kept.append("-")
        gap = False
        kept.append(following)
    return _merged(kept)


def _unlabelled(text: str) -> str:
    """Text without the label and the joint at its end; the prefix stays."""
    kept = _LABEL.sub("", text).rstrip(_JOINTS)
    return PREFIX if text.startswith(PREFIX) and len(kept) < len(PREFIX) else kept


def cleaned(template: Template) -> Template:
    """The template with nothing in its texts that no name may hold, nor more than it can hold."""
    texts = [part for part in template.parts if isinstance(part, str)]
    most = _SHORT if sum(map(len, texts)) > _LONG else _LONG
    parts = [p if isinstance(p, Field) else _clean(p)[:most] for p in template.parts]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(".-")
    return _merged(parts)


def _clean(text: str) -> str:
    marked = "".join("\0" if c in "/\\" or unicodedata.category(c) in _CONTROL else c for c in text)
    return re.sub("-*\0[-\0]*", "-", marked)


def _led(template: Template) -> Iterator[Template]:
    """The template with Ray's prefix: before its first text, and in place of it."""
    first = template.parts[0] if template.parts else ""
    if isinstance(first, str) and first.startswith(PREFIX):
        return
    yield _merged((PREFIX, *template.parts))
    if isinstance(first, str) and len(template.parts) > 1:
        yield _merged((PREFIX, *template.parts[1:]))


def _merged(parts: Iterable[str | Field]) -> Template:
    """A template of these parts, in which no two texts follow each other."""
    merged: list[str | Field] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return Template(tuple(merged))
