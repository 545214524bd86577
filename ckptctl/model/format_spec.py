"""Python's format specs for numbers and text, taken apart and applied to one value."""

from __future__ import annotations

import math
import re

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.model.checkpoint import MetricValue

__all__ = ["MAX_WIDTH", "FormatSpec", "SpecError", "shown"]

MAX_WIDTH = 255
"""The widest field and the highest precision; a folder's name is not longer."""

_SPEC = re.compile(
    r"(?P<align>(?:.?[<>=^])?)(?P<sign>[-+ ]?)(?P<z>z?)(?P<alt>#?)(?P<zero>0?)"
    r"(?P<width>\d*)(?P<grouping>[,_]?)(?:\.(?P<precision>\d+))?(?P<type>[bcdeEfFgGosxX%]?)",
    re.ASCII | re.DOTALL,
)
_INTEGER_TYPES = frozenset("bcdoxX")
_FLOAT_TYPES = frozenset("eEfFgG%")
_LONG = 60
_LONG_BITS = 1024
_EXACT = 2**53
"""Beyond it a float no longer tells neighbouring whole numbers apart."""


class SpecError(ValueError):
    """A spec that Python does not know, or that does not fit a value."""


class FormatSpec(Struct, frozen=True, kw_only=True):
    """One format spec: ``[[fill]align][sign][z][#][0][width][grouping][.precision][type]``."""

    align: str = ""
    """The fill character, if any, and ``<``, ``>``, ``=`` or ``^``."""
    sign: str = ""
    z: str = ""
    alt: str = ""
    zero: str = ""
    width: int | None = None
    grouping: str = ""
    precision: int | None = None
    type: str = ""

    @classmethod
    def parse(cls, text: str) -> FormatSpec:
        """Read a spec; `SpecError` where it is none, or wider than a name can be."""
        found = _SPEC.fullmatch(text)
        if found is None:
            raise SpecError(f"{text!r} is no format spec")
        numbers = {key: _number(found[key], key) for key in ("width", "precision")}
        return cls(
            align=found["align"],
            sign=found["sign"],
            z=found["z"],
            alt=found["alt"],
            zero=found["zero"],
            grouping=found["grouping"],
            type=found["type"],
            width=numbers["width"],
            precision=numbers["precision"],
        ).checked()

    def checked(self) -> FormatSpec:
        """Itself; `SpecError` where no value at all can be formatted with it."""
        samples: tuple[int | float | str, ...] = (0, 0.5, "a")
        if not any(_fits(sample, str(self)) for sample in samples):
            raise SpecError(f"{str(self)!r} fits neither numbers nor text")
        return self

    def __str__(self) -> str:
        width = "" if self.width is None else str(self.width)
        precision = "" if self.precision is None else f".{self.precision}"
        head = f"{self.align}{self.sign}{self.z}{self.alt}{self.zero}"
        return f"{head}{width}{self.grouping}{precision}{self.type}"

    @property
    def rounds(self) -> bool:
        """Whether it rounds numbers to its precision, so that two may come to look alike."""
        return self.precision is not None and (self.type in _FLOAT_TYPES or not self.type)

    @property
    def may_pad(self) -> bool:
        """Whether it writes whole numbers as they are, so that zeros may be put in front."""
        plain = not (self.align or self.sign or self.z or self.alt or self.grouping)
        return plain and self.precision is None and self.type in ("", "d")

    def padded(self, width: int) -> FormatSpec:
        """The same for whole numbers, with zeros in front up to `width` digits."""
        return replace(self, zero="0", width=width, type="d")

    def sharper(self, precision: int) -> FormatSpec:
        """The same with another precision."""
        return replace(self, precision=precision)

    def format(self, value: MetricValue) -> str:
        """Apply it to one value; `SpecError`, which says why, where it does not fit.

        Whole floats may be formatted as integers (``4.0`` with ``06d`` is ``000004``), since
        Ray's loggers turn counters into floats; other floats may not. A bool and None are text:
        ``True`` under ``d`` would otherwise be 1.
        """
        fitting = self._fitting(value)
        try:
            return format(fitting, str(self))
        except (ValueError, OverflowError) as error:
            kind = "text" if isinstance(fitting, str) else "a number"
            raise SpecError(
                f"{shown(value)} is {kind}, which {str(self)!r} does not fit"
            ) from error

    def _fitting(self, value: MetricValue) -> int | float | str:
        if value is None or isinstance(value, bool):
            return str(value)
        if not isinstance(value, float) or self.type not in _INTEGER_TYPES:
            return value
        if math.isfinite(value) and value.is_integer() and abs(value) <= _EXACT:
            return int(value)
        raise SpecError(f"{shown(value)} is no whole number, which {str(self)!r} is for")


def shown(value: MetricValue) -> str:
    """A value as messages show it: texts in quotes, and nothing longer than a line."""
    if isinstance(value, int) and value.bit_length() > _LONG_BITS:
        return "a number of very many digits"
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def _number(digits: str | None, what: str) -> int | None:
    if not digits:
        return None
    if len(digits) > len(str(MAX_WIDTH)) or int(digits) > MAX_WIDTH:
        raise SpecError(f"a {what} of {digits[:20]} is more than a name can hold ({MAX_WIDTH})")
    return int(digits)


def _fits(value: float | str, spec: str) -> bool:
    try:
        format(value, spec)
    except (ValueError, OverflowError):
        return False
    return True
