"""A process in which packages are not installed: its import does not find them."""

from __future__ import annotations

import os
import subprocess

from paths import PACKAGE
from programs import run_code

# Finders that find all but some packages: nothing else tells a package that is not installed from
# one that is, not even importlib.util.find_spec and the versions of importlib.metadata.
_HIDE = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            return None
        return self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""


def run_without(
    hidden: set[str], code: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run code where packages are not installed: in a new process, as far as imports go.

    Parameters
    ----------
    hidden : set of str
        Names by which the packages are imported.
    code : str
    *arguments : str
        What sys.argv has from 1 on.
    **environment : str
        Variables beside those of this process.
    """
    variables = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MPLBACKEND": "Agg"}
    variables |= environment
    code = _HIDE.format(hidden=hidden) + code
    return run_code(code, *arguments, folder=PACKAGE.parent, environment=variables, hidden=hidden)
