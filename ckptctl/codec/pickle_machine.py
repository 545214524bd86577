"""The symbolic machine: runs opcodes on a stack of plain values and Opaques.

It never imports, calls, hashes or compares what the bytes describe. Each handler gets
the machine and the offset behind its opcode, and returns the offset behind its
operand. A short read shows as IndexError or struct.error, which ``run`` translates:
checking each read would double the time.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ckptctl.codec.errors import LimitExceeded, Malformed, PickleError, Truncated, Unsupported
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_opcodes import operand_end

__all__ = ["HANDLERS", "Handler", "Machine", "Stopped", "run"]

HIGHEST_PROTOCOL = 5


class Machine:
    """The state of one run. A MARK sets the stack aside and starts a new one."""

    __slots__ = (
        "data",
        "dup",
        "frames",
        "globals",
        "limits",
        "memo",
        "meta",
        "proto",
        "size",
        "stack",
    )

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.size = len(data)
        self.limits = limits
        self.stack: list[object] = []
        self.meta: list[list[object]] = []
        self.memo: dict[int, object] = {}
        self.globals: set[str] = set()
        self.frames: list[tuple[int, int]] = []
        self.proto = 0
        self.dup = False


Handler = Callable[[Machine, int], int]


class Stopped(Exception):
    """The STOP opcode was reached."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep the cyclic collector off: it would walk the growing tree again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def run(machine: Machine, handlers: list[Handler], start: int) -> tuple[int, int]:
    """Run to STOP; offset behind it and the number of opcodes.

    Raises PickleError and nothing else.
    """
    data, pos, count = machine.data, start, 0
    try:
        with gc_paused():
            for count in range(machine.limits.max_ops):  # noqa: B007
                pos = handlers[data[pos]](machine, pos + 1)
    except Stopped:
        return pos + 1, count + 1
    except PickleError as error:
        raise error if error.offset >= 0 else type(error)(str(error), pos) from None
    except (MemoryError, RecursionError):
        raise LimitExceeded("too large or too deep", pos) from None
    except (IndexError, struct.error):
        raise _short(data, pos) from None
    except UnicodeDecodeError:
        raise Malformed("text that is not valid", pos) from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise Malformed("an opcode that does not fit its operands", pos) from None
    raise LimitExceeded(f"more than {machine.limits.max_ops} opcodes", pos)


def _short(data: bytes, pos: int) -> PickleError:
    if pos >= len(data) or operand_end(data, pos) > len(data):
        return Truncated("the pickle ends too early", pos)
    return Malformed("an opcode takes more from the stack than is there", pos)


def text_line(m: Machine, pos: int) -> tuple[bytes, int]:
    """A line's bytes without its newline, and the offset behind it."""
    end = m.data.find(b"\n", pos, pos + m.limits.max_line)
    if end >= 0:
        return m.data[pos:end], end + 1
    if m.size - pos >= m.limits.max_line:
        raise LimitExceeded("a line that is too long")
    raise Truncated("a line that does not end")


def _unknown(m: Machine, pos: int) -> int:
    raise Malformed(f"unknown opcode 0x{m.data[pos - 1]:02x}")


HANDLERS: list[Handler] = [_unknown] * 256


def handles(*opcodes: bytes) -> Callable[[Handler], Handler]:
    """Register a handler for opcodes."""

    def register(handler: Handler) -> Handler:
        for opcode in opcodes:
            HANDLERS[opcode[0]] = handler
        return handler

    return register


def pushes(opcode: bytes, value: object) -> None:
    """Register an opcode that pushes a constant."""

    @handles(opcode)
    def push(m: Machine, pos: int) -> int:
        m.stack.append(value)
        return pos


@handles(b"\x80")
def _proto(m: Machine, pos: int) -> int:
    m.proto = m.data[pos]
    if m.proto > HIGHEST_PROTOCOL:
        raise Unsupported(f"pickle protocol {m.proto}")
    return pos + 1


@handles(b"\x95")
def _frame(m: Machine, pos: int) -> int:
    (length,) = struct.unpack_from("<Q", m.data, pos)
    end = pos + 8 + length
    if end > m.size:
        raise Truncated("a frame that does not end")
    if m.frames and pos - 1 < m.frames[-1][1]:
        raise Malformed("a frame inside a frame")
    m.frames.append((pos + 8, end))
    return pos + 8


@handles(b".")
def _stop(m: Machine, _pos: int) -> int:
    if not m.stack:
        raise Malformed("STOP on an empty stack")
    raise Stopped


@handles(b"(")
def _mark(m: Machine, pos: int) -> int:
    m.meta.append(m.stack)
    m.stack = []
    return pos


@handles(b"1")
def _pop_mark(m: Machine, pos: int) -> int:
    m.stack = m.meta.pop()
    return pos


@handles(b"2")
def _dup(m: Machine, pos: int) -> int:
    m.stack.append(m.stack[-1])
    m.dup = True
    return pos


def marked(m: Machine) -> list[object]:
    """The values above the last MARK, which goes away."""
    values = m.stack
    if not m.meta:
        raise Malformed("no MARK is set")
    m.stack = m.meta.pop()
    return values


def push_global(m: Machine, module: str, name: str) -> None:
    """Push the description of a global; nothing is imported."""
    m.globals.add(f"{module}:{name}")
    m.stack.append(Opaque("global", args=(module, name)))


def checked(m: Machine, end: int) -> int:
    """An offset that must not lie past the end."""
    if end > m.size:
        raise Truncated("a value that does not end")
    return end
