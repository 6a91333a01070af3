"""Elastic nets along a path of penalties: the models that pooled baselines choose from."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from riskslim._checks import is_int
from riskslim.coefficients import CoefficientSet, PerFeature
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.loss.logistic import LogisticLoss
from riskslim.paper.baselines.elastic_net import Design, Path, elastic_net_path, penalty_path
from riskslim.problem.problem import RiskScoreProblem
from riskslim.verbose import VerboseLog

__all__ = [
    "ElasticNets",
    "Pool",
    "PoolSettings",
    "Sample",
    "distinct_models",
    "listed",
    "losses_of",
    "mean_auc_of",
]

# AUCs that agree to this many decimals are equal: the rest is the order of a sum.
_AUC_DECIMALS = 12

# Margins that are computed at a time.
_BLOCK_CELLS = 2**22


# ---------------------------------------------------------------------------------------------
# Pools
# ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Pool:
    """One model per mixing value and penalty, fitted to all rows of the training data.

    Attributes
    ----------
    coefficients : ndarray, shape (m, d + 1)
        Intercept first: float64 of elastic nets, int64 of risk scores.
    l1_ratios, penalties : ndarray of float64, shape (m,)
        Mixing value and penalty of the elastic net that each model comes from.
    losses : ndarray of float64, shape (m,)
        Normalised logistic loss on the training data.
    sizes : ndarray of int64, shape (m,)
        Model sizes: numbers of non-zero coefficients, the intercept not counted.
    obeys_signs, obeys_size, obeys_constraints : ndarray of bool, shape (m,)
        Whether a model meets the monotonicity constraints, the limit of the model size, and
        the operational constraints.
    is_feasible : ndarray of bool, shape (m,)
        Whether it meets all of these, and a risk score the bounds of the points and the
        intercept.
    mean_auc : ndarray of float64, shape (m,)
        Mean AUC over the test folds; NaN of models that are not feasible.

    Examples
    --------
    >>> from riskslim.paper.baselines import PenalizedLogisticRegression
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PenalizedLogisticRegression(l1_ratios=[1], n_penalties=10)
    >>> pool = model.fit(data.integer_columns, data.labels).pool_
    >>> pool.coefficients.shape, int(pool.sizes.max())
    ((10, 31), 30)
    """

    coefficients: NDArray[Any]
    l1_ratios: NDArray[np.float64]
    penalties: NDArray[np.float64]
    losses: NDArray[np.float64]
    sizes: NDArray[np.int64]
    obeys_signs: NDArray[np.bool_]
    obeys_size: NDArray[np.bool_]
    obeys_constraints: NDArray[np.bool_]
    is_feasible: NDArray[np.bool_]
    mean_auc: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.penalties)

    def counts(self) -> dict[str, int]:
        """Numbers of models that meet each kind of requirement, and all of them.

        Returns
        -------
        dict from str to int
            The columns of the paper's table on constraint violations (Appendix, seizure
            prediction): "monotonicity", "model size", "operational" and "all".
        """
        return {
            "monotonicity": int(self.obeys_signs.sum()),
            "model size": int(self.obeys_size.sum()),
            "operational": int(self.obeys_constraints.sum()),
            "all": int(self.is_feasible.sum()),
        }

    def best(self) -> int:
        """Position of the feasible model that is chosen.

        Returns
        -------
        int
            Of the largest mean AUC; among equal ones of the least loss, then the least size, then
            the first one.
        """
        auc = np.where(self.is_feasible, self.mean_auc, -np.inf).round(_AUC_DECIMALS)
        return int(np.lexsort((self.sizes, self.losses, -auc))[0])


def listed(counts: Mapping[str, int]) -> str:
    """Counts by what they are of, in words."""
    return ", ".join(f"{what}: {count}" for what, count in counts.items())


class PoolSettings(NamedTuple):
    """Settings that the elastic nets of all methods depend on."""

    sign: str | PerFeature | None
    l1_ratios: tuple[float, ...]
    n_penalties: int
    min_penalty_ratio: float | None
    cv: Any
    random_state: Any
    n_jobs: int | None


class Sample:
    """Rows that elastic nets are fitted to, and the nets fitted so far."""

    def __init__(self, data: TrainingData, signs: CoefficientSet) -> None:
        self.data = data
        self.design = Design.of(LogisticLoss(data, signs).rows)
        self.paths: dict[float, NDArray[np.float64]] = {}
        self._problem: tuple[Any, RiskScoreProblem] | None = None

    def problem(self, box: CoefficientSet, l0_penalty: float) -> RiskScoreProblem:
        """The problem of these rows, without a limit of the size; the last one is kept."""
        key = (box, l0_penalty)
        if self._problem is None or self._problem[0] != key:
            self._problem = (key, RiskScoreProblem(self.data, box, l0_penalty=l0_penalty))
        return self._problem[1]


class _Fold(NamedTuple):
    """A training fold and the rows of its test fold."""

    sample: Sample
    X: NDArray[np.float64]
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None


class ElasticNets:
    """Elastic nets of all rows and of the training folds, fitted when they are asked for."""

    def __init__(self, X: NDArray[np.float64], data: TrainingData, settings: PoolSettings) -> None:
        self.data, self.settings = data, settings
        names = data.feature_names
        # Only the signs of the bounds matter here; of what size they are is up to a method.
        signs = CoefficientSet(
            names, -1, 1, sign=settings.sign, intercept_lower=0, intercept_upper=0
        )
        self.lower = np.where(signs.lower < 0, -np.inf, 0.0)
        self.upper = np.where(signs.upper > 0, np.inf, 0.0)
        self.whole = Sample(data, signs)
        self.folds = _folds(X, data, signs, settings)
        self.n_unfinished = 0
        self.log = VerboseLog("riskslim.paper.baselines.estimators", "", 0)
        allowed = self.lower < self.upper
        self.penalties = {
            ratio: penalty_path(
                self.whole.design,
                ratio,
                n_penalties=settings.n_penalties,
                min_ratio=settings.min_penalty_ratio,
                allowed=allowed,
            )
            for ratio in settings.l1_ratios
        }

    @property
    def instances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mixing value and penalty of each instance."""
        ratios = np.repeat(self.settings.l1_ratios, self.settings.n_penalties)
        return ratios, np.concatenate([self.penalties[r] for r in self.settings.l1_ratios])

    def fit(self, samples: Sequence[Sample], instances: NDArray[np.intp]) -> None:
        """Continue the paths of samples as far as some instances need them."""
        needed = self._lengths(instances)
        tasks = [
            (sample, ratio, length)
            for sample in samples
            for ratio, length in needed.items()
            if len(sample.paths.get(ratio, ())) < length
        ]
        paths = Parallel(n_jobs=self.settings.n_jobs, return_as="generator")(
            delayed(_continued)(
                sample.design,
                ratio,
                self.penalties[ratio][:length],
                self.lower,
                self.upper,
                sample.paths.get(ratio),
            )
            for sample, ratio, length in tasks
        )
        what = "all rows" if samples == [self.whole] else "the folds"
        for done, ((sample, ratio, _), path) in enumerate(zip(tasks, paths, strict=True), start=1):
            sample.paths[ratio] = path.coefficients
            self.n_unfinished += path.n_unfinished
            self.log.progress(f"elastic nets of {what}: %d of %d paths", done, len(tasks))

    def _lengths(self, instances: NDArray[np.intp]) -> dict[float, int]:
        """Find how far the path of each mixing value is needed."""
        ratio, step = np.divmod(instances, self.settings.n_penalties)
        return {
            self.settings.l1_ratios[k]: int(step[ratio == k].max()) + 1
            for k in np.unique(ratio).tolist()
        }

    def coefficients(self, sample: Sample, instances: NDArray[np.intp]) -> NDArray[np.float64]:
        """Elastic nets of a sample, shape (number of instances, d + 1)."""
        ratio, step = np.divmod(instances, self.settings.n_penalties)
        vectors = np.empty((len(instances), 1 + self.data.n_features))
        for k in np.unique(ratio).tolist():
            of_ratio = ratio == k
            vectors[of_ratio] = sample.paths[self.settings.l1_ratios[k]][step[of_ratio]]
        return vectors


