"""The command `ranvier`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Collection, Sequence

from ranvier import _core
from ranvier.errors import RanvierError, UnknownNameError

__all__ = ["main", "make_parser"]

# The commands, each of which is a module of `ranvier.commands`.
_COMMANDS = {
    "run": "build and run a network, and report",
    "predict": "predict memory and time of a network on many processes",
    "models": "list neurons, parts of cells, synapses, stimulators, rules and networks, or the models of a file",
    "compile": "write neuron models of equations for simulations in C++",
    "info": "show the machine, the build, and where threads would run",
    "bench": "compare programs, methods and sizes",
    "paper": "repeat figures and tables of papers",
}
_USER_ERROR = 2
_OTHER_ERROR = 1
_INTERRUPTED = 130  # as shells do: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line and return the exit status.

    0: success; 1: an error that is not the user's; 2: an error of the user; 130: interrupted.
    """
    words = sys.argv[1:] if arguments is None else arguments
    # The command is the first word: the options before it take no values.
    parser = make_parser([next((word for word in words if not word.startswith("-")), "")])
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail if a terminal cannot display the characters of bars and names.
        sys.stdout.reconfigure(errors="replace")
    try:
        options, rest = parser.parse_known_args(words)
        _refuse(parser, rest)
        status: int = options.execute(options)
    except KeyboardInterrupt:
        print("ranvier: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except RanvierError as error:
        print(f"ranvier: error: {error}", file=sys.stderr)
        return _USER_ERROR
    except MemoryError:
        print("ranvier: error: the machine ran out of memory", file=sys.stderr)
        return _OTHER_ERROR
    except OSError as error:
        # The output cannot be written. This is not an error if the reader has ended, as `head` does. Python would
        # report it again when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"ranvier: error: {error}", file=sys.stderr)
        return _OTHER_ERROR
    return status


def _refuse(parser: argparse.ArgumentParser, rest: Sequence[str]) -> None:
    """Raise an error for unknown arguments. For a key of --set, it has the option to use."""
    if not rest:
        return
    from ranvier.commands.keys import RUN_KEYS

    for argument in rest:
        name = argument.partition("=")[0].removeprefix("--").replace("-", "_")
        if argument.startswith("--") and name in RUN_KEYS:
            raise UnknownNameError(
                "argument", f"'{argument}'", "each key has one way to be set", f"write --set {name}=VALUE"
            )
    parser.error(f"unrecognized arguments: {' '.join(rest)}")


def make_parser(loaded: Collection[str] = _COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the arguments of those that are loaded."""
    parser = argparse.ArgumentParser(prog="ranvier", description="Simulate networks of spiking neurons.")
    parser.add_argument("--version", action="version", version=f"ranvier {_core.version}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, summary in _COMMANDS.items():
        # Some commands have a help option that shows more.
        command = commands.add_parser(
            name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter, conflict_handler="resolve"
        )
        if name in loaded:
            importlib.import_module(f"ranvier.commands.{name}").add_arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
