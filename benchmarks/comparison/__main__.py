"""RiskSLIM and the baselines on the paper's data sets, by one command.

    python -m benchmarks.comparison DATA_FOLDER OUTPUT_FOLDER [--quick] [--sizes 2..10]
        [--datasets income,mammo,...] [--jobs 2] [--time-limit SECONDS] [--report-only]

DATA_FOLDER has adult_data.csv, mammo_data.csv, mushroom_data.csv, spambase_data.csv and
bank_data.csv, the outcome in the first column. Each model is one row of OUTPUT_FOLDER/results.csv,
written when it is there: an interrupted command goes on where it was, and further sizes or data
sets are added to the file. OUTPUT_FOLDER/pools keeps the elastic nets and what they were made into,
so that further sizes cost no further fits; OUTPUT_FOLDER/folds has the fold of each row, by which
the paper's own folds can be given. The report is report.md, with figures beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.comparison.data import DATASETS, NOT_AVAILABLE, Source
from benchmarks.comparison.figures import FIGURES, plot_reliabilities, plot_sizes
from benchmarks.comparison.pools import Grid
from benchmarks.comparison.results import read_results
from benchmarks.comparison.runs import Plan, make
from benchmarks.comparison.summaries import false_certificates
from benchmarks.comparison.tables import Tables


def report(plan: Plan, suffix: str = ".svg") -> str:
    """Draw the figures and write the tables of what has been run.

    Parameters
    ----------
    plan : Plan
    suffix : str, default ".svg"
        Format of the figures.

    Returns
    -------
    str
        Markdown; empty if nothing has been run.
    """
    tables = Tables(read_results(plan.path), plan.datasets, plan.sizes, plan.source.n_folds)
    if not tables.datasets:
        return ""
    for kind in FIGURES:
        plot_sizes(tables, kind, plan.folder / f"sizes_{kind}{suffix}")
    plot_reliabilities(tables, plan.source, plan.folder / f"reliability{suffix}")
    return "\n\n".join(tables.report())


def _datasets(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name in NOT_AVAILABLE:
            raise argparse.ArgumentTypeError(f"the data set {name} is not publicly available")
        if name not in DATASETS:
            raise argparse.ArgumentTypeError(
                f"no data set {name!r}; there are {', '.join(DATASETS)}"
            )
    return names


def _sizes(text: str) -> tuple[int, ...]:
    low, dots, high = text.partition("..")
    try:
        sizes = range(int(low), int(high) + 1) if dots else map(int, text.split(","))
        found = tuple(sorted(set(sizes)))
    except ValueError:
        found = ()
    if not found or found[0] < 1:
        raise argparse.ArgumentTypeError(f"sizes are written 2..10 or 3,5, got {text!r}")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.comparison",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data_folder", type=Path)
    parser.add_argument("output_folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test on mammo")
    parser.add_argument("--sizes", type=_sizes, help="2..10, or 3,5; 5 by default")
    parser.add_argument("--datasets", type=_datasets, help="name,...; all by default")
    parser.add_argument("--time-limit", type=float, help="seconds per search, 30 by default")
    parser.add_argument("--l1-ratios", type=int, help="mixing values, 11 by default")
    parser.add_argument("--penalties", type=int, help="per mixing value, 100 by default")
    parser.add_argument("--fold-l1-ratios", type=int, help="of the folds; as many by default")
    parser.add_argument("--fold-penalties", type=int, help="of the folds; as many by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--report-only", action="store_true", help="show what the file has")
    parser.add_argument("--png", action="store_true", help="figures as PNG")
    return parser


def _plan(options: argparse.Namespace) -> Plan:
    quick = options.quick
    sizes = options.sizes or ((3, 5) if quick else (5,))
    n_folds = 3 if quick else 5
    grid = Grid(
        options.l1_ratios or (2 if quick else 11),
        options.penalties or (10 if quick else 100),
        n_folds,
        max(10, *sizes),
    )
    return Plan(
        source=Source(options.data_folder, options.output_folder / "folds", n_folds),
        folder=options.output_folder,
        datasets=options.datasets or (("mammo",) if quick else tuple(DATASETS)),
        sizes=sizes,
        grid=grid,
        fold_grid=grid._replace(
            n_l1_ratios=options.fold_l1_ratios or grid.n_l1_ratios,
            n_penalties=options.fold_penalties or grid.n_penalties,
        ),
        time_limit=options.time_limit or (2.0 if quick else 30.0),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Returns
    -------
    int
        1 if a score is better than a certificate allows, else 0.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in ("time_limit", "l1_ratios", "penalties", "fold_l1_ratios", "fold_penalties"):
        if (value := getattr(options, name)) is not None and not value > 0:
            parser.error(f"--{name.replace('_', '-')} must be positive, got {value}")
    plan = _plan(options)
    for dataset in plan.datasets:
        if not plan.source.path(dataset).is_file():
            parser.error(f"no file {plan.source.path(dataset)} of the data set {dataset}")
    if not options.report_only:
        make(plan, options.jobs)
    text = report(plan, ".png" if options.png else ".svg")
    if not text:
        parser.error(f"{plan.path} has no results of {', '.join(plan.datasets)}")
    plan.path.with_name("report.md").write_text(text)
    sys.stdout.write(text)
    false = false_certificates(read_results(plan.path).values())
    if false:
        sys.stderr.write(f"{len(false)} scores are better than a certificate allows\n")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
