"""What stands beside scores: passes over rows, metrics, heuristics, baselines, simulated data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import riskslim
from benchmarks.datasets import open_dataset
from benchmarks.instances import Case, make_table
from benchmarks.results.doors import reproduction, solve, stated
from benchmarks.results.folder import Record
from benchmarks.results.people import people
from riskslim import CoefficientSet, ItemEncoder, TrainingData, backend, metrics
from riskslim.datasets import load_breast_cancer_binary

__all__ = ["write_parts"]


def write_parts(record: Record) -> None:
    """Write them.

    Parameters
    ----------
    record : Record
    """
    for write in (_passes, _backend, _metrics, _items, _containers, _simulated, _baselines):
        with record.case(f"parts/{write.__name__.removeprefix('_')}") as name:
            write(record, name)


def _vectors(d: int) -> dict[str, Any]:
    """Five whole numbers, all whole numbers, and reals."""
    five = np.zeros(d + 1)
    five[:6] = (-3, 1, -1, 2, 1, -2)
    every = np.concatenate(([-2.0], np.resize([1.0, -2.0, 3.0, -1.0], d)))
    return {"five": five, "all": every, "real": every / 3 + 0.1}


def _passes(record: Record, name: str) -> None:
    """Loss and derivatives, bounds, and the heuristics, of columns of several kinds."""
    for kind in ("binary", "integer", "real", "mixed", "weighted"):
        table = make_table(Case(kind, 3_000, 9))
        data = TrainingData(table.X, table.y, table.sample_weight)
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        problem = stated(data, coefficients, max_size=5)
        loss = problem.loss
        found: dict[str, Any] = {
            "intercepts": [problem.lower[0], problem.upper[0]],
            "bounds": loss.bounds(5),
            "values": loss.values(np.array([_vectors(9)["five"], _vectors(9)["all"]])),
            "gradients": loss.values_and_gradients(np.array([_vectors(9)["real"]])),
            "of scores": loss.value_of_scores(loss.scores(_vectors(9)["five"])),
        }
        for which, vector in _vectors(9).items():
            found[which] = {
                "value": loss.value(vector),
                "gradient": loss.value_and_gradient(vector)[1],
                "hessian": loss.hessian(vector),
                "reference": loss.reference_value(vector),
                "scores": loss.scores(vector),
            }
        start = _vectors(9)["five"].astype(np.int64)
        found["descent"] = riskslim.discrete_coordinate_descent(problem, start, swaps=True)
        found["rounded"] = riskslim.sequential_rounding(problem, _vectors(9)["real"])
        record.write(f"{name}/{kind}.json", found)


def _backend(record: Record, name: str) -> None:
    for kind in ("binary", "integer", "mixed", "weighted"):
        table = make_table(Case(kind, 4_000, 8))
        rows = backend.prepare(table.X, table.y, table.sample_weight)
        threads = backend.prepare(table.X, table.y, table.sample_weight, n_threads=2)
        found: dict[str, Any] = {}
        for which, vector in _vectors(8).items():
            found[which] = {
                "loss": backend.loss(vector, rows),
                "gradient": backend.loss_and_gradient(vector, rows)[1],
                "hessian": backend.hessian(vector, rows),
                "threads": backend.loss(vector, threads),
            }
        five = _vectors(8)["five"].astype(np.int64)
        found["line"] = backend.line_search(five, 2, rows, lower=-5, upper=5)
        found["steps"] = backend.best_steps(five, rows)
        found["rounded"] = backend.sequential_rounding(_vectors(8)["real"], rows, max_size=4)
        found["descent"] = backend.coordinate_descent(five, rows, max_size=5, swaps=True)
        if kind == "binary":
            found["counts"] = backend.joint_counts(five, rows)
            found["table"] = backend.support_table(np.array([0, 2, 5]), rows)
        record.write(f"{name}/{kind}.json", found)


def _metrics(record: Record, name: str) -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(-4, 6, 800)
    log_odds = scores / 1.7 - 0.3
    y = rng.random(800) < 1 / (1 + np.exp(-0.8 * log_odds))
    weights = rng.integers(1, 4, 800).astype(float)
    risk, group = 1 / (1 + np.exp(-log_odds)), rng.choice(["a", "b"], 800)
    found: dict[str, Any] = {
        "cal": metrics.calibration_error(y, risk),
        "cal in bins": metrics.calibration_error(y, risk, bins=10),
        "mcal": metrics.maximum_calibration_error(y, risk, weights),
        "line": metrics.calibration_line(y, log_odds, weights),
        "ici": metrics.integrated_calibration_index(y, risk),
        "reliability": metrics.reliability_curve(y, risk, scores=scores),
        "chance": metrics.calibration_consistency(risk, n_resamples=200),
        "intervals": metrics.bootstrap_intervals(y, log_odds, weights, n_resamples=200),
        "interval": metrics.bootstrap_interval(metrics.auc, y, risk, n_resamples=100),
        "decisions": metrics.decision_curve(y, risk, thresholds=np.linspace(0.05, 0.5, 10)),
        "risk groups": metrics.risk_groups(y, risk, [0.2, 0.6]),
        "groups": metrics.metrics_by_group(y, log_odds, group, n_resamples=50),
        "points": metrics.operating_points(y, scores, weights).records(),
        "psi": metrics.population_stability_index(scores[:400], scores[400:], bins=None),
    }
    for one in ("auc", "gini", "kolmogorov_smirnov", "information_value"):
        found[one] = getattr(metrics, one)(y, scores, weights)
    for one in ("brier_score", "brier_skill", "log_loss"):
        found[one] = getattr(metrics, one)(y, risk, weights)
    found["logistic_loss"] = metrics.logistic_loss(y, log_odds)
    record.write(f"{name}.json", found)


# Parameters of encoders, beside columns with missing and special values.
_ENCODERS: dict[str, dict[str, Any]] = {
    "default": {},
    "all": {"n_thresholds": "all", "round_thresholds": True, "max_thresholds": 40},
    "digits": {"n_thresholds": 6, "threshold_digits": 2, "threshold_position": "middle"},
    "below": {"thresholds": {"age": [40, 60]}, "direction": "<=", "n_thresholds": 3},
    "levels": {"categorical": ["stage", "visits"], "min_frequency": 0.15, "drop": None},
    "numeric": {"numeric": ["bmi", "stage"], "n_thresholds": 2},
    "special": {"special_values": {"visits": [[-9, 0], 1]}, "n_thresholds": 3},
    "supervised": {"thresholds": "supervised", "n_thresholds": 4, "min_events": 10},
}


def _raw_columns() -> tuple[pd.DataFrame, Any]:
    raw = pd.DataFrame(people(np.random.default_rng(12), 600))
    y = raw.pop("died")
    raw.loc[::7, "marker"] = np.nan
    raw.loc[3::9, "visits"] = -9
    return raw, y


def _items(record: Record, name: str) -> None:
    """Items that encoders make, and what they know of the raw columns."""
    raw, y = _raw_columns()
    for which, parameters in _ENCODERS.items():
        encoder = ItemEncoder(missing="indicator", **parameters)
        if which == "numeric":
            raw = raw.fillna({"marker": 0.0})
        items = encoder.fit_transform(raw, y)
        later = raw.iloc[::-1].assign(age=raw["age"] + 3)
        record.write(f"{name}/{which}.json", {
            "items": [vars(one) if hasattr(one, "__dict__") else one for one in encoder.items_],
            "values": {column: int(items[column].sum()) for column in items},
            "later": encoder.transform(later).to_numpy(dtype=float),
            "groups": encoder.groups_,
            "constant": list(encoder.constant_items_),
            "names": list(encoder.get_feature_names_out()),
        })  # fmt: skip


def _containers(record: Record, name: str) -> None:
    """The same rows from each kind of table; kinds that are refused say why."""
    import polars as pl
    import pyarrow as pa

    raw = pd.DataFrame(people(np.random.default_rng(13), 400))
    y = raw["died"].to_numpy()
    frame = raw[["age", "bmi", "visits", "smoker"]]
    made: dict[str, Any] = {
        "pandas": frame,
        "polars": pl.DataFrame(frame.to_dict("list")),
        "arrow": pa.table(frame.to_dict("list")),
        "mapping": {column: frame[column].to_numpy() for column in frame},
        "array": frame.to_numpy(),
        "columns": np.asfortranarray(frame.to_numpy()),
        "float32": frame.to_numpy().astype(np.float32),
        "lists": frame.to_numpy().tolist(),
        "text": frame.assign(age="old"),
        "missing": frame.assign(age=np.nan),
        "infinite": frame.assign(age=np.inf),
        "one row": frame.iloc[0],
    }
    for which, X in made.items():
        with record.case(f"{name}/{which}") as case:
            data = TrainingData(X, y)
            coefficients = CoefficientSet(data.feature_names, -2, 2)
            problem = stated(data, coefficients, max_size=2)
            solution = solve(problem)
            record.write(f"{case}.json", {
                "data": repr(data), "coefficients": solution.coefficients,
                "objective": solution.certificate.objective,
                "columns": [data.column(j) for j in range(len(data.feature_names))],
            })  # fmt: skip


def _simulated(record: Record, name: str) -> None:
    simulation = reproduction("simulation")
    for kind in ("binary", "integer", "real"):
        data = simulation.simulate(1_000, 12, kind=kind)
        record.write(f"{name}/{kind}.json", {"X": data.X, "y": data.y})
    seizure = simulation.simulate_seizure(500)
    record.write(f"{name}/seizure.json", {"X": seizure.X, "y": seizure.y})


def _baselines(record: Record, name: str) -> None:
    """The paper's traditional and pooled methods, with fewer elastic nets than it has."""
    data = load_breast_cancer_binary() if record.short else open_dataset(record.data, "mammo")
    X, y = (data.integer_columns, data.labels) if record.short else (data.X, data.y)
    models = reproduction("baselines").fit_baselines(
        X, y, max_size=5, n_penalties=40, l1_ratios=[0.2, 1.0]
    )
    record.write(f"{name}.json", {
        method: {
            "coef": getattr(model, "points_", model.coef_),
            "intercept": getattr(model, "intercept_points_", model.intercept_),
            "loss": model.loss_,
        }
        for method, model in models.items()
    })  # fmt: skip
