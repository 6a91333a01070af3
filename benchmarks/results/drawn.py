"""Sixty problems that are drawn from their numbers, each solved in one of the ways there are.

Every choice (columns, weights, bounds, constraints, scales, lists, where rows are, engine, threads,
limits) is dealt like cards: each of its values comes equally often, in an order of its own.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import riskslim
from benchmarks.results.doors import (
    NO_LIMIT,
    read,
    read_collection,
    scored,
    solve,
    stated,
    tree_settings,
)
from benchmarks.results.folder import Record
from benchmarks.results.people import KINDS, columns_of, people
from benchmarks.results.writing import StopPath, write_path, write_search
from riskslim import CoefficientSet, RiskSLIMClassifier, TrainingData

__all__ = ["write_drawn"]

SEED, PROBLEMS, PROBLEMS_SHORT = 29, 60, 20

Made = Callable[[np.random.Generator, Sequence[str]], Any]
_T = TypeVar("_T")


def dealt(what: str, values: Sequence[_T]) -> list[_T]:
    """One of some values for each problem."""
    rng = np.random.default_rng([SEED, zlib.crc32(what.encode())])
    numbers = np.resize(np.arange(len(values)), PROBLEMS)
    rng.shuffle(numbers)
    return [values[number] for number in numbers]


# --- what is drawn --------------------------------------------------------------------------------


def _some(rng: np.random.Generator, names: Sequence[str], n: int) -> list[str]:
    return [str(name) for name in rng.choice(np.array(names, dtype=object), n, replace=False)]


_WHERE = {"age >= 60": 1, "smoker": 1}
CONSTRAINTS: dict[str, Made] = {
    "at most": lambda rng, names: riskslim.at_most(1, _some(rng, names, 4)),
    "at least": lambda rng, names: riskslim.at_least(1, _some(rng, names, 3)),
    "exactly": lambda rng, names: riskslim.exactly(1, _some(rng, names, 3)),
    "model size": lambda rng, names: riskslim.model_size(2, 3),
    "either or": lambda rng, names: riskslim.either_or(*_some(rng, names, 2)),
    "not both": lambda rng, names: riskslim.not_both(["smoker"], riskslim.variable("age")),
    "if then": lambda rng, names: riskslim.if_then("age >= 60", _some(rng, names[3:], 2)),
    "at most variables": lambda rng, names: riskslim.at_most_variables(2),
    "groups of variables": lambda rng, names: riskslim.at_most_variables(
        1, {"one": list(names[:3]), "other": list(names[3:5])}
    ),
    "monotone": lambda rng, names: riskslim.monotone(riskslim.variable("age"), "+"),
    "monotone auto": lambda rng, names: riskslim.monotone(),
    "items per variable": lambda rng, names: riskslim.items_per_variable(1),
    "points in": lambda rng, names: riskslim.points_in(_some(rng, names, 2), [0, 2, 3]),
    "minimum points": lambda rng, names: riskslim.minimum_points(_some(rng, names, 3), 2),
    "fixed points": lambda rng, names: riskslim.fixed_points(_some(rng, names, 1), 1),
    "linear": lambda rng, names: riskslim.LinearConstraint(
        points={names[0]: 1, names[1]: -1}, used={names[2]: 2}, lower=-1, upper=2
    ),
    "groups in use": lambda rng, names: riskslim.LinearConstraint(
        used={names[0]: 1}, any_used={(names[2], names[3]): 3}, upper=3, name="cost"
    ),
    "risk at least": lambda rng, names: riskslim.risk_at_least(0.6, where=_WHERE),
    "risk at most": lambda rng, names: riskslim.risk_at_most(0.15, profile={}),
    "false positives": lambda rng, names: riskslim.false_positive_rate_at_most(0.2, 0.4),
    "false negatives": lambda rng, names: riskslim.false_negative_rate_at_most(0.3, log_odds=-1.0),
    "rate gap": lambda rng, names: riskslim.rate_gap_at_most(
        0.1, "false_positive", groups="sex = f", threshold=0.4
    ),
}
# They say another thing at every scale.
ABOUT_RISKS = (
    "risk at least", "risk at most", "false positives", "false negatives", "rate gap",
)  # fmt: skip
RATES = ABOUT_RISKS[2:]

BOUNDS: dict[str, Made] = {
    "-3..3": lambda rng, names: {"lower": -3, "upper": 3},
    "-5..5": lambda rng, names: {"lower": -5, "upper": 5},
    "of each": lambda rng, names: {
        "lower": {name: int(rng.integers(-4, 0)) for name in names},
        "upper": {name: int(rng.integers(1, 5)) for name in names},
    },
    "signs": lambda rng, names: {"sign": {names[1]: "+", names[2]: "-"}, "lower": -4, "upper": 4},
    "fixed": lambda rng, names: {"fixed": {names[1]: 1, names[3]: 0}, "lower": -3, "upper": 3},
    "values": lambda rng, names: {"values": {name: [-2, 0, 1, 3] for name in names[1:4]}},
    "prices": lambda rng, names: {"l0_penalty": {names[1]: 0.01, names[2]: 0.0}},
    "intercept": lambda rng, names: {"intercept_lower": -4, "intercept_upper": 1},
}

WEIGHTS: dict[str, Callable[[np.random.Generator, NDArray[Any]], NDArray[np.float64] | None]] = {
    "none": lambda rng, y: None,
    "whole numbers": lambda rng, y: rng.integers(1, 5, len(y)).astype(np.float64),
    "real": lambda rng, y: rng.uniform(0.2, 3.0, len(y)),
    "of classes": lambda rng, y: np.where(y > 0, 3.0, 1.0),
    "some zero": lambda rng, y: rng.integers(0, 3, len(y)).astype(np.float64),
}

_WAYS = (("auto",) * 3,) * 4 + (
    ("always", "never", "never"), ("never", "always", "never"), ("never", "never", "always"),
    ("never", "never", "never"), ("nodes", "auto", "auto"),
)  # fmt: skip
ONE_SCALE: tuple[Any, ...] = (1, 2.5)
NO_LIST: dict[str, Any] = {}
DEALT: dict[str, list[Any]] = {
    "columns": dealt("columns", KINDS),
    "rows": dealt("rows", (60, 150, 400, 1200)),
    "weights": dealt("weights", ("none",) * 4 + tuple(WEIGHTS)[1:]),
    "bounds": dealt("bounds", tuple(BOUNDS)),
    "first": dealt("first", ("none",) * (PROBLEMS - 2 * len(CONSTRAINTS)) + 2 * tuple(CONSTRAINTS)),
    "second": dealt("second", ("none",) * (PROBLEMS - len(CONSTRAINTS)) + tuple(CONSTRAINTS)),
    "scale": dealt("scale", (1, 1, 2.5, [1, 2, 4], (0.5, 12), "free")),
    "size": dealt("size", (2, 3, 3, 4)),
    "least": dealt("least", (0, 0, 0, 0, 1, 2)),
    "price": dealt("price", (1e-6, 1e-6, 0.0, 0.004)),
    "list": dealt("list", (
        NO_LIST, NO_LIST, NO_LIST, {"n_solutions": 5}, {"within": 0.03},
        {"n_solutions": 12, "within": 0.1},
    )),
    "place": dealt("place", (
        "memory", "memory", "memory", "memory", "memory", "memory", "memory, cplex",
        "memory, cplex", "memory, cplex", "memory, scip", "classifier", "classifier",
        "classifier with labels", "merged", "files", "files", "csv", "dask", "path", "path",
    )),
    "impossible": dealt("impossible", (False,) * 14 + (True,)),
    "ways": dealt("ways", _WAYS),
    "branching": dealt("branching", ("look_ahead",) * 4 + ("curvature",)),
    "threads": dealt("threads", (1, 1, 1, 2)),
    "nodes": dealt("nodes", (None,) * 5 + (3,)),
}  # fmt: skip


class Drawn(NamedTuple):
    """A problem: what was drawn in words, its rows, and what is asked of it."""

    words: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    y: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    bounds: dict[str, Any]
    constraints: list[Any]


def draw(number: int) -> Drawn:
    """Draw a problem from its number.

    Parameters
    ----------
    number : int
        Below :data:`PROBLEMS`.

    Returns
    -------
    Drawn
    """
    words = _agreeing({what: values[number] for what, values in DEALT.items()})
    rng = np.random.default_rng([SEED, number])
    raw = people(rng, words["rows"])
    columns, y = columns_of(raw, words["columns"]), raw["died"]
    names = list(columns)
    constraints = [
        CONSTRAINTS[words[which]](rng, names)
        for which in ("first", "second")
        if words[which] != "none"
    ]
    if words["impossible"]:
        constraints += [riskslim.at_most(0, names[:3]), riskslim.at_least(1, names[:2])]
    bounds = BOUNDS[words["bounds"]](rng, names)
    return Drawn(words, columns, y, WEIGHTS[words["weights"]](rng, y), bounds, constraints)


def _agreeing(words: dict[str, Any]) -> dict[str, Any]:
    """Leave out what cannot be asked for together."""
    about = {words["first"], words["second"]}
    place, _, solver = words["place"].partition(", ")
    if place == "files" and about & set(RATES):  # their rows are looked at one by one
        place = "merged"
    if solver and about & set(RATES):  # its pace decides there
        solver = ""
    one_scale = bool(about & set(ABOUT_RISKS)) or (solver and words["scale"] != [1, 2, 4])
    if one_scale and not isinstance(words["scale"], (int, float)):
        words["scale"] = ONE_SCALE[len(words["first"]) % 2]
    words |= {"place": place, "engine": solver or "branch_and_bound"}
    if solver:  # whose threads divide a tree as they come
        words["threads"] = 1
    return words | ({"list": NO_LIST} if solver or place == "path" else {})


# --- where rows are -------------------------------------------------------------------------------


def _frame(drawn: Drawn) -> pd.DataFrame:
    frame = pd.DataFrame(drawn.columns)
    frame["died"] = drawn.y
    if drawn.weights is not None:
        frame["weight"] = drawn.weights
    return frame


def _training_data(drawn: Drawn, folder: Path) -> TrainingData:
    """The rows of a problem, where they are to be."""
    place = drawn.words["place"]
    if place in ("memory", "path"):
        return TrainingData(drawn.columns, drawn.y, drawn.weights, outcome_name="died")
    frame = _frame(drawn)
    if place == "dask":
        return _from_dask(frame)
    weights = None if drawn.weights is None else "weight"
    if place == "csv":
        path = folder / "rows.csv"
        frame.to_csv(path, index=False)
    else:
        path = folder / "rows"
        path.mkdir()
        for part, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
            frame.iloc[rows].to_parquet(path / f"part-{part}.parquet")
    limit = 2_000 if place == "files" else 10**9
    return read(path, "died", weights=weights, memory_limit=limit)


def _from_dask(frame: pd.DataFrame) -> TrainingData:
    import dask
    import dask.dataframe as dd

    parts = dd.from_pandas(frame, npartitions=3)
    names = [name for name in frame if name not in ("died", "weight")]
    weights = parts["weight"] if "weight" in frame else None
    with dask.config.set(scheduler="synchronous"):
        return read_collection(parts[names], parts["died"], weights, outcome_name="died")


# --- how it is solved -----------------------------------------------------------------------------


def _settings(words: dict[str, Any]) -> dict[str, Any]:
    tables, cutoffs, elimination = words["ways"]
    return {
        "tables": tables,
        "cutoffs": cutoffs,
        "elimination": elimination,
        "branching": words["branching"],
    }


def _requirements(drawn: Drawn) -> dict[str, Any]:
    words = drawn.words
    return {
        "max_size": words["size"],
        "min_size": words["least"],
        "l0_penalty": words["price"],
        "constraints": drawn.constraints,
        "scale": words["scale"],
    }


def _by_engine(record: Record, name: str, drawn: Drawn, folder: Path) -> None:
    words = drawn.words
    data = _training_data(drawn, folder)
    coefficients = CoefficientSet(data.feature_names, **drawn.bounds)
    problem = stated(data, coefficients, n_threads=words["threads"], **_requirements(drawn))
    if words["place"] == "path":
        _by_path(record, name, problem, words, folder / "checkpoint.db")
        return
    solution = solve(
        problem, words["engine"], _settings(words), n_threads=words["threads"],
        node_limit=words["nodes"], **words["list"],
    )  # fmt: skip
    write_search(record, name, solution, scored(problem, solution, data))
    record.write(f"{name}.data.txt", f"{data!r}\n")


def _by_path(
    record: Record, name: str, problem: Any, words: dict[str, Any], checkpoint: Path
) -> None:
    """All sizes, ended between two of them, and gone on with from what was kept."""

    def stop(*_: Any) -> None:
        raise StopPath

    asked: dict[str, Any] = {
        "sizes": range(max(1, words["least"]), words["size"] + 1),
        "checkpoint": checkpoint,
        "time_limit": NO_LIMIT,
        "n_threads": words["threads"],
        "settings": tree_settings(**_settings(words)),
    }
    try:
        riskslim.model_size_path(problem, progress=stop, **asked)
    except StopPath:
        record.write(f"{name}.stopped.json", {"is_kept": checkpoint.exists()})
    write_path(record, name, riskslim.model_size_path(problem, **asked))


def _by_classifier(record: Record, name: str, drawn: Drawn) -> None:
    words = drawn.words
    with_labels = words["place"] == "classifier with labels"
    y: NDArray[Any] = np.array(["alive", "dead"])[drawn.y] if with_labels else drawn.y
    bounds = dict(drawn.bounds)
    renamed = {"lower": "min_coef", "upper": "max_coef", "values": "coef_values"}
    stated_bounds = {renamed.get(key, key): value for key, value in bounds.items()}
    if "intercept_lower" in stated_bounds:
        stated_bounds = {"max_intercept": 4}
    if words["bounds"] == "prices":
        stated_bounds = {"l0_penalty": words["price"]}
    asked = {**_requirements(drawn), **stated_bounds}
    model = RiskSLIMClassifier(
        time_limit=NO_LIMIT, n_threads=words["threads"], node_limit=words["nodes"],
        settings=tree_settings(**_settings(words)),
        positive_label="dead" if with_labels else None, **words["list"], **asked,
    )  # fmt: skip
    X = pd.DataFrame(drawn.columns)
    model.fit(X, y, sample_weight=drawn.weights)
    write_search(record, name, model.solution_, model.risk_score_)
    record.write(f"{name}.model.json", {
        "coef": model.points_, "intercept": model.intercept_points_, "classes": model.classes_,
        "remarks": model.remarks_, "risk": model.predict_proba(X)[:, 1],
        "scores": model.score_samples(X), "labels": model.predict(X)[:20],
    })  # fmt: skip


def _numbers(record: Record) -> Iterator[int]:
    yield from range(PROBLEMS_SHORT if record.short else PROBLEMS)


def write_drawn(record: Record) -> None:
    """Solve the problems.

    Parameters
    ----------
    record : Record
    """
    for number in _numbers(record):
        with record.case(f"drawn/{number:02}") as name, tempfile.TemporaryDirectory() as folder:
            drawn = draw(number)
            record.write(f"{name}.drawn.json", drawn.words)
            if drawn.words["place"].startswith("classifier"):
                _by_classifier(record, name, drawn)
            else:
                _by_engine(record, name, drawn, Path(folder))
