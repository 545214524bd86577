"""For which Python a function was compiled that a pickle keeps by value.

cloudpickle keeps the arguments of ``types.CodeType``. Their number and the opcodes in the
bytecode tell the version: RESUME, with which every function begins since Python 3.11, has
number 151 in 3.11 and 3.12, 149 in 3.13 and 128 in 3.14; only 3.11 has PRECALL (166), and
only since 3.12 RETURN_CONST (121). The bytecode is read and never run.
"""

from __future__ import annotations

from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.model.pickles import StoredCode

__all__ = ["code_of"]

_BEFORE_3_11, _SINCE_3_11 = 16, 18
_PRECALL, _RETURN_CONST = 166, 121
_BY_RESUME = {
    151: frozenset({"3.11", "3.12"}),
    149: frozenset({"3.13"}),
    128: frozenset({"3.14"}),
}
"""In this order: what RESUME was in one version is another opcode in those before it."""
_OLD = frozenset({"3.8", "3.9", "3.10"})
_BYTECODE = 6


def code_of(node: Opaque) -> StoredCode | None:
    """The function whose code an object is; None for what is no code."""
    if node.kind != "reduce" or len(node.args) not in (_BEFORE_3_11, _SINCE_3_11):
        return None
    maker = node.cls
    made = isinstance(maker, Opaque) and (
        maker.name == "types:CodeType"
        or (maker.name.endswith(":_builtin_type") and maker.args == ("CodeType",))
    )
    code = node.args[_BYTECODE]
    if not made or not isinstance(code, bytes):
        return None
    new = len(node.args) == _SINCE_3_11
    file, name = node.args[10], node.args[12 if new else 11]
    return StoredCode(
        name=name if isinstance(name, str) else "?",
        file=file if isinstance(file, str) else "?",
        pythons=_pythons(code) if new else _OLD,
    )


def _pythons(code: bytes) -> frozenset[str]:
    """The versions since 3.11 that the bytecode may be for; empty where it is for none known."""
    opcodes = code[::2]
    found = next((who for op, who in _BY_RESUME.items() if op in opcodes), frozenset[str]())
    if "3.11" in found and _PRECALL in opcodes:
        return frozenset({"3.11"})
    if "3.12" in found and _RETURN_CONST in opcodes:
        return frozenset({"3.12"})
    return found
