r"""The methods that the paper compares RiskSLIM with, as scikit-learn estimators.

All of them start from *penalized logistic regression* (PLR): 1,100 elastic nets, 11 mixing values
times 100 penalties. What follows turns real-valued coefficients into a risk score (Ustun & Rudin
2019, Sections 5.1 and 6):

=========== ==================================== ===============================================
paper       estimator                            rule
=========== ==================================== ===============================================
PLR         :class:`PenalizedLogisticRegression` the elastic net with the best AUC
Rd          :class:`Rounding`                    its coefficients, rounded
RsRd        :class:`RescaledRounding`            the same, once the largest one has been made 5
Unit        :class:`UnitWeighting`               the signs of its coefficients
PooledRd    :class:`PooledRounding`              all elastic nets rounded, of these the best AUC
PooledRsRd  :class:`PooledRescaledRounding`      all elastic nets rescaled and rounded
PooledSeqRd :class:`PooledSequentialRounding`    all elastic nets rounded sequentially
=========== ==================================== ===============================================

A star (PooledRd*, PooledRsRd*, PooledSeqRd*) means that every score of the pool is polished by
discrete coordinate descent: ``polish=True``. :func:`fit_baselines` fits several methods to the
same elastic nets. The package glum is needed (``pip install 'riskslim[baselines]'``).
"""

from __future__ import annotations

import dataclasses
import logging
import numbers
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT, CoefficientSet, PerFeature
from riskslim.constraint_base import Constraint, Setting
from riskslim.constraint_rows import ConstraintRows, checked_constraints
from riskslim.data import TrainingData
from riskslim.elastic_net import Design, Path, elastic_net_path, penalty_path, platt_scaling
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.feature_ranges import FeatureRange
from riskslim.heuristics import discrete_coordinate_descent, sequential_rounding
from riskslim.loss import LogisticLoss
from riskslim.problem import RiskScoreProblem
from riskslim.risk_score import RiskScore
from riskslim.tables import listing, series_name
from riskslim.verbose import VerboseLog

__all__ = [
    "METHODS",
    "PenalizedLogisticRegression",
    "Pool",
    "PooledRescaledRounding",
    "PooledRounding",
    "PooledSequentialRounding",
    "RescaledRounding",
    "Rounding",
    "UnitWeighting",
    "fit_baselines",
    "rescaled_rounding",
    "rounding",
    "unit_weights",
]

logger = logging.getLogger("riskslim.baselines")

# Share of a pool that meets all requirements below which it is said that the choice is a small one.
_FEW_FEASIBLE = 0.1
# AUCs that agree to this many decimals are equal: the rest is the order of a sum.
_AUC_DECIMALS = 12
# Most moves by which one score is polished. Points up to 5 need a dozen, points up to 1000 some
# hundreds; wider ones zigzag along narrow valleys by as many moves as they are wide.
_POLISHING_MOVES = 1000
# Margins that are computed at a time.
_BLOCK_CELLS = 2**22


# ---------------------------------------------------------------------------------------------
# From real-valued coefficients to integers
# ---------------------------------------------------------------------------------------------


def rounding(coef: ArrayLike, max_coef: int = 5) -> NDArray[np.int64]:
    r"""Round to the nearest integers, Rd of the paper.

    :math:`\lambda_j \leftarrow \lceil \min(\max(\lambda_j, -5), 5) \rfloor` and
    :math:`\lambda_0 \leftarrow \lceil \lambda_0 \rfloor`.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.
    max_coef : int, default 5
        Largest absolute coefficient; the intercept has no bound.

    Returns
    -------
    ndarray of int64, of the same shape

    Examples
    --------
    >>> from riskslim.baselines import rounding
    >>> rounding([-7.6, 0.4, -1.7, 8.2])
    array([-8,  0, -2,  5])
    """
    rounded = np.rint(np.array(coef, dtype=np.float64))
    rounded[..., 1:] = rounded[..., 1:].clip(-max_coef, max_coef)
    return rounded.astype(np.int64)