def _continued(
    design: Design,
    ratio: float,
    penalties: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    known: NDArray[np.float64] | None,
) -> Path:
    """A path that begins with what is known of it."""
    if known is None:
        return elastic_net_path(design, ratio, penalties, lower=lower, upper=upper)
    more = elastic_net_path(
        design, ratio, penalties[len(known) :], lower=lower, upper=upper, start=known[-1]
    )
    return Path(np.concatenate((known, more.coefficients)), more.n_unfinished)


def _folds(
    X: NDArray[np.float64], data: TrainingData, signs: CoefficientSet, settings: PoolSettings
) -> list[_Fold]:
    labels, weights = data.labels, data.sample_weight
    folds: list[_Fold] = []
    for train, test in _splitter(settings, labels).split(X, labels):
        for part, name in ((train, "training"), (test, "test")):
            counted = labels[part] if weights is None else labels[part][weights[part] > 0]
            if len(np.unique(counted)) < 2:
                raise ValueError(
                    f"{name} fold {len(folds) + 1} has rows (with a weight above zero) of one "
                    "class only, of which there is no AUC; use a stratified splitter or fewer folds"
                )
        with warnings.catch_warnings():
            # A feature that is constant in a fold has no coefficient there.
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            fold_data = TrainingData(
                X[train],
                labels[train],
                None if weights is None else weights[train],
                feature_names=data.feature_names,
            )
        sample = Sample(fold_data, signs)
        folds.append(
            _Fold(sample, X[test], labels[test], None if weights is None else weights[test])
        )
    return folds


