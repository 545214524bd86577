"""The import law: a package imports only from those above it, and each concern has one home."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ckptctl"

# A module imports only from lines above its own.
ORDER = (
    "_version",
    "errors",
    "model",
    "codec",
    "storage",
    "diff",
    "layouts",
    "cluster",
    "scanner",
    "stages",
    "migration",
    "rules",
    "checker",
    "planner",
    "journal",
    "liveness",
    "verify",
    "executor",
    "report",
    "api",
    "cli",
    "__main__",
    "integrations",
)

NOWHERE = {"pickle", "_pickle", "cloudpickle", "pickletools", "marshal", "shelve", "torch", "click"}

# Third-party and telling modules, and who alone may import them.
HOMES: dict[str, tuple[str, ...]] = {
    "fsspec": ("storage",),
    "s3fs": ("storage",),
    "gcsfs": ("storage",),
    "rich": ("report/text.py", "cli"),
    "typer": ("cli",),
    "ray": ("integrations",),
    "dask": ("integrations",),
    "distributed": ("integrations",),
    "subprocess": ("cli",),
}

CLOCKS = {
    "time.time",
    "time.time_ns",
    "datetime.now",
    "datetime.utcnow",
    "uuid.uuid1",
    "uuid.uuid4",
}
# A signed request tells when it was made.
CLOCK_HOMES = ("executor", "journal", "liveness", "cli", "storage/s3_swift.py")

CEILING = 450

MODULES = sorted(
    p for p in PACKAGE.rglob("*.py") if "demo" not in p.relative_to(PACKAGE).parts[:-1]
)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def level_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Every imported module in full, also under TYPE_CHECKING and inside functions."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def calls(path: Path) -> set[str]:
    nodes = ast.walk(tree(path))
    return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


def lives_in(path: Path, homes: tuple[str, ...]) -> bool:
    return level_of(path) in homes or name_of(path) in homes


def offences_of(is_one: Callable[[Path, str], bool]) -> list[str]:
    return [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        for name in imports(path)
        if is_one(path, name.split(".")[0])
    ]


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What is in a function, and not in functions inside of it."""
    left: list[ast.AST] = list(function.body)
    while left:
        yield (node := left.pop())
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            left.extend(ast.iter_child_nodes(node))


def test_no_iterator_has_work_on_its_way() -> None:
    """The collector may end an iterator at any moment, and may not wait for threads then."""
    work = {"ThreadPoolExecutor", "together", "each", "in_order", "on_workers", "run", "copy"}
    offences, seen = [], set()
    for path in MODULES:
        for function in ast.walk(tree(path)):
            if not isinstance(function, ast.FunctionDef):
                continue
            nodes = list(own_nodes(function))
            entered = [
                item.context_expr for n in nodes if isinstance(n, ast.With) for item in n.items
            ]
            called = {
                ast.unparse(e.func).split(".")[-1] for e in entered if isinstance(e, ast.Call)
            }
            seen |= called & work
            yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
            is_context = any("contextmanager" in ast.unparse(d) for d in function.decorator_list)
            if yields and not is_context and called & work:
                offences.append(f"{name_of(path)}: {function.name}")
    assert not offences
    assert {"ThreadPoolExecutor", "together", "each", "on_workers", "run", "copy"} <= seen


def test_every_package_has_its_place() -> None:
    levels = {level_of(path) for path in MODULES} - {"__init__"}
    assert levels <= set(ORDER)


def test_imports_point_down() -> None:
    offences = []
    for path in MODULES:
        own = level_of(path)
        if own == "__init__":  # re-exports what users call
            continue
        rank = ORDER.index(own) if own in ORDER else len(ORDER)
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "ckptctl" and ORDER.index(parts[1]) > rank:
                offences.append(f"{name_of(path)} imports {name}")
    assert not offences


def test_nothing_imports_what_runs_pickles() -> None:
    assert not offences_of(lambda path, name: name in NOWHERE)


def test_each_dependency_has_one_home() -> None:
    assert not offences_of(lambda path, name: name in HOMES and not lives_in(path, HOMES[name]))


def test_only_the_command_line_prints() -> None:
    printing = {name_of(path) for path in MODULES if "print" in calls(path)}
    assert all(name.startswith("cli/") for name in printing), printing


def test_clocks_are_read_at_the_edges() -> None:
    telling = {name_of(p) for p in MODULES if CLOCKS & calls(p) and not lives_in(p, CLOCK_HOMES)}
    assert not telling


def test_modules_stay_small() -> None:
    sizes = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert not {name: size for name, size in sizes.items() if size > CEILING}


def test_the_command_line_asks_only_the_api() -> None:
    """It shows what `report` makes of the answer; the model and the errors are everyone's words."""
    allowed = {"_version", "errors", "model", "report", "api", "cli"}
    offences = [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        if level_of(path) == "cli"
        for name in imports(path)
        if name.startswith("ckptctl.") and name.split(".")[1] not in allowed
    ]
    assert not offences
