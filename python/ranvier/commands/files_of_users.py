"""Files of users that commands execute: networks in Python, and functions of such files.

Errors in them become one message with the line of the file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ranvier.base.names import unknown_name, with_article
from ranvier.commands.keys import RUN_KEYS, shipped_networks, signature_keys
from ranvier.errors import FileError, InternalError, RanvierError, RuleError
from ranvier.network.network import Network
from ranvier.networks import NetworkModel

__all__ = ["call_user_code", "describe_network", "execute", "find_network"]


def find_network(name: str) -> Callable[..., Any]:
    """Return the function that describes a network, from the package, by its name, or from a file.

    Raises
    ------
    UnknownNameError, FileError
        When the network or file does not exist, or the file does not define a function ``network`` or raises an error.
    """
    shipped = shipped_networks()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix != ".py" and not path.exists():
        unknown_name("model", name, [*shipped, "a Python file (.py)"])
    if not path.is_file():
        raise FileError(f"file {path}", bound="there is no such file", remedy="check the path")
    module = execute(path)
    function = getattr(module, "network", None)
    if not callable(function):
        raise FileError(
            f"file {path}", bound="it does not define a function 'network'", remedy="see ranvier run --help"
        )
    for key in signature_keys(function):
        if key in RUN_KEYS:
            raise FileError(
                f"keyword {key} of network() in {path}", bound="it is a key of every run", remedy="give it another name"
            )
    return cast(Callable[..., Any], function)


def execute(path: Path) -> ModuleType:
    """Execute a Python file, as a module that has its name.

    Raises
    ------
    FileError
        When it is not a Python file, or ends with an error.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileError(f"file {path}", bound="it is not a Python file", remedy="name it .py")
    module = importlib.util.module_from_spec(spec)
    # As in a script, classes of the file can be pickled. A loaded module of the same name, such as numpy, is not
    # replaced.
    sys.modules.setdefault(path.stem, module)
    call_user_code(path, lambda: spec.loader.exec_module(module))  # type: ignore[union-attr]
    return module


def describe_network(name: str, function: Callable[..., Any], keywords: dict[str, Any]) -> NetworkModel:
    """Call a function that `find_network` has found; `name` is the name of the network or the file.

    Raises
    ------
    RuleError
        When a keyword without a default is not given.
    FileError
        When the function ends with an error, or returns something else.
    """
    if name in shipped_networks():
        return cast(NetworkModel, function(**keywords))
    missing = [key for key, default in signature_keys(function).items() if _is_empty(default) and key not in keywords]
    if missing:
        raise RuleError(f"network() in {name}", bound=f"it needs {', '.join(missing)}", remedy="set them with --set")
    result = call_user_code(Path(name), lambda: function(**keywords))
    if isinstance(result, Network):
        return NetworkModel(net=result, spikes=result.record_spikes())
    if not isinstance(result, NetworkModel):
        raise FileError(
            f"file {name}",
            bound=f"its function 'network' returned {with_article(type(result).__name__)}",
            remedy="return a ranvier.Network or a ranvier.networks.NetworkModel",
        )
    return result


def _is_empty(default: object) -> bool:
    return isinstance(default, type) and default.__name__ == "_empty"


@contextlib.contextmanager
def _folder_on_path(path: Path) -> Iterator[None]:
    """Let a file import modules beside it, as a script can. Imports of Ranvier must not find these modules later."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def call_user_code(path: Path, call: Callable[[], object]) -> object:
    """Call a function of the user's file; an error in it becomes one message with the line number.

    Raises
    ------
    FileError
        When it ends with an error.
    """
    try:
        with _folder_on_path(path):
            return call()
    except InternalError:
        raise
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).resolve() == path.resolve()
        ]
        if isinstance(error, SyntaxError) and error.lineno is not None:
            lines.append(error.lineno)
        where = f"file {path}, line {lines[-1]}" if lines else f"file {path}"
        message = str(error) if isinstance(error, RanvierError) else f"{type(error).__name__}: {error}"
        raise FileError(where, bound=message) from error
