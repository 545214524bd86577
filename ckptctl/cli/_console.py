"""Where output goes: the answer to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from msgspec import Struct

from ckptctl.errors import Cancelled, LocationError, UsageError
from ckptctl.report import runner
from ckptctl.report.formats import TEXT
from ckptctl.report.lines import ASCII_MARKS, Line, Marks, Page

if TYPE_CHECKING:
    from ckptctl.report.document import Document

_BLOCK = 64 * 1024
"""Characters of an answer that are written at once."""


class Console(Struct, kw_only=True):
    """What the user asked for, and the streams that it goes to."""

    form: str = "text"
    out: str | None = None
    quiet: bool = False
    verbose: int = 0
    color: str = "auto"
    _begun: bool = False
    """Whether the output file was opened: it is only when there is an answer."""

    @property
    def structured(self) -> bool:
        """Whether the answer is for programs."""
        return self.form != TEXT

    @property
    def json(self) -> bool:
        """Whether errors are JSON objects, as the answer is."""
        return self.form in ("json", "jsonl")

    def page(self, stream: TextIO | None) -> Page:
        """How wide and how rich lines for this stream may be."""
        terminal = _is_terminal(stream)
        return Page(
            width=_width(stream) if terminal else None,
            marks=_marks(stream),
            verbose=self.verbose,
            now=time.time() if terminal else None,
        )

    @property
    def answer_page(self) -> Page:
        """The page of the answer: the terminal, or a pipe or a file."""
        return self.page(None if self.out else sys.stdout)

    def answer(self, lines: Iterable[Line]) -> None:
        """Give the answer as lines."""
        self.write(self._text(lines, None if self.out else sys.stdout))

    def write(self, text: str) -> None:
        """Give the answer as text, to stdout or to the file that was named."""
        self.write_all((text,))

    def write_all(self, parts: Iterable[str]) -> None:
        """Give the answer as text that is made piece by piece."""
        if self.out is None:
            for text in _in_blocks(parts):
                put(sys.stdout, text, self.form)
            return
        try:
            mode = "a" if self._begun else "w"
            with open(self.out, mode, encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(parts)
            self._begun = True
        except OSError as error:
            reason = error.strerror or str(error)
            raise LocationError(f"cannot write {self.out}: {reason}", location=self.out) from error

    def listing(self, document: Document) -> None:
        """Give a document that is one list, in the format that was asked for."""
        from ckptctl.report import renderers

        self.write(renderers.LISTINGS[self.form](document))

    def paths(self, paths: Iterable[str]) -> None:
        """Give bare paths or ids, one a line."""
        from ckptctl.report.lines import line

        if self.out is None and runner.listens(os.environ):
            paths = map(runner.path, paths)
        self.answer([line(path) for path in paths])

    def note(self, lines: Iterable[Line]) -> None:
        """Say something beside the answer."""
        put(sys.stderr, self._text(lines, sys.stderr), TEXT)

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to answer."""
        return _is_terminal(sys.stdin)

    def confirm(self, question: str) -> None:
        """Ask, with No as the default; Cancelled where the answer is not yes."""
        if not self.can_ask:
            raise UsageError(
                "there is no terminal to ask at",
                hint="add --yes to apply, or -n to see the plan only",
            )
        _write(sys.stderr, f"{question} [y/N] ")
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            _write(sys.stderr, "\n")
        if answer.strip().lower() not in ("y", "yes"):
            raise Cancelled("nothing was applied")

    def _text(self, lines: Iterable[Line], stream: TextIO | None) -> str:
        if self._coloured(stream):
            from ckptctl.report import text

            return text.render(lines)
        from ckptctl.report import plain

        return plain.render(lines)

    def _coloured(self, stream: TextIO | None) -> bool:
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return bool(os.environ.get("FORCE_COLOR")) or _is_terminal(stream)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _width(stream: TextIO | None) -> int:
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno() if stream else 1).columns or 80
    except (OSError, ValueError):
        return 80


def _marks(stream: TextIO | None) -> Marks:
    """Signs that the reader can see: ASCII where the locale or the encoding says so."""
    names = (os.environ.get(n) for n in ("LC_ALL", "LC_CTYPE", "LANG"))
    locale = next((name for name in names if name), "")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        "…→◂›·↓↑–".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return ASCII_MARKS if locale in ("C", "POSIX") else Marks()


def _in_blocks(parts: Iterable[str]) -> Iterator[str]:
    """The same text in fewer pieces, since each is handed to the system by itself."""
    held, size = list[str](), 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= _BLOCK:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def put(stream: TextIO | None, text: str, form: str) -> None:
    """Write an answer or a note, and no order to a service that may read along."""
    _write(stream, runner.guarded(text, form) if runner.listens(os.environ) else text)


def _write(stream: TextIO | None, text: str) -> None:
    """Write what the stream can hold; a reader that has closed it has seen enough."""
    if stream is None:
        return
    try:
        if not text.isascii():
            encoding = stream.encoding or "utf-8"
            text = text.encode(encoding, "backslashreplace").decode(encoding)
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        raise LocationError(f"cannot write the answer: {error.strerror or error}") from error
