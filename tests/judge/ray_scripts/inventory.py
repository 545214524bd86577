"""What the Ray and pyarrow of this interpreter have, as JSON: a request on stdin, an answer on stdout.

{"ask": "written"}: what a pickle made here can name.
{"ask": "has", "names": [...], "fields": {class: [attribute, ...]}}: which of those names can be
loaded here, and which of those attributes a class reads and an object has only from its state, with
what they begin with where an object can be made without arguments.
"""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import re
import sys
import textwrap

import local_ray

os.environ.update(local_ray.SETTINGS)

PACKAGES = ("ray.air", "ray.train", "ray.tune", "ray.cloudpickle", "ray.exceptions")
ALSO = ("ray", "ray.util.placement_group", "ray.util.annotations")
LEFT_OUT = re.compile(r"\.(tests?|examples|benchmarks?|_?cli|automl)(\.|$)|__main__|conftest")
PYARROW = ("pyarrow._fs", "pyarrow._s3fs", "pyarrow._gcsfs", "pyarrow._azurefs", "pyarrow._hdfs")
PYARROW += ("pyarrow.fs", "pyarrow.lib")
CALLED = ("_reconstruct", "_from_uri")
# Classes of which a restore reads objects, and which can be made without doing anything.
MADE = re.compile(
    r"ray\.tune\.(schedulers|stopper|tune_config|search\.basic)|ray\.(tune|train):\w+Config$"
)


def modules():
    """Every module of the packages that holds what an experiment can be made of."""
    for package in PACKAGES:
        yield package
        found = importlib.import_module(package)
        for info in pkgutil.walk_packages(getattr(found, "__path__", ()), package + ".", ignored):
            if not LEFT_OUT.search(info.name):
                yield info.name
    yield from ALSO


def ignored(name):
    """A package that cannot be imported is looked into by its source, or not at all."""


def loaded(name):
    """The module, or None where something that it needs is not installed here."""
    try:
        return importlib.import_module(name)
    except BaseException:
        return None