def _splitter(settings: PoolSettings, labels: NDArray[np.int8]) -> Any:
    if not is_int(settings.cv):
        return check_cv(settings.cv, labels, classifier=True)
    n_splits = int(settings.cv)
    smallest = int(min(np.count_nonzero(labels == label) for label in (-1, 1)))
    if n_splits > smallest:
        raise ValueError(
            f"n_splits={n_splits} cannot be greater than the number of members in each class, and "
            f"one class has {smallest}; choose a smaller cv"
        )
    return StratifiedKFold(n_splits, shuffle=True, random_state=settings.random_state)


def losses_of(design: Design, coefficients: NDArray[Any]) -> NDArray[np.float64]:
    """Loss of each vector, by products of blocks of rows and all vectors."""
    total = np.zeros(len(coefficients))
    vectors = coefficients.astype(np.float64)
    n_rows = max(_BLOCK_CELLS // max(len(vectors), 1), 1)
    signs = 1.0 - 2.0 * design.targets  # -y
    for start in range(0, len(design.targets), n_rows):
        rows = slice(start, start + n_rows)
        scores = design.values[rows] @ vectors[:, 1:].T
        scores += vectors[:, 0]
        scores *= signs[rows, np.newaxis]
        total += design.weights[rows] @ np.logaddexp(0.0, scores, out=scores)
    return total


def mean_auc_of(
    nets: ElasticNets,
    instances: NDArray[np.intp],
    convert: Callable[[Sample, NDArray[np.float64]], NDArray[Any]],
) -> NDArray[np.float64]:
    """Mean test AUC of instances whose models are converted in each fold."""
    nets.fit([fold.sample for fold in nets.folds], instances)
    by_fold = []
    for auc in Parallel(n_jobs=nets.settings.n_jobs, return_as="generator")(
        delayed(_test_auc)(fold, nets.coefficients(fold.sample, instances), convert)
        for fold in nets.folds
    ):
        by_fold.append(auc)
        nets.log.progress("models tested on %d of %d folds", len(by_fold), len(nets.folds))
    return np.asarray(np.mean(by_fold, axis=0))


def _test_auc(
    fold: _Fold,
    coefficients: NDArray[np.float64],
    convert: Callable[[Sample, NDArray[np.float64]], NDArray[Any]],
) -> NDArray[np.float64]:
    models, index = distinct_models(convert(fold.sample, coefficients))
    scores = fold.X @ models[:, 1:].astype(np.float64).T
    auc = [roc_auc_score(fold.y, s, sample_weight=fold.sample_weight) for s in scores.T]
    return np.array(auc)[index]


def distinct_models(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct vectors, and which of them each vector is."""
    distinct, index = np.unique(vectors, axis=0, return_inverse=True)
    return distinct, index.reshape(-1)
