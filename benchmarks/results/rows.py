"""Many rows, rows in files, and rows of a cluster: read, searched, predicted for."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.instances import Case, make_table
from benchmarks.results.doors import (
    NO_LIMIT,
    read,
    read_collection,
    sampled,
    scored,
    solve,
    stated,
)
from benchmarks.results.folder import Record
from benchmarks.results.people import people
from benchmarks.results.writing import write_search
from riskslim import CoefficientSet, ItemEncoder, RiskScore, RiskSLIMClassifier, TrainingData

__all__ = ["write_many_rows", "write_places"]


def _searched(
    record: Record, name: str, data: TrainingData, *, encoder: Any = None, **asked: Any
) -> RiskScore | None:
    settings = asked.pop("settings", {})
    n_threads = asked.pop("n_threads", 1)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = stated(data, coefficients, n_threads=n_threads, **asked)
    solution = solve(problem, settings=settings, n_threads=n_threads)
    score = scored(problem, solution, data, **({} if encoder is None else {"encoder": encoder}))
    write_search(record, name, solution, score)
    record.write(f"{name}.data.txt", f"{data!r}\n")
    return score


def write_many_rows(record: Record) -> None:
    """So many rows that nodes are relaxed on a sample of them.

    Parameters
    ----------
    record : Record
    """
    n = 105_000 if record.short else 150_000
    for kind in ("integer", "mixed") if record.short else ("integer", "mixed", "weighted"):
        table = make_table(Case(kind, n, 8))
        data = TrainingData(table.X, table.y, table.sample_weight)
        for n_threads in (1, 2) if kind == "integer" else (1,):
            with record.case(f"many/{kind}-{n_threads}") as name:
                _searched(record, name, data, max_size=2, n_threads=n_threads)
    table = make_table(Case("binary", n, 20))
    with record.case("many/binary") as name:
        data = TrainingData(table.X, table.y)
        _searched(record, name, data, max_size=4, scale="free")


def _raw_frame(n: int) -> pd.DataFrame:
    frame = pd.DataFrame(people(np.random.default_rng(7), n))
    frame["weight"] = np.random.default_rng(8).integers(1, 4, n)
    frame.loc[::17, "marker"] = np.nan
    return frame


@contextmanager
def _files(frame: pd.DataFrame) -> Iterator[Path]:
    """A folder with the rows as one CSV file and as four Parquet files of several sizes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_csv(folder / "rows.csv", index=False)
        (folder / "parts").mkdir()
        cuts = [0, 100, len(frame) // 3, len(frame) // 2, len(frame)]
        for k, (first, last) in enumerate(itertools.pairwise(cuts)):
            frame.iloc[first:last].to_parquet(folder / "parts" / f"part-{k}.parquet")
        yield folder


def _encoder() -> ItemEncoder:
    return ItemEncoder(
        n_thresholds=4, missing="indicator", categorical=["stage"], round_thresholds=True
    )


def write_places(record: Record) -> None:
    """The same rows in memory, merged, in files and on a cluster, and rows that hardly merge.

    Parameters
    ----------
    record : Record
    """
    frame = _raw_frame(6_000 if record.short else 20_000)
    with _files(frame) as folder:
        for name, path, limit in (
            ("parquet", folder / "parts", 10**9),
            ("parquet-files", folder / "parts", 20_000),
            ("csv", folder / "rows.csv", 10**9),
            ("csv-files", folder / "rows.csv", 20_000),
        ):
            _raw_rows(record, f"places/{name}", path, limit, frame)
    _in_memory(record, frame)
    _dask(record, frame)
    _hardly_merging(record)


def _raw_rows(record: Record, name: str, path: Path, limit: int, frame: pd.DataFrame) -> None:
    with record.case(name):
        encoder = _encoder()
        data = read(path, "died", weights="weight", items=encoder, memory_limit=limit)
        score = _searched(record, name, data, max_size=3, encoder=encoder)
        record.write(f"{name}.items.json", [item.name for item in encoder.items_])
        drawn = sampled(data, 500, 3)
        record.write(f"{name}.sample.json", {"data": repr(drawn), "labels": drawn.labels})
        assert score is not None
        record.write(f"{name}.risk.json", score.predict_proba(frame)[:, 1])


def _in_memory(record: Record, frame: pd.DataFrame) -> None:
    raw = frame.drop(columns=["died", "weight"])
    with record.case("places/classifier") as name:
        model = RiskSLIMClassifier(items=_encoder(), max_size=3, scale=1, time_limit=NO_LIMIT)
        model.fit(raw, frame["died"], sample_weight=frame["weight"])
        write_search(record, name, model.solution_, model.risk_score_)
        record.write(f"{name}.risk.json", model.predict_proba(raw)[:, 1])


def _dask(record: Record, frame: pd.DataFrame) -> None:
    import dask
    import dask.dataframe as dd

    parts = dd.from_pandas(frame, npartitions=4)
    X, y = parts[list(frame.columns.drop(["died", "weight"]))], parts["died"]
    for scheduler in ("synchronous", "threads"):
        with record.case(f"places/dask-{scheduler}") as name:  # noqa: SIM117
            with dask.config.set(scheduler=scheduler):
                model = RiskSLIMClassifier(
                    items=_encoder(), max_size=3, scale=1, time_limit=NO_LIMIT
                ).fit(X, y, sample_weight=parts["weight"])
                write_search(record, name, model.solution_, model.risk_score_)
                risk = model.predict_proba(X).compute()[:, 1]
                record.write(f"{name}.risk.json", risk)
    with record.case("places/dask-workers") as name:
        _cluster(record, name, parts)


def _cluster(record: Record, name: str, parts: Any) -> None:
    """Rows that have no room here stay on two workers, which are threads of this process."""
    from distributed import Client, LocalCluster

    names = ["age", "bmi", "visits", "stage", "marker", "sex", "smoker", "ward"]
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        encoder = _encoder()
        data = read_collection(
            parts[names], parts["died"], items=encoder, outcome_name="died", memory_limit=20_000
        )
        _searched(record, name, data, max_size=2, encoder=encoder)


# Memory of a search in which so many different rows have no room.
_LITTLE: dict[str, Any] = {"memory_limit": 10_000_000}


def _hardly_merging(record: Record) -> None:
    """Rows that are nearly all different, searched where they are.

    Items are counted in bits, in nodes' few passes, and in unions of blocks of items; numbers by
    passes alone.
    """
    items = _coded(40_000, 24, lambda rng, size: rng.random(size) < 0.4)
    _in_files(record, "unmerged-items", items, max_size=3, settings=_LITTLE)
    _in_files(record, "unmerged-fit", items, max_size=3, settings={"tables": "never"})
    _in_files(record, "unmerged-passes", items.iloc[:, -21:], max_size=2,
              settings={**_LITTLE, "tables": "never"})  # fmt: skip
    integers = _coded(30_000, 8, lambda rng, size: rng.integers(0, 11, size))
    _in_files(record, "unmerged-integers", integers, max_size=2,
              settings={"memory_limit": 2_000_000})  # fmt: skip
    reals = _coded(30_000, 6, lambda rng, size: np.round(rng.normal(0, 2, size), 3))
    _in_files(record, "unmerged-reals", reals, max_size=2, settings={"memory_limit": 2_000_000})
    many = _coded(150_000, 20, lambda rng, size: rng.random(size) < 0.5)
    for scale in (1,) if record.short else (1, "free"):
        _in_files(record, f"unmerged-unions-{scale}", many, max_size=4, scale=scale,
                  settings={"memory_limit": 66_000_000, "tables": "never"})  # fmt: skip


def _coded(n: int, d: int, drawn: Any) -> pd.DataFrame:
    """Columns of one kind, and an outcome that depends weakly on all of them."""
    rng = np.random.default_rng([5, d])
    X = np.asarray(drawn(rng, (n, d)))
    if X.dtype == bool:
        X = X.astype(np.int8)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    log_odds = z @ rng.normal(0, 0.3, d) - 1.0
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=(rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(np.int8))


def _in_files(record: Record, name: str, frame: pd.DataFrame, **asked: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, record.case(f"places/{name}") as case:
        path = Path(folder) / "rows.parquet"
        frame.to_parquet(path)
        data = read(path, "y", memory_limit=200_000)
        _searched(record, case, data, **asked)
