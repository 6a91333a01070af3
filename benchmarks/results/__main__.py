"""The commands that make a record, and that compare two."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import riskslim
from benchmarks.children import process
from benchmarks.machine import describe_machine
from benchmarks.results import __doc__ as DESCRIPTION  # noqa: N812
from benchmarks.results import commands, constrained, documents, drawn, parts, rows, searches
from benchmarks.results.comparing import compared
from benchmarks.results.folder import ABOUT, Record

__all__ = ["GROUPS", "main"]

# What is recorded, by the names that --groups takes: each in a process of its own.
GROUPS: dict[str, Callable[[Record], None]] = {
    "demo": searches.write_demo,
    "paper": searches.write_paper,
    "lattice": searches.write_lattice,
    "raw": searches.write_raw,
    "lists": searches.write_lists,
    "paths": searches.write_paths,
    "threads": searches.write_threads,
    "constrained": constrained.write_constrained,
    "drawn": drawn.write_drawn,
    "many": rows.write_many_rows,
    "places": rows.write_places,
    "parts": parts.write_parts,
    "documents": documents.write_documents,
    "commands": commands.write_commands,
    "faults": commands.write_faults,
}
_PACKAGES = ("scipy", "scikit-learn", "pandas", "pyarrow", "cplex", "pyscipopt", "dask", "glum")
# Sums of linear algebra on one thread: their order is part of the bits.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}


def _record(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if (folder / ABOUT).exists():
        print(f"{folder} has a record already", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    began, wrong = time.monotonic(), []
    about: dict[str, Any] = {"short": options.short, "groups": list(options.groups), "seconds": {}}
    for group in options.groups:
        found = _in_a_process(group, options)
        if found is None:
            wrong.append(group)
            continue
        about["seconds"] |= found["seconds"]
        seconds = sum(v for k, v in found["seconds"].items() if k.count("/") == 1)
        print(f"{group}: {found['files']} files, {seconds:.0f} CPU seconds", flush=True)
        for error in found["errors"]:
            print(f"  {error}"[:200])
    about |= {"version": riskslim.__version__, "minutes": (time.monotonic() - began) / 60}
    about |= describe_machine() | {"packages": {name: _version(name) for name in _PACKAGES}}
    n_files = sum(path.is_file() for path in folder.rglob("*"))
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{n_files} files in {about['minutes']:.1f} minutes; without a result: {wrong or 'none'}")
    return int(bool(wrong))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _in_a_process(group: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Write the files of a group; None where the process did not end well."""
    arguments = [
        "-m", "benchmarks.results", "group", group, str(options.data.resolve()),
        str(options.folder.resolve()), *(["--short"] if options.short else []),
    ]  # fmt: skip
    run = process(arguments, options.folder, {**os.environ, **_ONE_THREAD})
    if run.returncode:
        print(f"{group} failed with exit code {run.returncode}:\n{run.stderr}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def _group(options: argparse.Namespace) -> int:
    record = Record(options.folder, options.data, short=options.short)
    GROUPS[options.group](record)
    found = {"files": record.n_files, "seconds": record.seconds, "errors": record.errors}
    print(json.dumps(found))
    return 0


def _compare(options: argparse.Namespace) -> int:
    try:
        found = compared(options.folder, options.other, options.without)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    print(found)
    return int(bool(found.differences))


def _groups(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in GROUPS]:
        raise argparse.ArgumentTypeError(
            f"there is no group {unknown[0]!r}, there are {', '.join(GROUPS)}"
        )
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        0 if all is well or the same, 1 if records differ or a group failed, 2 if nothing could be
        done.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.results", description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    chosen = parser.add_subparsers(dest="command", required=True)
    record = chosen.add_parser("record", help="write what the package computes into a folder")
    group = chosen.add_parser("group", help="the same of one group, in this process")
    group.add_argument("group", choices=list(GROUPS))
    for one in (record, group):
        one.add_argument("data", type=Path, help="the paper's data sets, raw tables within")
        one.add_argument("folder", type=Path)
        one.add_argument("--short", action="store_true", help="some of each kind, three minutes")
    record.add_argument("--groups", type=_groups, default=list(GROUPS), help="only these, a,b,c")
    compare = chosen.add_parser("compare", help="say which files of two records differ")
    compare.add_argument("folder", type=Path)
    compare.add_argument("other", type=Path)
    compare.add_argument(
        "--without", action="append", default=[], metavar="PATTERN",
        help='files that are not compared, such as "*.search.json"; may be given repeatedly',
    )  # fmt: skip
    options = parser.parse_args(arguments)
    run = {"record": _record, "group": _group, "compare": _compare}[str(options.command)]
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
