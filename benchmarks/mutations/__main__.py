"""Places of the package, drawn by a seed and broken one at a time: how many do tests notice?

    python -m benchmarks.mutations FOLDER --name before
    python -m benchmarks.mutations FOLDER --name after --places-from FOLDER/before.csv
    python -m benchmarks.mutations FOLDER --report-only
    python -m benchmarks.mutations FOLDER --list

Comparisons, signs, ones, roundings, minima and maxima, indices, returns, "and" and "or" are
exchanged, one in each trial: half of the places in engines and kernels. Each trial breaks a copy of
the checkout, compiles the kernels that are concerned, and runs the tests of the module's folder and
the engines' contract up to the first failure. A failure counts if the test fails again and passes
on the copy that is whole; a test that runs on and on counts as caught. FOLDER/NAME.csv has a row
for each place, written when its trial ends: an interrupted command goes on where it was, and one
with a larger limit (--seconds) goes on with those that reached the smaller one. What is known of a
place is written to FOLDER/remarks.csv by hand; FOLDER/report.md has the tables of all runs.

With ``--places-from`` the places are those of another run: they are found again by their line and
what is done to it, wherever it stands in the same file, and the command names those that are gone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutations.places import Place, draw, find, places_of
from benchmarks.mutations.table import report
from benchmarks.mutations.trials import CONTRACT, MARKERS, Limits, Result, Trials
from benchmarks.records import Row, append_row, read_rows

KEY = ("file", "line", "operator", "occurrence")
FIELDS = ("number", "kind", *KEY, "caught", "by", "n_tests", "seconds", "within")
REMARKS = ("number", "remark")
GONE = "gone"


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command line.

    Returns
    -------
    argparse.ArgumentParser
    """
    limits = Limits()
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.mutations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("folder", type=Path)
    made.add_argument("--name", default="after", help="of the run: its file is FOLDER/NAME.csv")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--places", type=int, default=40, help="number of places that are drawn")
    made.add_argument("--places-from", type=Path, help="file of a run whose places are taken")
    made.add_argument("--only", help="numbers of places: 3,7")
    made.add_argument("--list", action="store_true", help="print the places and end")
    made.add_argument("--report-only", action="store_true", help="write the tables and end")
    checkout = Path(__file__).resolve().parents[2]
    made.add_argument(
        "--checkout", type=Path, default=checkout, help="with kernels compiled in place; not broken"
    )
    made.add_argument("--contract", nargs="+", default=CONTRACT, help="tests of all engines")
    made.add_argument("--markers", default=MARKERS, help="pytest's -m")
    made.add_argument("--work", type=Path, help="folder for the copies, kept for the next time")
    made.add_argument("--test-seconds", type=float, default=limits.test, help="CPU, of one test")
    made.add_argument("--seconds", type=float, default=limits.whole, help="CPU, of one trial")
    return made


def chosen(options: argparse.Namespace) -> dict[int, Place | None]:
    """Places by number; None for those of another run that are gone.

    Parameters
    ----------
    options : argparse.Namespace

    Returns
    -------
    dict
    """
    places = places_of(options.checkout)
    if options.places_from is None:
        drawn = draw(places, options.places, options.seed)
        found: dict[int, Place | None] = dict(enumerate(drawn, 1))
    else:
        found = find(places, results(options.places_from))
    if options.only is None:
        return found
    return {number: found[number] for number in map(int, options.only.split(","))}


def run(options: argparse.Namespace, places: dict[int, Place | None], work: Path) -> None:
    """Make the trials that the file of the run lacks.

    Parameters
    ----------
    options : argparse.Namespace
    places : dict
        By number.
    work : Path
        For copies.
    """
    path = options.folder / f"{options.name}.csv"
    before = results(path)
    limits = Limits(options.test_seconds, options.seconds)
    trials = Trials(options.checkout, work, options.contract, options.markers, limits)
    for number, place in places.items():
        row = before.get(number)
        if row is not None and not _goes_on(row, options.seconds):
            continue
        if place is None:
            asked, result = results(options.places_from)[number], Result(GONE)
            known: dict[str, object] = {name: asked[name] for name in ("kind", *KEY)}
        else:
            result = trials.run(place) if row is None else trials.run(place, _result_of(row))
            known = {"kind": place.kind, **place.key._asdict()}
        found = {"number": number, **known, **vars(result), "within": options.seconds}
        append_row(path, FIELDS, found)
        sys.stdout.write(f"{number}: {result.caught} {result.by} ({result.seconds} s)\n")
        sys.stdout.flush()


def _goes_on(row: Row, seconds: float) -> bool:
    """True for a trial that reached a smaller limit."""
    return row["caught"] == "limit" and float(row["within"]) < seconds


def _result_of(row: Row) -> Result:
    return Result(row["caught"], row["by"], int(row["n_tests"]), float(row["seconds"]))


def results(path: Path) -> dict[int, Row]:
    """Rows of a run by number, the latest one of each.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
    """
    return {int(row["number"]): row for row in read_rows(path, FIELDS)}


def write_report(folder: Path) -> None:
    """Write the tables of all runs in a folder.

    Parameters
    ----------
    folder : Path
    """
    remarks_file = folder / "remarks.csv"
    remarks = {int(row["number"]): row["remark"] for row in read_rows(remarks_file, REMARKS)}
    names = {path.stem for path in folder.glob("*.csv")} - {"remarks"}
    runs = {
        name: results(folder / f"{name}.csv")
        for name in sorted(names, key=lambda name: (name != "before", name))
    }
    (folder / "report.md").write_text(report(runs, remarks), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Parameters
    ----------
    arguments : sequence of str, optional

    Returns
    -------
    int
    """
    options = parser().parse_args(arguments)
    options.checkout = options.checkout.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    if not options.report_only:
        places = chosen(options)
        for number, place in places.items():
            text = "gone" if place is None else " | ".join(map(str, place.key))
            sys.stdout.write(f"{number}: {text}\n")
        if options.list:
            return 0
        with tempfile.TemporaryDirectory() as temporary:
            work = (options.work or Path(temporary)).resolve()
            work.mkdir(parents=True, exist_ok=True)
            run(options, places, work)
    write_report(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