def rescaled_rounding(coef: ArrayLike, max_coef: int = 5) -> NDArray[np.int64]:
    r"""Make the largest coefficient :math:`\pm 5`, then round, RsRd of the paper.

    :math:`\lambda_j \leftarrow \lceil \gamma \lambda_j \rfloor` with
    :math:`\gamma = 5 / \max_{j \ge 1} |\lambda_j|`, the intercept included.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.
    max_coef : int, default 5
        Absolute value of the largest coefficient.

    Returns
    -------
    ndarray of int64, of the same shape
        Vectors without a feature are rounded as they are.

    Examples
    --------
    >>> from riskslim.baselines import rescaled_rounding
    >>> rescaled_rounding([-0.7, 0.1, -0.4, 0.02])
    array([-9,  1, -5,  0])
    """
    vectors = np.asarray(coef, dtype=np.float64)
    largest = np.abs(vectors[..., 1:]).max(axis=-1, keepdims=True, initial=0.0)
    factor = np.divide(max_coef, largest, out=np.ones_like(largest), where=largest > 0)
    return rounding(vectors * factor, max_coef)


def unit_weights(coef: ArrayLike) -> NDArray[np.int64]:
    r"""Keep the signs alone, Unit of the paper (the Burgess method).

    :math:`\lambda_j \leftarrow \operatorname{sign}(\lambda_j)
    \mathbb{1}[\lambda_j \ne 0]`, the intercept included.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.

    Returns
    -------
    ndarray of int64, of the same shape

    Examples
    --------
    >>> from riskslim.baselines import unit_weights
    >>> unit_weights([-1.7, 0.1, -0.4, 0.0])
    array([-1,  1, -1,  0])
    """
    return np.sign(np.asarray(coef, dtype=np.float64)).astype(np.int64)


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


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{what}: {count}" for what, count in counts.items())


class _Settings(NamedTuple):
    """What the elastic nets of all methods depend on."""

    sign: str | PerFeature | None
    l1_ratios: tuple[float, ...]
    n_penalties: int
    min_penalty_ratio: float | None
    cv: Any
    random_state: Any
    n_jobs: int | None


class _Sample:
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
            loss = LogisticLoss(self.data, box)
            self._problem = (key, RiskScoreProblem(loss, box, l0_penalty=l0_penalty))
        return self._problem[1]


class _Fold(NamedTuple):
    """A training fold and the rows of its test fold."""

    sample: _Sample
    X: NDArray[np.float64]
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None


class _ElasticNets:
    """Elastic nets of all rows and of the training folds, fitted when they are asked for."""

    def __init__(self, X: NDArray[np.float64], data: TrainingData, settings: _Settings) -> None:
        self.data, self.settings = data, settings
        names = data.feature_names
        # Only the signs of the bounds matter here; of what size they are is up to a method.
        signs = CoefficientSet(
            names, -1, 1, sign=settings.sign, intercept_lower=0, intercept_upper=0
        )
        self.lower = np.where(signs.lower < 0, -np.inf, 0.0)
        self.upper = np.where(signs.upper > 0, np.inf, 0.0)
        self.whole = _Sample(data, signs)
        self.folds = _folds(X, data, signs, settings)
        self.n_unfinished = 0
        self.log = VerboseLog("riskslim.baselines", "", 0)
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

    def fit(self, samples: Sequence[_Sample], instances: NDArray[np.intp]) -> None:
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
        """How far the path of each mixing value is needed."""
        ratio, step = np.divmod(instances, self.settings.n_penalties)
        return {
            self.settings.l1_ratios[k]: int(step[ratio == k].max()) + 1
            for k in np.unique(ratio).tolist()
        }

    def coefficients(self, sample: _Sample, instances: NDArray[np.intp]) -> NDArray[np.float64]:
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
    X: NDArray[np.float64], data: TrainingData, signs: CoefficientSet, settings: _Settings
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
        sample = _Sample(fold_data, signs)
        folds.append(
            _Fold(sample, X[test], labels[test], None if weights is None else weights[test])
        )
    return folds


def _splitter(settings: _Settings, labels: NDArray[np.int8]) -> Any:
    if not isinstance(settings.cv, numbers.Integral):
        return check_cv(settings.cv, labels, classifier=True)
    n_splits = int(settings.cv)
    smallest = int(min(np.count_nonzero(labels == label) for label in (-1, 1)))
    if n_splits > smallest:
        raise ValueError(
            f"n_splits={n_splits} cannot be greater than the number of members in each class, and "
            f"one class has {smallest}; choose a smaller cv"
        )
    return StratifiedKFold(n_splits, shuffle=True, random_state=settings.random_state)


