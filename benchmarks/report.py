"""Turn the JSON of pytest-benchmark into a report in Markdown.

    python -m benchmarks.report RESULTS.json [--output REPORT.md]

Times are medians, or with --statistic min the fastest rounds, which say more on a busy machine. A
ratio is the time of the reference divided by the package's, both from the same
run. Bytes per row are what a pass has to read at least; together with the time they give the
share of the bandwidth that was measured on arrays larger than every cache, and more than 100 %
of it comes out of a cache.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE, REFERENCE = "riskslim", "reference"


class Target(NamedTuple):
    """Least ratio to the reference that a kernel must have, and the one that is wanted."""

    floor: float
    goal: float | None


# By (kernel, kind, n, d).
TARGETS = {
    ("value and gradient, all non-zero", "integer", 10**6, 30): Target(6, 10),
    ("value and gradient, all non-zero", "integer", 10**7, 10): Target(5, 10),
    ("value and gradient, fractional", "real", 10**6, 30): Target(2.5, 5),
    ("value, 5 non-zero", "integer", 10**6, 30): Target(20, 40),
    ("loss of given scores", "integer", 10**6, 30): Target(2, None),
    ("coordinate descent", "integer", 10**6, 30): Target(8, 25),
    ("sequential rounding", "integer", 10**6, 30): Target(8, 25),
}


class Entry(NamedTuple):
    """One benchmark: its description, its time in seconds, and its rounds."""

    info: Mapping[str, Any]
    seconds: float
    rounds: int

    @property
    def case(self) -> tuple[Any, ...]:
        """Kernel, kind and size; the same for a kernel and its reference."""
        return tuple(self.info.get(name) for name in ("kernel", "kind", "n", "d"))


def read_results(path: Path, statistic: str = "median") -> tuple[Mapping[str, Any], list[Entry]]:
    """Read what ``pytest benchmarks --benchmark-json`` has written.

    Parameters
    ----------
    path : Path
    statistic : {"median", "min"}
        Of the times of the rounds.

    Returns
    -------
    machine : mapping
        Description of the machine.
    entries : list of Entry

    Raises
    ------
    ValueError
        If the file holds other benchmarks than these.
    """
    content = json.loads(path.read_text())
    try:
        machine = content["machine_info"]["riskslim"]
        entries = entries_of(content["benchmarks"], statistic)
        for entry in entries:
            entry.info["family"], entry.info["kernel"], entry.info["role"]
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not the JSON of these benchmarks ({error!r} is missing); write it with "
            "pytest benchmarks --benchmark-json=FILE"
        ) from error
    return machine, entries


def entries_of(benchmarks: Iterable[Mapping[str, Any]], statistic: str = "median") -> list[Entry]:
    """Take from benchmarks, as pytest-benchmark writes them, what is reported."""
    return [
        Entry(benchmark["extra_info"], benchmark["stats"][statistic], benchmark["stats"]["rounds"])
        for benchmark in benchmarks
    ]


def write_report(machine: Mapping[str, Any], entries: Sequence[Entry]) -> str:
    """Write the whole report.

    Parameters
    ----------
    machine : mapping
    entries : sequence of Entry

    Returns
    -------
    str
        Markdown.
    """
    bandwidth = memory_bandwidth(entries)
    parts = ["# Benchmarks", *_machine(machine)]
    sections = {
        "bandwidth": ("Read bandwidth, one thread", _bandwidth),
        "loss": ("Loss and gradient", _kernels),
        "heuristics": ("Heuristics", _kernels),
        "training data": ("From a table to a problem", _kernels),
        "memory": ("Memory", _memory),
        "startup": ("Startup", _startup),
        "fits": ("End-to-end fits", _fits),
    }
    for family, (title, section) in sections.items():
        chosen = [entry for entry in entries if entry.info["family"] == family]
        if chosen:
            parts += ["", f"## {title}", "", *section(chosen, bandwidth)]
    return "\n".join(parts) + "\n"


def write_summary(entries: Sequence[Entry]) -> list[str]:
    """Write what the terminal shows after a run: time, ratio and share of the bandwidth.

    Parameters
    ----------
    entries : sequence of Entry

    Returns
    -------
    list of str
        Lines of a table with a row for each kernel that has a reference or a number of bytes; empty
        if there is none.
    """
    bandwidth = memory_bandwidth(entries)
    # Steps whose memory is measured have the same names, in processes of their own.
    entries = [entry for entry in entries if entry.info["family"] != "memory"]
    references = {entry.case: entry for entry in entries if entry.info["role"] == REFERENCE}
    rows = [["kernel", "data", "n", "d", "time", "ratio", "GB/s", "of bandwidth"]]
    for entry in sorted(_packaged(entries), key=_order):
        reference = references.get(entry.case)
        if "n" in entry.info and (reference or "bytes_per_row" in entry.info):
            _, *traffic = _traffic(entry, bandwidth)
            row = [*_description(entry), _time(entry.seconds), _ratio(reference, entry), *traffic]
            rows.append(row)
    if len(rows) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if bandwidth is None:
        lines.append("the share of the bandwidth needs test_bandwidth.py in the same run")
    return lines


def memory_bandwidth(entries: Iterable[Entry]) -> float | None:
    """Bytes per second of the largest read; None if it was not measured."""
    reads = [entry for entry in entries if entry.info["family"] == "bandwidth"]
    if not reads:
        return None
    largest = max(reads, key=lambda entry: int(entry.info["n_bytes"]))
    return float(largest.info["n_bytes"]) / largest.seconds


def _machine(machine: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"- Processor: {machine['processor']}, {machine['cores']} cores, " + ", ".join(
        machine["caches"]
    )
    if machine["memory_bytes"]:
        yield f"- Memory: {machine['memory_bytes'] / 2**30:.0f} GiB; {machine['system']}"
    simd = ", ".join(machine["numpy_simd"]) or "none reported"
    yield f"- Python {machine['python']}, NumPy {machine['numpy']} (SIMD: {simd})"
    for blas in machine["blas"]:
        yield f"- BLAS: {blas}"
    environment = machine["environment"]
    for name, value in environment.items():
        yield f"- {name}={value}"
    if "OPENBLAS_CORETYPE" in environment:
        yield ""
        yield (
            "**OPENBLAS_CORETYPE forces a kernel on OpenBLAS that it might not have chosen; "
            "ratios to the reference are then not those of this machine.**"
        )


def _bandwidth(entries: Sequence[Entry], _: float | None) -> Iterator[str]:
    yield from _table(
        ["read", "GB/s"],
        (
            [entry.info["kernel"], f"{entry.info['n_bytes'] / entry.seconds / 1e9:.1f}"]
            for entry in entries
        ),
    )


def _kernels(entries: Sequence[Entry], bandwidth: float | None) -> Iterator[str]:
    references = {entry.case: entry for entry in entries if entry.info["role"] == REFERENCE}
    by_role = {(entry.case, entry.info["role"]): entry for entry in entries}
    # Other references, and the package on more threads, have a column each.
    others = sorted({entry.info["role"] for entry in entries} - {PACKAGE, REFERENCE})
    threads = [role for role in others if role.startswith(PACKAGE)]
    others = [role for role in others if role not in threads]
    head = ["kernel", "data", "n", "d", "time", "reference", "ratio", "floor / goal"]
    head += [f"ratio to {role}" for role in others]
    head += [f"speed-up of {role.removeprefix(f'{PACKAGE}, ')}" for role in threads]
    head += ["bytes per row", "GB/s", "of bandwidth", "rounds"]
    rows = []
    for entry in sorted(_packaged(entries), key=_order):
        reference = references.get(entry.case)
        row = [*_description(entry), _time(entry.seconds)]
        row += [_time(reference.seconds) if reference else "", _ratio(reference, entry)]
        row += [_target(entry)]
        row += [_ratio(by_role.get((entry.case, role)), entry) for role in others]
        row += [_speedup(entry, by_role.get((entry.case, role))) for role in threads]
        row += [*_traffic(entry, bandwidth), str(entry.rounds)]
        rows.append(row)
    yield from _table(head, rows)


def _memory(entries: Sequence[Entry], _: float | None) -> Iterator[str]:
    yield "Growth of the process in each step: at its peak, and what stays."
    yield ""
    steps = list(dict.fromkeys(step for entry in entries for step in entry.info["steps"]))
    head = ["source", "data", "n", "d", "input", *steps, "bytes per cell held", "peak"]
    rows = []
    for entry in sorted(entries, key=_order):
        figures = entry.info["steps"]
        cells = entry.info["n"] * entry.info["d"]
        row = [*_description(entry), _bytes(entry.info["input_bytes"])]
        for step in steps:
            found = figures.get(step)
            row.append(f"{_bytes(found['peak'])} / {_bytes(found['held'])}" if found else "")
        packing = figures["TrainingData"]
        row += [f"{packing['held'] / cells:.2f}", f"{packing['peak'] / cells:.2f}"]
        rows.append(row)
    yield from _table(head, rows)


def _startup(entries: Sequence[Entry], _: float | None) -> Iterator[str]:
    yield "Statement alone, and with the start of the interpreter."
    yield ""
    yield from _table(
        ["statement", "time", "with interpreter"],
        (
            [entry.info["kernel"], _time(entry.info["seconds"]), _time(entry.seconds)]
            for entry in entries
        ),
    )


def _fits(entries: Sequence[Entry], _: float | None) -> Iterator[str]:
    head = ["engine", "data", "n", "d", "total", "packing", "on data", "solver", "share of data"]
    head += ["status", "gap", "nodes", "cuts", "losses"]
    rows = []
    for entry in sorted(entries, key=_order):
        info = entry.info
        row = [*_description(entry)]
        row += [_time(info[f"{part}_seconds"]) for part in ("total", "packing", "data", "solver")]
        row += [f"{info['data_seconds'] / info['total_seconds']:.0%}", info["status"]]
        row += [f"{info['gap']:.2%}"]
        row += [f"{info[count]:,}" for count in ("nodes", "cuts", "loss_evaluations")]
        rows.append(row)
    yield from _table(head, rows)


def _packaged(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.info["role"] == PACKAGE]


def _order(entry: Entry) -> tuple[Any, ...]:
    info = entry.info
    return (info["kernel"], info.get("kind", ""), info.get("d", 0), info.get("n", 0))


def _description(entry: Entry) -> list[str]:
    info = entry.info
    return [info["kernel"], info.get("kind", ""), f"{info['n']:,}", str(info["d"])]


def _ratio(reference: Entry | None, entry: Entry) -> str:
    return f"{reference.seconds / entry.seconds:.1f}" if reference else ""


def _speedup(entry: Entry, other: Entry | None) -> str:
    return f"{entry.seconds / other.seconds:.2f}" if other else ""


def _target(entry: Entry) -> str:
    target = TARGETS.get(entry.case)
    if target is None:
        return ""
    return f"{target.floor:g} / {target.goal:g}" if target.goal else f"{target.floor:g}"


def _traffic(entry: Entry, bandwidth: float | None) -> list[str]:
    if "bytes_per_row" not in entry.info:
        return ["", "", ""]
    per_second = entry.info["bytes_per_row"] * entry.info["n"] / entry.seconds
    share = "" if bandwidth is None else f"{per_second / bandwidth:.0%}"
    return [str(entry.info["bytes_per_row"]), f"{per_second / 1e9:.1f}", share]


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _bytes(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("results", type=Path, help="JSON of pytest benchmarks --benchmark-json")
    parser.add_argument("--output", type=Path, help="file to write; default: standard output")
    parser.add_argument("--statistic", choices=("median", "min"), default="median")
    options = parser.parse_args(arguments)
    report = write_report(*read_results(options.results, options.statistic))
    if options.output:
        options.output.write_text(report)
    else:
        sys.stdout.write(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
