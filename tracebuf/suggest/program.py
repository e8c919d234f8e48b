"""Runs a program as `python script.py` and `python -m module` do, and gives its exit status."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any

from tracebuf.process.display import users_part

__all__ = ["NotFound", "script", "module", "run"]

_INTERRUPTED = 130


class NotFound(Exception):
    """There is no such program."""


def script(path: str) -> Callable[[], Any]:
    """The program of a file, to be run as `__main__`. NotFound, or SyntaxError."""
    whole = os.path.abspath(path)  # it stays right in another directory
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), whole, "exec")
    except OSError as error:
        raise NotFound(f"{path}: {error.strerror}") from None
    return _main(code, path, os.path.dirname(whole), {"__file__": whole, "__spec__": None})


def module(name: str) -> Callable[[], Any]:
    """The program of a module, or of a package's `__main__`. NotFound, or what importing its parents raises."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        raise NotFound(str(error)) from None
    loader: Any = None if spec is None else spec.loader
    if spec is None or not hasattr(loader, "get_code") or (code := loader.get_code(spec.name)) is None:
        raise NotFound(f"no module {name!r} that can be run")
    names = {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": loader}
    return _main(code, spec.origin or name, os.getcwd(), names)


def _main(code: CodeType, name: str, folder: str, names: dict[str, Any]) -> Callable[[], Any]:
    def start() -> None:
        main = ModuleType("__main__")
        vars(main).update(__builtins__=__builtins__, **names)
        sys.modules["__main__"] = main  # and it stays: its functions are tried later
        sys.argv[0], sys.path[0] = name, folder
        exec(code, vars(main))

    return start


def run(start: Callable[[], Any], argv: Sequence[str], watching: AbstractContextManager[Any]) -> int:
    """Runs a program inside of `watching`, with its `sys.argv`; its exit status. An exception is printed, as Python
    does it."""
    sys.argv = list(argv)
    try:
        with watching:
            start()
    except SystemExit as end:
        return _status(end.code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BaseException as error:
        traceback.print_exception(type(error), error, users_part(error.__traceback__))
        return 1
    return 0


def _status(code: Any) -> int:
    """As `sys.exit` takes it."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1
