"""The entry point: the fast path of --version, and the one place that maps errors."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # the module typing takes longer to import than `--version` takes in all
if TYPE_CHECKING:
    from ckptctl.model.plan import Plan


def run() -> None:
    """Run the command line, and end the process with its exit code."""
    if sys.argv[1:] == ["--version"]:
        sys.exit(main(sys.argv[1:]))  # nothing is imported for it
    import signal

    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were imported, or the call was about to end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = _interrupted(sys.argv[1:])
    # The answer is given: an interrupt from here on would only hide how it ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end(code)


def _end(code: int) -> None:
    """End the process without freeing one by one what a large experiment has left in memory."""
    import os

    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # as where the shell has closed it
                stream.flush()
    except (OSError, ValueError):  # nobody reads, or it is closed: Python knows what to do
        sys.exit(code)
    os._exit(code)


def main(argv: list[str]) -> int:
    """Run the command line; errors of every kind become an exit code here."""
    if argv == ["--version"]:
        from ckptctl._version import __version__

        print(f"ckptctl {__version__}")
        return 0
    if sorted(argv) in (["--verbose", "--version"], ["--version", "-v"]):
        from ckptctl.cli._versions import versions

        print("\n".join(versions()))
        return 0
    return _run(argv or ["--help"])


def _silenced() -> int:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _run(argv: list[str]) -> int:
    import gc
    import os

    import typer

    from ckptctl.cli.app import app_of
    from ckptctl.errors import CkptctlError, ExitCode

    _begun().clear()  # an earlier call of this process
    # A process that ends with its answer need not look for cycles among millions of values.
    collects = gc.isenabled()
    gc.disable()
    try:
        code = app_of(argv)(args=argv, prog_name="ckptctl", standalone_mode=False)
    except (CkptctlError, typer.TyperException) as error:
        return _failed(error, argv)
    except BrokenPipeError:  # whoever reads the help has seen enough
        return _silenced()
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer ends so
            return _silenced()
        raise
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.CANCELLED
    except Exception as error:
        if os.environ.get("CKPTCTL_DEBUG"):
            raise
        return _failed(error, argv)
    finally:
        _dismiss()
        if collects:
            gc.enable()  # for whoever called us
    if code == ExitCode.CANCELLED:  # typer's own answer to Ctrl-C
        return _interrupted(argv)
    return int(code or 0)


def _interrupted(argv: list[str]) -> int:
    """Say what an interrupt has left of the call, wherever it came."""
    from ckptctl import api

    return _failed(api.interrupted(_begun()), argv)


def _begun() -> list[Plan]:
    """The plans that the call has begun to apply, where it is of a verb that applies some."""
    if "ckptctl.cli._flow" not in sys.modules:
        return []
    from ckptctl.cli import _flow

    return _flow.begun


def _dismiss() -> None:
    """Stop the cluster that the call has started, if it did: the process ends without asking."""
    if "ckptctl.cluster" in sys.modules:
        from ckptctl import api

        api.dismiss()


def _failed(error: Exception, argv: list[str]) -> int:
    import typer

    from ckptctl.cli._failure import bug, fail, usage
    from ckptctl.errors import CkptctlError

    if isinstance(error, typer.TyperException):
        error = usage(error)
    return fail(error if isinstance(error, CkptctlError) else bug(error), argv)