def parsed(name):
    """The names at the top of a module that cannot be imported here."""
    try:
        spec = importlib.util.find_spec(name)
        with open(spec.origin, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except Exception:
        return set(), set()
    defined, there = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            there.update(alias.asname or alias.name for alias in node.names)
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            defined.add(node.name)
    return defined, there | defined


def written():
    """``module:qualname`` of every class and function, as a pickle made here names it."""
    for package in PACKAGES:  # a package renames what its modules define
        importlib.import_module(package)
    names = set()
    for name in modules():
        module = loaded(name)
        if module is None:
            names.update(f"{name}:{defined}" for defined in parsed(name)[0])
            continue
        for value in vars(module).values():
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            home, called = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
            if isinstance(home, str) and home.startswith("ray.") and "<locals>" not in called:
                names.add(f"{home}:{called}")
                if inspect.isclass(value):
                    names.update(nested(value, home, called))
    return sorted(n for n in names if not LEFT_OUT.search(n.partition(":")[0]))


def nested(owner, home, called):
    for name, value in vars(owner).items():
        if inspect.isclass(value) and value.__qualname__ == f"{called}.{name}":
            yield f"{home}:{called}.{name}"


def pyarrow_names():
    names = set()
    for name in PYARROW:
        module = loaded(name)
        for key, value in vars(module).items() if module else ():
            if not inspect.isclass(value) or "FileS" not in key + value.__name__:
                continue
            names.add(f"{value.__module__}:{value.__qualname__}")
            for method in CALLED:
                if hasattr(value, method):
                    names.add(f"{value.__module__}:{value.__qualname__}.{method}")
    return sorted(names)


def has(name):
    """Whether a reader finds what a pickle names."""
    home, _, called = name.partition(":")
    module = loaded(home)
    if module is None:
        return called.partition(".")[0] in parsed(home)[1]
    value = module
    for part in called.split("."):
        try:
            value = getattr(value, part)
        except BaseException:
            return False
    return True


def needed(name, attributes):
    """Those of the attributes that the class itself does not have, with what they begin with."""
    value = found(name)
    if value is None:
        return None
    begins = fresh(name)
    told = {a: {} for a in attributes}
    for key, held in begins.items():
        told[key] = {"default": held} if plain(held) else {}
    read = read_by_methods(value)
    return {a: told[a] for a in sorted(told) if not hasattr(value, a) and a in read}


def read_by_methods(value):
    """The attributes that methods read, those aside that run only where an object is made."""
    names = set()
    for base in getattr(value, "__mro__", ()):
        if not base.__module__.startswith("ray."):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except OSError:  # made at run time, as a named tuple is
            continue
        for method in tree.body[0].body:
            if getattr(method, "name", None) not in ("__init__", "__post_init__"):
                names.update(read_in(method))
    return names


def read_in(method):
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield node.attr


def found(name):
    home, _, called = name.partition(":")
    value = loaded(home)
    for part in called.split("."):
        value = getattr(value, part, None)
    return value


def fresh(name):
    """The attributes of an object made without arguments, where that can be done."""
    if not MADE.match(name):
        return {}
    try:
        return dict(vars(found(name)()))
    except BaseException:
        return {}


def plain(value):
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return False
    return value is None or isinstance(value, (bool, int, float, str)) or value in ({}, [])


def filesystems():
    """How this pyarrow pickles a filesystem: what is called, and with which arguments."""
    import pyarrow.fs

    made = [pyarrow.fs.LocalFileSystem(), pyarrow.fs.LocalFileSystem(use_mmap=True)]
    for name, arguments in REMOTE.items():
        try:
            made.append(getattr(pyarrow.fs, name)(**arguments))
        except BaseException:
            continue
    return [described(filesystem.__reduce__()) for filesystem in made]


REMOTE = {
    "S3FileSystem": {"anonymous": True, "region": "us-east-1"},
    "GcsFileSystem": {"anonymous": True},
    "AzureFileSystem": {"account_name": "some"},
}


def described(reduced):
    call, arguments = reduced[:2]
    qualname = call.__qualname__
    if "." not in qualname:
        qualname = f"{call.__self__.__qualname__}.{call.__name__}"
    return {"call": qualname, "args": list(arguments)}


def counter_starts():
    """The first value of the counter of checkpoints: it tells what the counter means."""
    from ray.train._internal.storage import StorageContext

    parameters = inspect.signature(StorageContext.__init__).parameters
    return parameters["current_checkpoint_index"].default


def snapshot():
    """The fields of a snapshot of Train V2, and which of them it cannot be loaded without."""
    try:
        module = importlib.import_module(
            "ray.train.v2._internal.execution.checkpoint.checkpoint_manager"
        )
    except ImportError:
        return None
    state = module._CheckpointManagerState
    fields = getattr(state, "model_fields", None) or getattr(state, "__fields__", None) or {}
    told = {}
    for name, field in fields.items():
        required = field.is_required() if hasattr(field, "is_required") else field.required
        default = None if required else field.get_default()
        told[name] = {"required": bool(required), "default": default if plain(default) else None}
    return told


def popped():
    """The keys that the state of a run cannot do without."""
    from ray.tune.execution.tune_controller import TuneController

    source = inspect.getsource(TuneController.__setstate__)
    return sorted(set(re.findall(r"""state(?:\.pop\(|\[)["'](\w+)["'][\])]""", source)))


def main():
    channel = local_ray.answer_channel()
    request = json.load(sys.stdin)
    import numpy
    import pyarrow
    import ray

    answer = {
        "ray": ray.__version__,
        "pyarrow": pyarrow.__version__,
        "numpy": numpy.__version__,
    }
    if request["ask"] == "written":
        answer["names"] = written()
        answer["pyarrow_names"] = pyarrow_names()
        answer["filesystems"] = filesystems()
        answer["counter_starts"] = counter_starts()
        answer["snapshot"] = snapshot()
        answer["runner_keys"] = popped()
    else:
        answer["has"] = [name for name in request["names"] if has(name)]
        answer["needed"] = {
            name: needed(name, attributes) for name, attributes in request["fields"].items()
        }
    local_ray.say(channel, answer)


if __name__ == "__main__":
    main()
