"""The Pythons that wheels are built and tried with."""

import os
import pathlib
import subprocess
import sys

_FIND_PYTHON = pathlib.Path(__file__).parent / "find_python"


def find(candidates, *, headers=True):
    """Return {version: path} of these Pythons, or of all on this machine if there are no candidates.

    Exit with the reason if a candidate cannot be used, or if there is no Python at all. Without `headers`, Pythons that
    can install wheels but not build them are found, too.
    """
    found = {}
    for arguments in [["--with-version", candidate] for candidate in candidates] or [["--all"]]:
        lines = _run(*arguments, headers=headers).stdout.splitlines()
        for line in lines or _run("--with-version", headers=headers).stdout.splitlines():
            version, path = line.split(" ", 1)
            found.setdefault(version, path)
    return found


def _run(*arguments, headers):
    environment = {**os.environ, "RANVIER_PYTHON_HEADERS": "yes" if headers else "no"}
    done = subprocess.run([_FIND_PYTHON, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done