def _losses(design: Design, coefficients: NDArray[Any]) -> NDArray[np.float64]:
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


def _mean_auc(
    nets: _ElasticNets,
    instances: NDArray[np.intp],
    convert: Callable[[_Sample, NDArray[np.float64]], NDArray[Any]],
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
    convert: Callable[[_Sample, NDArray[np.float64]], NDArray[Any]],
) -> NDArray[np.float64]:
    models, index = _distinct(convert(fold.sample, coefficients))
    scores = fold.X @ models[:, 1:].astype(np.float64).T
    auc = [roc_auc_score(fold.y, s, sample_weight=fold.sample_weight) for s in scores.T]
    return np.array(auc)[index]


def _distinct(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct vectors, and which of them each vector is."""
    distinct, index = np.unique(vectors, axis=0, return_inverse=True)
    return distinct, index.reshape(-1)


# ---------------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------------


class _Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all methods share: elastic nets, the choice of one instance, linear predictions."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the elastic nets, and choose.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
            Two classes.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Data or parameters that are refused; no model of the pool is feasible.
        ImportError
            glum is not installed.

        Warns
        -----
        ConvergenceWarning
            The solver did not reach its tolerance for some of the elastic nets.
        """
        return self._fit(self._elastic_nets(X, y, sample_weight))

    def _elastic_nets(self, X: Any, y: Any, sample_weight: Any) -> _ElasticNets:
        name = series_name(y)
        X, y = validate_data(self, X, y, dtype=np.float64)
        data = TrainingData(
            X,
            y,
            sample_weight,
            feature_names=getattr(self, "feature_names_in_", None),
            outcome_name=name,
        )
        return _ElasticNets(X, data, self._settings())

    def _settings(self) -> _Settings:
        given = np.linspace(0, 1, 11) if self.l1_ratios is None else self.l1_ratios
        try:
            ratios = tuple(sorted({float(ratio) for ratio in given}))
        except (TypeError, ValueError):
            ratios = ()
        if not ratios or not 0 <= ratios[0] <= ratios[-1] <= 1:
            raise ValueError(
                f"l1_ratios must be numbers between 0 and 1, in a sequence, got {self.l1_ratios!r}"
            )
        if not isinstance(self.n_penalties, numbers.Integral) or self.n_penalties < 1:
            raise ValueError(f"n_penalties must be an int of at least 1, got {self.n_penalties!r}")
        share = self.min_penalty_ratio
        if share is not None and not 0 < share <= 1:
            raise ValueError(f"min_penalty_ratio must be in (0, 1], got {share!r}")
        return _Settings(
            self.sign, ratios, int(self.n_penalties), share, self.cv, self.random_state, self.n_jobs
        )

    def _fit(self, nets: _ElasticNets) -> Any:
        log = VerboseLog("riskslim.baselines", type(self).__name__, self.verbose)
        nets.log = log
        before, nets.n_unfinished = nets.n_unfinished, 0
        instances = np.arange(len(nets.instances[0]))
        nets.fit([nets.whole], instances)
        convert = self._converter(nets)
        models = convert(nets.whole, nets.coefficients(nets.whole, instances))
        nets.log.progress("models of all rows: %d", len(models))
        pool = self._assessed(nets, models)
        self.n_feasible_ = int(pool.is_feasible.sum())
        if not self.n_feasible_:
            raise ValueError(self._nothing_feasible(pool))
        candidates = np.flatnonzero(pool.is_feasible)
        pool.mean_auc[candidates] = _mean_auc(nets, candidates, convert)
        self.pool_ = pool
        self.classes_ = np.array(nets.data.classes)
        self.best_index_ = pool.best()
        self.l1_ratio_ = float(pool.l1_ratios[self.best_index_])
        self.penalty_ = float(pool.penalties[self.best_index_])
        self._set_model(nets, pool.coefficients[self.best_index_])
        log.write(
            "%d of %d models are feasible; chosen: mixing value %g, penalty %.3g, mean AUC %.4f",
            self.n_feasible_, len(pool), self.l1_ratio_, self.penalty_,
            pool.mean_auc[self.best_index_],
        )  # fmt: skip
        self.remarks_ = self._remarks(pool)
        if not self.coef_.any():
            for remark in self.remarks_:
                logger.warning("%s: %s", type(self).__name__, remark)
        self._warn_unfinished(nets)
        nets.n_unfinished += before
        return self

    def _remarks(self, pool: Pool) -> tuple[str, ...]:
        """Whether the choice was among few models, and whether nothing came of it."""
        is_empty = not self.coef_.any()
        if self.n_feasible_ >= _FEW_FEASIBLE * len(pool) and not is_empty:
            return ()
        chosen = ""
        if is_empty:
            chosen = " The result has no features: all rows have the same risk."
        return (
            f"{self.n_feasible_} of the {len(pool)} models meet all requirements (how many meet "
            f"each kind: {_listed(pool.counts())}), and the choice is among these alone.{chosen} "
            "Baselines meet constraints by chance, they do not search for models that do.",
        )

    def _assessed(self, nets: _ElasticNets, models: NDArray[Any]) -> Pool:
        """The pool, without AUCs."""
        distinct, index = _distinct(models)
        names = nets.data.feature_names
        rows = self._constraint_rows(nets)
        points = distinct[:, 1:]
        sizes = np.count_nonzero(points, axis=1)
        signs = np.all((points >= nets.lower) & (points <= nets.upper), axis=1)
        size = sizes <= self._max_size(len(names))
        operational = np.array([not rows.broken(vector).size for vector in distinct])
        feasible = signs & size & operational & self._in_bounds(distinct)
        ratios, penalties = nets.instances
        return Pool(
            coefficients=models,
            l1_ratios=ratios,
            penalties=penalties,
            losses=_losses(nets.whole.design, distinct)[index],
            sizes=sizes[index],
            obeys_signs=signs[index],
            obeys_size=size[index],
            obeys_constraints=operational[index],
            is_feasible=feasible[index],
            mean_auc=np.full(len(models), np.nan),
        )

    def _constraint_rows(self, nets: _ElasticNets) -> ConstraintRows:
        """The constraints on models with any points of the given signs."""
        lower, upper = (
            np.where(ends == 0, 0, side * MAX_ABSOLUTE_COEFFICIENT)
            for ends, side in ((nets.lower, -1), (nets.upper, 1))
        )
        setting = Setting(nets.data.feature_names, lower, upper, nets.data)
        return ConstraintRows(checked_constraints(self.constraints), setting)

    def _max_size(self, n_features: int) -> int:
        if self.max_size is None:
            return n_features
        if not isinstance(self.max_size, numbers.Integral) or self.max_size < 0:
            raise ValueError(
                f"max_size must be an int of at least 0 or None, got {self.max_size!r}"
            )
        return int(self.max_size)

    def _nothing_feasible(self, pool: Pool) -> str:
        counts = _listed(pool.counts())
        return (
            f"none of the {len(pool)} models of {type(self).__name__} meets all requirements (how "
            f"many meet each kind: {counts}); allow a larger max_size or fewer constraints"
        )

    def _warn_unfinished(self, nets: _ElasticNets) -> None:
        if nets.n_unfinished:
            warnings.warn(
                f"the solver did not reach its tolerance for {nets.n_unfinished} of the elastic "
                "nets; their coefficients may be less accurate than the others'",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _converter(
        self, nets: _ElasticNets
    ) -> Callable[[_Sample, NDArray[np.float64]], NDArray[Any]]:
        """What makes models of the pool of elastic nets."""
        return _unchanged

    def _in_bounds(self, models: NDArray[Any]) -> NDArray[np.bool_]:
        """Which models are within their bounds: elastic nets have none."""
        return np.ones(len(models), dtype=bool)

    def _set_model(self, nets: _ElasticNets, coef: NDArray[Any]) -> None:
        self.coef_ = coef[np.newaxis, 1:]
        self.intercept_ = coef[:1]
        self.loss_ = float(_losses(nets.whole.design, coef[np.newaxis])[0])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute the log-odds of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0], dtype=np.float64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``: the second one is the risk.
        """
        log_odds = self.decision_function(X)
        return np.column_stack((expit(-log_odds), expit(log_odds)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            The positive class where its probability is above 50%.
        """
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _unchanged(sample: _Sample, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    return coefficients


class PenalizedLogisticRegression(_Baseline):
    r"""Penalised logistic regression, PLR of the paper: the best of 1,100 elastic nets.

    Parameters
    ----------
    max_size : int, optional
        Most non-zero coefficients, the intercept not counted. None: no limit.
    sign : {"+", "-", 1, -1, 0, None}, sequence of d of them, or mapping, optional
        Monotonicity constraints, as in :class:`~riskslim.CoefficientSet`. The elastic nets are
        fitted under them.
    constraints : iterable of Constraint, default ()
        Operational constraints. Elastic nets know nothing of them: models that break one are
        left out of the choice.
    l1_ratios : sequence of float, optional
        Mixing values :math:`\alpha`. None: 0, 0.1, ..., 1.
    n_penalties : int, default 100
        Penalties per mixing value.
    min_penalty_ratio : float, optional
        Smallest penalty as a share of the largest one. None: as in glmnet, 1e-4, or 0.01 if there
        are fewer rows than features.
    cv : int or splitter, default 5
        Folds that AUCs are computed on. An int: stratified and shuffled.
    random_state : int, RandomState or None, default 0
        Of the shuffling.
    n_jobs : int, optional
        Processes that fit paths and convert models; -1 for all cores.
    verbose : int, default 0
        0 is silent; 1 logs a line of progress per second at most, 2 one for each path and fold,
        to standard error where logging has no handlers.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
    intercept_ : ndarray of float64, shape (1,)
    classes_ : ndarray of shape (2,)
    loss_ : float
        Normalised logistic loss on the training data.
    pool_ : Pool
        All models, with what they were chosen by.
    n_feasible_ : int
        Number of models of the pool that meet all requirements.
    remarks_ : tuple of str
        Whether fewer than a tenth of the pool meet all requirements, or the model has no features;
        the latter is logged as a warning, too.
    best_index_ : int
        Position of the chosen one.
    l1_ratio_, penalty_ : float
        Its mixing value and penalty.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Where X has names that are all strings.

    Notes
    -----
    The chosen instance, a pair of mixing value and penalty, is the one with the largest mean AUC
    over the test folds among those whose model of all rows is feasible. Penalties are those of
    all rows (:func:`~riskslim.elastic_net.penalty_path`), in the folds too. For an estimate of
    the performance that is not biased by this choice, cross-validate the estimator: that is the
    nested cross-validation of the paper.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.baselines import PenalizedLogisticRegression
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> X, y = data.integer_columns, data.labels
    >>> model = PenalizedLogisticRegression(max_size=5, l1_ratios=[0.5, 1], n_penalties=20)
    >>> len(model.fit(X, y).pool_), int((model.coef_ != 0).sum()) <= 5
    (40, True)
    """

    def __init__(
        self,
        *,
        max_size: int | None = None,
        sign: str | PerFeature | None = None,
        constraints: Iterable[Constraint] = (),
        l1_ratios: Sequence[float] | None = None,
        n_penalties: int = 100,
        min_penalty_ratio: float | None = None,
        cv: Any = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_size = max_size
        self.sign = sign
        self.constraints = constraints
        self.l1_ratios = l1_ratios
        self.n_penalties = n_penalties
        self.min_penalty_ratio = min_penalty_ratio
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class _RiskScoreBaseline(_Baseline):
    """A method that ends in integers."""

    def __init__(
        self,
        *,
        max_size: int | None = 5,
        max_coef: int = 5,
        max_intercept: int = 100,
        sign: str | PerFeature | None = None,
        constraints: Iterable[Constraint] = (),
        l1_ratios: Sequence[float] | None = None,
        n_penalties: int = 100,
        min_penalty_ratio: float | None = None,
        cv: Any = 5,
        platt_scaling: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_size = max_size
        self.max_coef = max_coef
        self.max_intercept = max_intercept
        self.sign = sign
        self.constraints = constraints
        self.l1_ratios = l1_ratios
        self.n_penalties = n_penalties
        self.min_penalty_ratio = min_penalty_ratio
        self.cv = cv
        self.platt_scaling = platt_scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> _Settings:
        for name in ("max_coef", "max_intercept"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 0:
                raise ValueError(f"{name} must be an int of at least 0, got {value!r}")
        return super()._settings()

    def _box(self, names: Sequence[str]) -> CoefficientSet:
        """Coefficients that a risk score may have."""
        return CoefficientSet(
            names,
            -self.max_coef,
            self.max_coef,
            sign=self.sign,
            intercept_lower=-self.max_intercept,
            intercept_upper=self.max_intercept,
        )

    def _set_model(self, nets: _ElasticNets, coef: NDArray[Any]) -> None:
        data, names = nets.data, nets.data.feature_names
        coef = self._rounded(coef)
        super()._set_model(nets, coef)
        problem = RiskScoreProblem(
            LogisticLoss(data, self._box(names)),
            self._box(names),
            max_size=self._max_size(len(names)),
            constraints=self.constraints,
        )
        self.violations_ = tuple(problem.violations(coef))
        self.loss_ = problem.loss.value(coef)
        used = np.flatnonzero(coef[1:]).tolist()
        self.risk_score_ = RiskScore(
            int(coef[0]),
            {names[j]: int(coef[1 + j]) for j in used},
            outcome_name=data.outcome_name,
            classes=data.classes,
            feature_names=names,
            feature_ranges={names[j]: FeatureRange.of(data.column(j)) for j in used},
        )
        self.platt_slope_, self.platt_intercept_ = 1.0, 0.0
        if self.platt_scaling:
            design = nets.whole.design
            self.platt_slope_, self.platt_intercept_ = platt_scaling(
                design.values @ coef[1:] + coef[0],
                design.targets > 0,
                design.weights * data.total_weight,
            )

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        """Integers from the chosen model of the pool."""
        raise NotImplementedError("_rounded")

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute the log-odds of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
            Intercept and points; with Platt scaling, their linear function.
        """
        log_odds = super().decision_function(X)
        return np.asarray(self.platt_slope_ * log_odds + self.platt_intercept_)


class Rounding(_RiskScoreBaseline):
    r"""The best elastic net, rounded, Rd of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`rounding` makes integers of it. Coefficients below 0.5 in absolute value vanish, so that
    the score may have fewer features than ``max_size``, even none.

    Parameters
    ----------
    max_size : int, optional
        Most features with points, 5 by default. None: no limit.
    max_coef : int, default 5
        Largest absolute value of the points.
    max_intercept : int, default 100
        Largest absolute value of the intercept.
    sign, constraints, l1_ratios, n_penalties, min_penalty_ratio
        As in :class:`PenalizedLogisticRegression`.
    cv, random_state, n_jobs, verbose
        As in :class:`PenalizedLogisticRegression`.
    platt_scaling : bool, default False
        Predict with the logistic regression of the class on the score, fitted to the training
        data; points and ``risk_score_`` stay as they are.

    Attributes
    ----------
    coef_ : ndarray of int64, shape (1, d)
    intercept_ : ndarray of int64, shape (1,)
    risk_score_ : RiskScore
    violations_ : tuple of str
        Requirements that the risk score breaks, in words; rounding can break constraints.
    platt_slope_, platt_intercept_ : float
        1 and 0 without Platt scaling.
    classes_, loss_, pool_, n_feasible_, remarks_, best_index_, l1_ratio_, penalty_
        As in :class:`PenalizedLogisticRegression`. The pool is one of elastic nets.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.baselines import Rounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = Rounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([1]), array([-1]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return rounding(coef, self.max_coef)


class RescaledRounding(_RiskScoreBaseline):
    r"""The best elastic net, rescaled and rounded, RsRd of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`rescaled_rounding` makes integers of it. The largest coefficient becomes ``max_coef``.
    Where the coefficients of the elastic net are small, risks become more extreme than its own;
    Platt scaling takes that back.

    Parameters, attributes and notes are those of :class:`Rounding`.

    Examples
    --------
    >>> from riskslim.baselines import RescaledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = RescaledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([11]), array([-1, -5, -2, -2, -3]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return rescaled_rounding(coef, self.max_coef)


class UnitWeighting(_RiskScoreBaseline):
    r"""The signs of the best elastic net, Unit of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`unit_weights` makes integers of it. Every feature of the elastic net has one point, to
    add or to take away, and so has the intercept: with that the losses are those that the paper
    prints.

    Parameters, attributes and notes are those of :class:`Rounding`.

    Examples
    --------
    >>> from riskslim.baselines import UnitWeighting
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = UnitWeighting(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([1]), array([-1, -1, -1, -1, -1]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return unit_weights(coef)


class _PooledBaseline(_RiskScoreBaseline):
    """A method that makes a risk score of every elastic net, and chooses among these."""

    def __init__(
        self,
        *,
        polish: bool = True,
        max_size: int | None = 5,
        max_coef: int = 5,
        max_intercept: int = 100,
        l0_penalty: float = 1e-6,
        sign: str | PerFeature | None = None,
        constraints: Iterable[Constraint] = (),
        l1_ratios: Sequence[float] | None = None,
        n_penalties: int = 100,
        min_penalty_ratio: float | None = None,
        cv: Any = 5,
        platt_scaling: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_size=max_size,
            max_coef=max_coef,
            max_intercept=max_intercept,
            sign=sign,
            constraints=constraints,
            l1_ratios=l1_ratios,
            n_penalties=n_penalties,
            min_penalty_ratio=min_penalty_ratio,
            cv=cv,
            platt_scaling=platt_scaling,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.polish = polish
        self.l0_penalty = l0_penalty

    def _converter(
        self, nets: _ElasticNets
    ) -> Callable[[_Sample, NDArray[np.float64]], NDArray[Any]]:
        return partial(self._risk_scores, self._box(nets.data.feature_names))

    def _risk_scores(
        self, box: CoefficientSet, sample: _Sample, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        problem = sample.problem(box, self.l0_penalty)
        scores = self._integers(problem, coefficients)
        if not self.polish:
            return scores
        distinct, index = _distinct(scores)
        return np.stack([_polished(problem, vector) for vector in distinct])[index]

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Risk scores of elastic nets, before they are polished."""
        raise NotImplementedError("_integers")

    def _in_bounds(self, models: NDArray[Any]) -> NDArray[np.bool_]:
        limits = np.full(models.shape[1], self.max_coef)
        limits[0] = self.max_intercept
        return np.asarray((np.abs(models) <= limits).all(axis=1))

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return coef


def _polished(problem: RiskScoreProblem, coef: NDArray[np.int64]) -> NDArray[np.int64]:
    """Polish the intercept and the features that have points; no other feature gets any."""
    start = coef.clip(problem.lower, problem.upper)
    directions = np.concatenate(([0], 1 + np.flatnonzero(start[1:])))
    polished = discrete_coordinate_descent(
        problem, start, directions=directions.tolist(), max_iterations=_POLISHING_MOVES
    )
    assert polished.coefficients is not None
    return polished.coefficients


class PooledRounding(_PooledBaseline):
    r"""All elastic nets, rounded: PooledRd and PooledRd* of the paper.

    Every elastic net of the pool is rounded (:func:`rounding`); the choice is made among the risk
    scores.

    Parameters
    ----------
    polish : bool, default True
        Polish every risk score by :func:`~riskslim.discrete_coordinate_descent`, the star of the
        paper. Features without points get none, so that models do not grow. A score is moved 1000
        times at most, which only a ``max_coef`` beyond 1000 has use for.
    max_size : int, optional
        Most features with points, 5 by default. None: no limit.
    max_coef : int, default 5
        Largest absolute value of the points.
    max_intercept : int, default 100
        Largest absolute value of the intercept.
    l0_penalty : float, default 1e-6
        Price of a feature in the objective of the heuristics.
    sign, constraints, l1_ratios, n_penalties, min_penalty_ratio
        As in :class:`PenalizedLogisticRegression`.
    cv, random_state, n_jobs, verbose
        As in :class:`PenalizedLogisticRegression`.
    platt_scaling : bool, default False
        Predict with the logistic regression of the class on the score, fitted to the training
        data; points and ``risk_score_`` stay as they are.

    Attributes
    ----------
    coef_ : ndarray of int64, shape (1, d)
    intercept_ : ndarray of int64, shape (1,)
    risk_score_ : RiskScore
    violations_ : tuple of str
        Requirements that the risk score breaks, in words; none.
    platt_slope_, platt_intercept_ : float
        1 and 0 without Platt scaling.
    classes_, loss_, pool_, n_feasible_, remarks_, best_index_, l1_ratio_, penalty_
        As in :class:`PenalizedLogisticRegression`. The pool is one of risk scores.

    Notes
    -----
    The heuristics know of bounds and signs, not of ``max_size`` and ``constraints``: risk scores
    that break these are left out of the choice, as in the paper (Section 6).

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.baselines import PooledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([4]), array([-1, -1, -1, -2, -1]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return rounding(coefficients, self.max_coef)


class PooledRescaledRounding(_PooledBaseline):
    r"""All elastic nets, rescaled and rounded: PooledRsRd and PooledRsRd* of the paper.

    Every elastic net of the pool is rescaled and rounded (:func:`rescaled_rounding`); the choice is
    made among the risk scores.

    Parameters, attributes and notes are those of :class:`PooledRounding`.

    Examples
    --------
    >>> from riskslim.baselines import PooledRescaledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledRescaledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([8]), array([-1, -2, -3, -2, -2]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return rescaled_rounding(coefficients, self.max_coef)


class PooledSequentialRounding(_PooledBaseline):
    r"""All elastic nets, rounded sequentially: PooledSeqRd and PooledSeqRd* of the paper.

    Every elastic net of the pool is brought within the bounds and rounded one coefficient at a
    time (:func:`~riskslim.sequential_rounding`); the choice is made among the risk scores.

    Parameters, attributes and notes are those of :class:`PooledRounding`.

    Examples
    --------
    >>> from riskslim.baselines import PooledSequentialRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledSequentialRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_, model.coef_[model.coef_ != 0]
    (array([4]), array([-1, -1, -1, -2, -1]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        inside = coefficients.clip(problem.lower, problem.upper)
        return np.stack([_sequentially_rounded(problem, vector) for vector in inside])


def _sequentially_rounded(
    problem: RiskScoreProblem, coef: NDArray[np.float64]
) -> NDArray[np.int64]:
    rounded = sequential_rounding(problem, coef).coefficients
    assert rounded is not None, "every size is permitted"
    return rounded


METHODS: Mapping[str, Callable[..., _Baseline]] = MappingProxyType(
    {
        "PLR": PenalizedLogisticRegression,
        "Rd": Rounding,
        "RsRd": RescaledRounding,
        "Unit": UnitWeighting,
        "PooledRd": partial(PooledRounding, polish=False),
        "PooledRd*": partial(PooledRounding, polish=True),
        "PooledRsRd": partial(PooledRescaledRounding, polish=False),
        "PooledRsRd*": partial(PooledRescaledRounding, polish=True),
        "PooledSeqRd": partial(PooledSequentialRounding, polish=False),
        "PooledSeqRd*": partial(PooledSequentialRounding, polish=True),
    }
)
"""Estimators by the names that the paper gives them; call one with further parameters."""


def fit_baselines(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    methods: Iterable[str] = tuple(METHODS),
    **parameters: Any,
) -> dict[str, Any]:
    """Fit several methods to the same elastic nets.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
    methods : iterable of str
        Names of the paper, keys of :data:`METHODS`. Default: all of them.
    **parameters
        Of the estimators; each one gets those that it has. ``max_size=5`` where none is given.

    Returns
    -------
    dict from str to estimator
        In the order of ``methods``. Each one is what its own ``fit`` would have made of the data,
        but for rounding errors; fitting the elastic nets, most of the work, is done once.

    Raises
    ------
    ValueError
        A method that does not exist, data that are refused, or no feasible model in a pool.
    TypeError
        A parameter that none of the methods has.

    Examples
    --------
    >>> from riskslim.baselines import fit_baselines
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> fitted = fit_baselines(
    ...     data.integer_columns, data.labels, methods=["Rd", "PooledRd*"], n_penalties=10
    ... )
    >>> fitted["PooledRd*"].loss_ < fitted["Rd"].loss_
    True
    """
    names = list(methods)
    unknown = [repr(name) for name in names if name not in METHODS]
    if unknown or not names:
        raise ValueError(
            f"methods must be some of {listing(METHODS)}; got {listing(unknown) or 'none'}"
        )
    parameters = {"max_size": 5} | parameters
    fitted = {name: METHODS[name]() for name in names}
    known = {key for model in fitted.values() for key in model.get_params()}
    if wrong := sorted(set(parameters) - known | {"polish"} & set(parameters)):
        raise TypeError(f"the methods {listing(names)} have no parameter {listing(wrong)}")
    nets = None
    for model in fitted.values():
        model.set_params(**{k: v for k, v in parameters.items() if k in model.get_params()})
        own = model._elastic_nets(X, y, sample_weight)
        nets = nets or own
        model._fit(nets)
    return fitted
