"""Searches on the demo, the paper's data sets and raw tables; lists, paths, cross-validations.

All end by a proof, or by a number of nodes where a proof would take long.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import riskslim
from benchmarks.datasets import TABLES, encoder_for, load, open_dataset
from benchmarks.results.doors import NO_LIMIT, scored, solve, standard_cpa, stated
from benchmarks.results.folder import Record
from benchmarks.results.writing import StopPath, write_path, write_search, write_validation
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    ItemEncoder,
    LatticeCPASettings,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.model_selection import stratified_folds, write_folds

__all__ = [
    "write_demo",
    "write_lattice",
    "write_lists",
    "write_paper",
    "write_paths",
    "write_raw",
    "write_threads",
]


def _paper_data(record: Record, name: str, *, weighted: bool = False) -> TrainingData:
    table = open_dataset(record.data, name)
    weights = None
    if weighted:
        weights = pd.read_csv(record.data / f"{name}_weights.csv", header=None).to_numpy().ravel()
    return TrainingData(table.X, table.y, weights)


def _problem(data: TrainingData, max_size: int = 5, **requirements: Any) -> RiskScoreProblem:
    """As the paper states it: points -5..5, a price of 1e-6 for each."""
    n_threads = requirements.pop("n_threads", 1)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return stated(data, coefficients, n_threads=n_threads, max_size=max_size, **requirements)


def _search(
    record: Record, name: str, data: TrainingData, engine: str = "branch_and_bound", **asked: Any
) -> None:
    """A search of a problem of the paper; keywords of the engine are those that are known below."""
    of_engine = ("settings", "n_solutions", "within", "node_limit", "gap_tolerance", "start")
    limits = {key: asked.pop(key) for key in of_engine if key in asked}
    limits["n_threads"] = asked.get("n_threads", 1)
    with record.case(name):
        problem = _problem(data, **asked)
        solution = solve(problem, engine, **limits)
        write_search(record, name, solution, scored(problem, solution, data))


def write_demo(record: Record) -> None:
    """The data that ship with the package.

    Parameters
    ----------
    record : Record
    """
    data = load_breast_cancer_binary()
    _search(record, "demo/k5", data)
    _search(record, "demo/k5-free", data, scale="free")
    _search(record, "demo/k3-scales", data, max_size=3, scale=[1, 2, 4])
    start = [0] * len(data.feature_names)
    _search(record, "demo/k4-start", data, max_size=4, start=[3, *start])
    _search(record, "demo/k4-tolerance", data, max_size=4, gap_tolerance=0.2)
    _search(record, "demo/k5-few-nodes", data, node_limit=20, settings={"tables": "never"})
    with record.case("demo/k3-start-by-name") as name:
        X = pd.DataFrame(np.asarray(data.integer_columns), columns=list(data.feature_names))
        start = {"worst radius > 14.97": -2, "mean texture > 18.84": -1}
        model = RiskSLIMClassifier(max_size=3, scale=1, start=start, time_limit=NO_LIMIT)
        model.fit(X, np.asarray(data.labels) > 0)
        write_search(record, name, model.solution_, model.risk_score_)


class _Paper(NamedTuple):
    """A search on a data set of the paper.

    Attributes
    ----------
    data : str
    asked : dict
    in_short : bool
        Whether the short record has it.
    """

    data: str
    asked: dict[str, Any]
    in_short: bool = True


_PAPER = (
    _Paper("adult", {}),
    _Paper("bank", {}, in_short=False),
    _Paper("breastcancer", {}),
    _Paper("mammo", {}),
    _Paper("mushroom", {}),
    _Paper("spambase", {}),
    _Paper("mammo", {"max_size": 10}),
    _Paper("mammo", {"scale": "free"}),
    _Paper("breastcancer", {"scale": "free", "weighted": True}),
    _Paper("adult", {"scale": "free"}, in_short=False),
    _Paper("adult", {"max_size": 8}, in_short=False),
    _Paper("spambase", {"max_size": 8}, in_short=False),
    _Paper("mushroom", {"max_size": 10, "node_limit": 500}, in_short=False),
    _Paper("bank", {"node_limit": 40}),
)


def write_paper(record: Record) -> None:
    """The paper's data sets.

    Parameters
    ----------
    record : Record
    """
    for one in _PAPER:
        if record.short and not one.in_short:
            continue
        asked = dict(one.asked)
        data = _paper_data(record, one.data, weighted=asked.pop("weighted", False))
        _search(record, f"paper/{one.data}{_suffix(one.asked)}", data, **asked)


def _suffix(asked: dict[str, Any]) -> str:
    return "".join(f"-{key}-{value}" for key, value in asked.items())


# The paper's procedure, and what is there beside it.
_SETTINGS = {
    "default": LatticeCPASettings(),
    "paper": LatticeCPASettings(native_root=False),
    "plain": LatticeCPASettings(
        native_root=False, chained_updates=False, rounding=False, polishing=False, cut_pool=0
    ),
    "signs": LatticeCPASettings(sign_split=True),
    "sampled": LatticeCPASettings(native_root=False, subsampling=True),
}


def write_lattice(record: Record) -> None:
    """Lattice cutting planes on CPLEX and SCIP, and standard cutting planes.

    Parameters
    ----------
    record : Record
    """
    names = ("mammo", "breastcancer") if record.short else ("mammo", "breastcancer", "mushroom")
    for name in names:
        data = _paper_data(record, name)
        _search(record, f"lattice/{name}", data, "cplex")
        if name != "mushroom":
            _search(record, f"lattice/{name}-scip", data, "scip")
    data = _paper_data(record, "breastcancer")
    for name, settings in _SETTINGS.items():
        with record.case(f"lattice/breastcancer-{name}") as case:
            problem = _problem(data)
            solution = riskslim.lattice_cpa(problem, time_limit=NO_LIMIT, settings=settings)
            write_search(record, case, solution, scored(problem, solution, data))
    _search(record, "lattice/breastcancer-scales", data, "cplex", scale=[1, 2, 4])
    _search(record, "lattice/breastcancer-threads", data, "scip", n_threads=2)
    _search(record, "lattice/mammo-few-nodes", _paper_data(record, "mammo"), "cplex", node_limit=5)
    _standard_cpa(record)


def _standard_cpa(record: Record) -> None:
    data = _paper_data(record, "breastcancer")
    for relaxation in (True, False):
        with record.case(f"lattice/standard-{'relaxed' if relaxation else 'integer'}") as case:
            solution = standard_cpa()(
                _problem(data, max_size=3), relaxation=relaxation, time_limit=NO_LIMIT,
                max_iterations=60,
            )  # fmt: skip
            record.write(f"{case}.json", {
                "coef": solution.coef, "lower_bound": solution.lower_bound,
                "upper_bound": solution.upper_bound, "converged": solution.converged,
                "message": solution.message, "cuts": len(solution.cuts),
                "iterations": len(solution.iterations), "binding": solution.binding,
            })  # fmt: skip


class _Raw(NamedTuple):
    """A search on a raw table; limits are there where a proof would take minutes."""

    table: str
    cutoffs: int
    scale: Any
    max_size: int = 5
    asked: dict[str, Any] = {}  # noqa: RUF012
    in_short: bool = False

    @property
    def way(self) -> str:
        """What is asked to be done always, for the name."""
        settings = self.asked.get("settings")
        always = [
            way for way in ("elimination", "cutoffs") if getattr(settings, way, "") == "always"
        ]
        return "".join(f"-{way}" for way in always)


_ELIMINATION = BranchAndBoundSettings(tables="never", cutoffs="never", elimination="always")
_RAW = (
    _Raw("pima", 9, 1, max_size=3, in_short=True),
    _Raw("german", 9, "free", max_size=3, in_short=True),
    _Raw("german", 4, 1, max_size=3, asked={"settings": _ELIMINATION}, in_short=True),
    _Raw("adult", 9, 1, max_size=3, in_short=True),
    _Raw("pima", 1000, 1, max_size=3, asked={"items_per_variable": 2}, in_short=True),
    _Raw("pima", 1000, "free", max_size=3),
    _Raw("adult", 9, 1),
    _Raw("adult", 9, "free"),
    _Raw("adult", 49, 1),
    _Raw("adult", 49, "free", asked={"gap_tolerance": 0.1}),
    _Raw("german", 9, 1),
    _Raw("german", 9, "free"),
    _Raw("pima", 9, 1),
    _Raw("pima", 9, "free"),
    _Raw("pima", 1000, 1, max_size=4, asked={"items_per_variable": 2}),
    _Raw("pima", 1000, "free", max_size=4, asked={"gap_tolerance": 0.1}),
    _Raw(
        "pima", 1000, 1,
        asked={"gap_tolerance": 0.1, "settings": BranchAndBoundSettings(cutoffs="always")},
    ),
    _Raw(
        "credit_default", 49, 1,
        asked={"gap_tolerance": 0.05, "settings": BranchAndBoundSettings(elimination="always")},
    ),
)  # fmt: skip


def write_raw(record: Record) -> None:
    """Raw tables: items, a search, and predictions for raw columns.

    Parameters
    ----------
    record : Record
    """
    for one in _RAW:
        if one.in_short is not record.short:
            continue
        X, y = load(record.data / "raw", TABLES[one.table])
        name = f"raw/{one.table}-{one.cutoffs}-{one.scale}-k{one.max_size}{one.way}"
        with record.case(name):
            model = RiskSLIMClassifier(
                items=encoder_for(TABLES[one.table], one.cutoffs), max_size=one.max_size,
                scale=one.scale, time_limit=NO_LIMIT, **one.asked,
            ).fit(X, y)  # fmt: skip
            write_search(record, name, model.solution_, model.risk_score_)
            record.write(f"{name}.model.json", {
                "items": [item.name for item in model.encoder_.items_],
                "remarks": model.remarks_,
                "risk": model.predict_proba(X)[:, 1],
            })  # fmt: skip


def write_lists(record: Record) -> None:
    """Lists of scores.

    Parameters
    ----------
    record : Record
    """
    demo, mammo = load_breast_cancer_binary(), _paper_data(record, "mammo")
    _search(record, "lists/mammo-best-50", mammo, n_solutions=50)
    _search(record, "lists/mammo-within", mammo, within=0.005)
    _search(record, "lists/mammo-within-k3", mammo, max_size=3, within=0.05, n_solutions=100)
    _search(record, "lists/demo-best-20-free", demo, max_size=3, n_solutions=20, scale="free")
    _search(record, "lists/demo-within-scales", demo, max_size=3, within=0.03, scale=[1, 2])
    _search(record, "lists/demo-cut-short", demo, n_solutions=30, node_limit=5)
    _search(record, "lists/demo-threads", demo, max_size=4, within=0.02, n_threads=2)
    if record.short:
        return
    _search(record, "lists/demo-within-k5", demo, within=0.02)
    _search(record, "lists/mammo-within-free", mammo, max_size=3, within=0.01, scale="free")
    always = {"tables": "always"}
    _search(record, "lists/demo-tables", demo, max_size=4, n_solutions=60, settings=always)


def write_threads(record: Record) -> None:
    """Searches on two threads: what they find, and whether one thread finds the same.

    Parameters
    ----------
    record : Record
    """
    cases: list[tuple[str, TrainingData, dict[str, Any]]] = [
        ("demo", load_breast_cancer_binary(), {"scale": "free"}),
        ("mammo", _paper_data(record, "mammo"), {"max_size": 8}),
        ("spambase", _paper_data(record, "spambase"), {"max_size": 3}),
        ("adult", _paper_data(record, "adult"), {}),
    ]
    for name, data, asked in cases:
        for n_threads in (1, 2):
            _search(record, f"threads/{name}-{n_threads}", data, n_threads=n_threads, **asked)
        _compare_threads(record, f"threads/{name}")


def _compare_threads(record: Record, name: str) -> None:
    kinds = (".json", ".search.json", ".score.json", ".sheet.txt")
    same = {
        kind: (record.folder / f"{name}-1{kind}").read_text()
        == (record.folder / f"{name}-2{kind}").read_text()
        for kind in kinds
    }
    record.write(f"{name}.same.json", same)


def write_paths(record: Record) -> None:
    """Paths over sizes, cross-validations, nested ones, and paths that go on where they were.

    Parameters
    ----------
    record : Record
    """
    with record.case("paths/demo") as name:
        problem = _problem(load_breast_cancer_binary(), max_size=3)
        path = riskslim.model_size_path(problem, cv=5, time_limit=NO_LIMIT)
        write_path(record, name, path)
        chosen = {
            f"{rule} {metric}": path.best(rule, metric=metric).max_size
            for rule in ("one_standard_error", "best_mean")
            for metric in ("loss", "auc", "cal")
        }
        record.write(f"{name}.chosen.json", chosen)
    _raw_path(record)
    _validations(record)
    _stopped_path(record)


def _raw_path(record: Record) -> None:
    X, y = load(record.data / "raw", TABLES["pima"])
    encoder = encoder_for(TABLES["pima"], 4)
    supervised = ItemEncoder(thresholds="supervised", n_thresholds=4, missing="indicator")
    for name, items in (("quantiles", encoder), ("supervised", supervised)):
        with record.case(f"paths/pima-{name}"):
            model = RiskSLIMClassifier(
                items=items, max_size=3, items_per_variable=1, monotone="auto", scale=1,
                time_limit=NO_LIMIT,
            )  # fmt: skip
            path = riskslim.model_size_path(model, X, y, cv=2, sizes=[1, 2])
            write_path(record, f"paths/pima-{name}", path)


def _validations(record: Record) -> None:
    table = open_dataset(record.data, "mammo")
    X, y = table.X, table.y
    model = RiskSLIMClassifier(max_size=3, scale=1, time_limit=NO_LIMIT)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    with record.case("paths/mammo-folds") as name, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "folds.csv"
        write_folds(file, stratified_folds(y, 3, random_state=1))
        record.write(f"{name}.csv", file.read_text())
        result = riskslim.cross_validate_risk_score(model, X, y, weights, cv=str(file))
        write_validation(record, name, result)
    with record.case("paths/mammo-nested") as name:
        grid = {"max_size": [1, 2, 3], "scale": [1, "free"]}
        result = riskslim.cross_validate_risk_score(
            model, X, y, cv=3, param_grid=grid, inner_cv=2, tuning_metric="loss", n_jobs=2
        )
        write_validation(record, name, result)


def _stopped_path(record: Record) -> None:
    """Ended after the second model, and gone on with."""
    problem = _problem(load_breast_cancer_binary(), max_size=3, scale=2)
    done: list[Any] = []

    def stop(*state: Any) -> None:
        done.append(state)
        if len(done) == 2:
            raise StopPath

    with record.case("paths/stopped") as name, tempfile.TemporaryDirectory() as folder:
        asked: dict[str, Any] = {
            "checkpoint": Path(folder) / "path.db", "cv": 3, "time_limit": NO_LIMIT,
        }  # fmt: skip
        try:
            riskslim.model_size_path(problem, progress=stop, **asked)
        except StopPath:
            record.write(f"{name}.first.json", {"models": len(done)})
        write_path(record, name, riskslim.model_size_path(problem, **asked))
