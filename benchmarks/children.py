"""Python in processes of their own, with the package and the benchmarks of this process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import riskslim


def run_python(arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """Run the interpreter and return what it prints.

    Parameters
    ----------
    arguments : sequence of str
    variables : mapping, optional
        More environment variables.

    Returns
    -------
    str

    Raises
    ------
    RuntimeError
        If it fails, with what it printed to standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = process(arguments, Path(folder), variables)
    if run.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{run.stderr}")
    return run.stdout


def process(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the interpreter in a folder, however it ends.

    Parameters
    ----------
    arguments : sequence of str
    folder : Path
        The working directory.
    variables : mapping, optional
        More environment variables.

    Returns
    -------
    subprocess.CompletedProcess
        With what it printed.
    """
    # An installed package comes before the sources, which may not have been built.
    package = Path(riskslim.__file__).resolve().parents[1]
    benchmarks = Path(__file__).resolve().parents[1]
    path = os.pathsep.join(map(str, (package, benchmarks)))
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, **(variables or {})}, cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
