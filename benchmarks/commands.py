"""The command line that measurements share: folders of data and results, a file of rows, a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.paired import write_page
from benchmarks.records import Row, read_rows

__all__ = ["check_known", "check_numbers", "command", "measured", "show"]


def command(name: str, description: str | None, *, page: bool = False) -> argparse.ArgumentParser:
    """Make the parser of a command that measures on a folder of data.

    Parameters
    ----------
    name : str
        Of the module: "benchmarks.cutoffs".
    description : str or None
        Its docstring.
    page : bool, default False
        Whether its tables can be written to a page.

    Returns
    -------
    argparse.ArgumentParser
        With both folders, ``--report-only``, and ``--page``.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data_folder", type=Path)
    parser.add_argument("output_folder", type=Path)
    parser.add_argument("--report-only", action="store_true", help="print what the file has")
    if page:
        parser.add_argument("--page", type=Path, help="page to write the tables to")
    return parser


def check_known(
    parser: argparse.ArgumentParser, names: Iterable[str], known: Iterable[str], what: str
) -> None:
    """End the command where a name is not known.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    names, known : iterable of str
    what : str
        What they name: "table".
    """
    known = list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no {what} {unknown[0]!r}: {', '.join(known)}")


def check_numbers(
    parser: argparse.ArgumentParser, option: str, texts: Iterable[str], others: Sequence[str] = ()
) -> None:
    """End the command where a text is neither a number nor one of some words.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    option : str
        Where the texts were given.
    texts : iterable of str
    others : sequence of str, default ()
    """
    if wrong := [one for one in texts if one not in others and not one.isdigit()]:
        wanted = " or ".join(["numbers", *others])
        parser.error(f"{option} must be {wanted}, got {wrong[0]!r}")


def measured(
    options: argparse.Namespace, name: str, fields: Sequence[str], run: Callable[[Path], object]
) -> list[Row]:
    """Make the measurements that the file lacks, unless only a report is wanted, and read all.

    Parameters
    ----------
    options : argparse.Namespace
        Of a parser of :func:`command`.
    name : str
        Of the file in the output folder.
    fields : sequence of str
        Its columns.
    run : callable
        Called with the path of the file, to append to it.

    Returns
    -------
    list of mappings
    """
    options.output_folder.mkdir(parents=True, exist_ok=True)
    path = options.output_folder / name
    if not options.report_only:
        run(path)
    return read_rows(path, fields)


def show(text: str, page: Path | None = None, name: str = "") -> None:
    """Print tables, and write them to a page where one is named.

    Parameters
    ----------
    text : str
    page : Path, optional
    name : str, default ""
        Of the module whose marks the page has.
    """
    sys.stdout.write(text)
    if page is not None:
        write_page(page, name, text)
