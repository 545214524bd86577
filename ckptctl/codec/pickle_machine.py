"""The symbolic machine: runs opcodes on a stack of plain values and Opaques.

It never imports, calls, hashes or compares what the bytes describe. Each handler gets
the machine and the offset behind its opcode, and returns the offset behind its
operand. A short read shows as IndexError or struct.error, which ``run`` translates:
checking each read would double the time.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ckptctl.codec.errors import LimitExceeded, Malformed, PickleError, Truncated, Unsupported
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_nodes import Opaque, safe_key
from ckptctl.codec.pickle_opcodes import operand_end

__all__ = ["HANDLERS", "Handler", "Machine", "Stopped", "run"]

T = TypeVar("T")
HIGHEST_PROTOCOL = 5
_I4 = struct.Struct("<i").unpack_from
_U4 = struct.Struct("<I").unpack_from
_U8 = struct.Struct("<Q").unpack_from
_U2 = struct.Struct("<H").unpack_from
_F8 = struct.Struct(">d").unpack_from


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


pushes(b"N", None)
pushes(b"\x88", True)  # noqa: FBT003
pushes(b"\x89", False)  # noqa: FBT003
pushes(b")", ())


@handles(b"\x80")
def _proto(m: Machine, pos: int) -> int:
    m.proto = m.data[pos]
    if m.proto > HIGHEST_PROTOCOL:
        raise Unsupported(f"pickle protocol {m.proto}")
    return pos + 1


@handles(b"\x95")
def _frame(m: Machine, pos: int) -> int:
    (length,) = _U8(m.data, pos)
    end = pos + 8 + length
    if end > m.size:
        raise Truncated("a frame that does not end")
    if m.frames and pos - 1 < m.frames[-1][1]:
        raise Malformed("a frame inside a frame")
    m.frames.append((pos + 8, end))
    return int(pos + 8)


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


@handles(b"0")
def _pop(m: Machine, pos: int) -> int:
    if not m.stack:
        m.stack = m.meta.pop()
        return pos
    value = m.stack.pop()
    if (
        isinstance(value, Opaque)
        and value.kind == "reduce"
        and len(value.args) == 2
        and m.stack
        and m.stack[-1] is value.args[0]
        and m.data[pos - 2] == ord("R")
        and isinstance(m.stack[-1], Opaque)
    ):
        # A call whose result is dropped and whose first argument stays: a state setter.
        m.stack[-1].setters = _grown(m.stack[-1].setters, value)
    return pos


def _grown(values: Sequence[T], value: T) -> Sequence[T]:
    """One more value; a tuple while there is one, as there is nearly always."""
    if isinstance(values, list):
        values.append(value)
        return values
    return [*values, value] if values else (value,)


@handles(b"1")
def _pop_mark(m: Machine, pos: int) -> int:
    m.stack = m.meta.pop()
    return pos


@handles(b"2")
def _dup(m: Machine, pos: int) -> int:
    m.stack.append(m.stack[-1])
    m.dup = True
    return pos


@handles(b"K")
def _binint1(m: Machine, pos: int) -> int:
    m.stack.append(m.data[pos])
    return pos + 1


@handles(b"M")
def _binint2(m: Machine, pos: int) -> int:
    m.stack.append(_U2(m.data, pos)[0])
    return pos + 2


@handles(b"J")
def _binint(m: Machine, pos: int) -> int:
    m.stack.append(_I4(m.data, pos)[0])
    return pos + 4


@handles(b"G")
def _binfloat(m: Machine, pos: int) -> int:
    m.stack.append(_F8(m.data, pos)[0])
    return pos + 8


@handles(b"\x8a")
def _long1(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 1 + m.data[pos])
    m.stack.append(int.from_bytes(m.data[pos + 1 : end], "little", signed=True))
    return end


@handles(b"\x8b")
def _long4(m: Machine, pos: int) -> int:
    (length,) = _I4(m.data, pos)
    if length < 0:
        raise Malformed("a number of negative length")
    end = _checked(m, pos + 4 + length)
    if length > m.limits.max_int_bytes:
        raise LimitExceeded("a whole number that is too wide")
    m.stack.append(int.from_bytes(m.data[pos + 4 : end], "little", signed=True))
    return end


def _checked(m: Machine, end: int) -> int:
    if end > m.size:
        raise Truncated("a value that does not end")
    return end


@handles(b"\x8c")
def _short_text(m: Machine, pos: int) -> int:
    end = pos + 1 + m.data[pos]
    if end > m.size:
        raise Truncated("a text that does not end")
    m.stack.append(m.data[pos + 1 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"X")
def _text(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 4 + _U4(m.data, pos)[0])
    m.stack.append(m.data[pos + 4 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"\x8d")
def _long_text(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(m.data[pos + 8 : end].decode("utf-8", "surrogatepass"))
    return end


@handles(b"C")
def _short_bytes(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 1 + m.data[pos])
    m.stack.append(m.data[pos + 1 : end])
    return end


@handles(b"B")
def _bytes(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 4 + _U4(m.data, pos)[0])
    m.stack.append(m.data[pos + 4 : end])
    return end


@handles(b"\x8e")
def _long_bytes(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(m.data[pos + 8 : end])
    return end


@handles(b"\x96")
def _bytearray(m: Machine, pos: int) -> int:
    end = _checked(m, pos + 8 + _U8(m.data, pos)[0])
    m.stack.append(bytearray(m.data[pos + 8 : end]))
    return end


@handles(b"\x94")
def _memoize(m: Machine, pos: int) -> int:
    m.memo[len(m.memo)] = m.stack[-1]
    return pos


@handles(b"q")
def _binput(m: Machine, pos: int) -> int:
    m.memo[m.data[pos]] = m.stack[-1]
    return pos + 1


@handles(b"r")
def _long_binput(m: Machine, pos: int) -> int:
    m.memo[_U4(m.data, pos)[0]] = m.stack[-1]
    return pos + 4


@handles(b"h")
def _binget(m: Machine, pos: int) -> int:
    _get(m, m.data[pos])
    return pos + 1


@handles(b"j")
def _long_binget(m: Machine, pos: int) -> int:
    _get(m, _U4(m.data, pos)[0])
    return pos + 4


def _get(m: Machine, index: int) -> None:
    if index not in m.memo:
        raise Malformed(f"memo entry {index} is not set")
    m.stack.append(m.memo[index])


@handles(b"\x85")
def _tuple1(m: Machine, pos: int) -> int:
    m.stack[-1] = (m.stack[-1],)
    return pos


@handles(b"\x86")
def _tuple2(m: Machine, pos: int) -> int:
    last = m.stack.pop()
    m.stack[-1] = (m.stack[-1], last)
    return pos


@handles(b"\x87")
def _tuple3(m: Machine, pos: int) -> int:
    last, middle = m.stack.pop(), m.stack.pop()
    m.stack[-1] = (m.stack[-1], middle, last)
    return pos


def marked(m: Machine) -> list[object]:
    """The values above the last MARK, which goes away."""
    values = m.stack
    if not m.meta:
        raise Malformed("no MARK is set")
    m.stack = m.meta.pop()
    return values


@handles(b"t")
def _tuple(m: Machine, pos: int) -> int:
    values = tuple(marked(m))
    m.stack.append(values)
    return pos


@handles(b"]")
def _empty_list(m: Machine, pos: int) -> int:
    m.stack.append([])
    return pos


@handles(b"l")
def _list(m: Machine, pos: int) -> int:
    values = marked(m)
    m.stack.append(values)
    return pos


@handles(b"}")
def _empty_dict(m: Machine, pos: int) -> int:
    m.stack.append({})
    return pos


@handles(b"d")
def _dict(m: Machine, pos: int) -> int:
    values = marked(m)
    made: dict[object, object] = {}
    _fill(made, values)
    m.stack.append(made)
    return pos


@handles(b"\x8f")
def _empty_set(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("set"))
    return pos


@handles(b"\x91")
def _frozenset(m: Machine, pos: int) -> int:
    values = marked(m)
    m.stack.append(Opaque("frozenset", appended=values))
    return pos


@handles(b"a")
def _append(m: Machine, pos: int) -> int:
    value = m.stack.pop()
    _extend(m.stack[-1], [value])
    return pos


@handles(b"e")
def _appends(m: Machine, pos: int) -> int:
    values = marked(m)
    _extend(m.stack[-1], values)
    return pos


def _extend(target: object, values: list[object]) -> None:
    if isinstance(target, list):
        target.extend(values)
    elif isinstance(target, Opaque):
        if not isinstance(target.appended, list):
            target.appended = list(target.appended)
        target.appended.extend(values)
    else:
        raise Malformed("items added to what holds none")


@handles(b"\x90")
def _additems(m: Machine, pos: int) -> int:
    values = marked(m)
    if not isinstance(m.stack[-1], Opaque):
        raise Malformed("members added to what is no set")
    _extend(m.stack[-1], values)
    return pos


@handles(b"s")
def _setitem(m: Machine, pos: int) -> int:
    value, key = m.stack.pop(), m.stack.pop()
    _fill(m.stack[-1], [key, value])
    return pos


@handles(b"u")
def _setitems(m: Machine, pos: int) -> int:
    values = marked(m)
    _fill(m.stack[-1], values)
    return pos


def _fill(target: object, values: list[object]) -> None:
    if len(values) % 2:
        raise Malformed("a key without a value")
    pairs = zip(values[::2], values[1::2], strict=True)
    if isinstance(target, dict):
        for key, value in pairs:
            target[key if type(key) is str else safe_key(key)] = value
    elif isinstance(target, Opaque):
        if not isinstance(target.items, list):
            target.items = list(target.items)
        target.items.extend(pairs)
    else:
        raise Malformed("items set on what holds none")


@handles(b"\x93")
def _stack_global(m: Machine, pos: int) -> int:
    name, module = m.stack.pop(), m.stack.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise Malformed("a global whose name is not text")
    push_global(m, module, name)
    return pos


def push_global(m: Machine, module: str, name: str) -> None:
    """Push the description of a global; nothing is imported."""
    m.globals.add(f"{module}:{name}")
    m.stack.append(Opaque("global", args=(module, name)))


@handles(b"R")
def _reduce(m: Machine, pos: int) -> int:
    args = m.stack.pop()
    m.stack[-1] = Opaque("reduce", *_call(m.stack[-1], args))
    return pos


@handles(b"\x81")
def _newobj(m: Machine, pos: int) -> int:
    args = m.stack.pop()
    m.stack[-1] = Opaque("newobj", *_call(m.stack[-1], args))
    return pos


@handles(b"\x92")
def _newobj_ex(m: Machine, pos: int) -> int:
    kwargs, args = m.stack.pop(), m.stack.pop()
    if not isinstance(kwargs, dict):
        raise Malformed("keyword arguments that are no dict")
    m.stack[-1] = Opaque("newobj_ex", *_call(m.stack[-1], args), kwargs)
    return pos


def _call(target: object, args: object) -> tuple[Opaque, tuple[object, ...]]:
    if not isinstance(target, Opaque):
        raise Malformed("a call of what cannot be called")
    if not isinstance(args, tuple):
        raise Malformed("arguments that are no tuple")
    return target, args


@handles(b"b")
def _build(m: Machine, pos: int) -> int:
    state = m.stack.pop()
    target = m.stack[-1]
    if not isinstance(target, Opaque):
        raise Malformed("a state for what has none")
    target.states = _grown(target.states, state)
    return pos


@handles(b"o")
def _obj(m: Machine, pos: int) -> int:
    values = marked(m)
    if not values:
        raise Malformed("an object without a class")
    m.stack.append(Opaque("obj", *_call(values[0], tuple(values[1:]))))
    return pos


@handles(b"Q")
def _binpersid(m: Machine, pos: int) -> int:
    m.stack[-1] = Opaque("persid", args=(m.stack[-1],))
    return pos


@handles(b"\x82")
def _ext1(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=(m.data[pos],)))
    return pos + 1


@handles(b"\x83")
def _ext2(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=_U2(m.data, pos)))
    return pos + 2


@handles(b"\x84")
def _ext4(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("ext", args=_I4(m.data, pos)))
    return pos + 4


@handles(b"\x97")
def _next_buffer(m: Machine, pos: int) -> int:
    m.stack.append(Opaque("buffer"))
    return pos


@handles(b"\x98")
def _readonly_buffer(m: Machine, pos: int) -> int:
    m.stack[-1] = m.stack[-1]
    return pos
