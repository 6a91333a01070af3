r"""The risk score problem: what is minimised, and over which vectors."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_int
from riskslim.coefficients import CoefficientSet, PerFeature, per_feature
from riskslim.constraints.allowed_points import points_in
from riskslim.constraints.base import INTERCEPT, Constraint, Setting
from riskslim.constraints.linear import model_size
from riskslim.constraints.rows import ConstraintRows, checked_constraints, clash
from riskslim.data.training_data import TrainingData
from riskslim.loss.logistic import LogisticLoss
from riskslim.loss.marginal_directions import marginal_directions
from riskslim.loss.sharing import take_over_work
from riskslim.problem.remarks import remarks_on
from riskslim.problem.requirements import requirements_of
from riskslim.scale import PAPER_SCALE, ScaleLike, ScaleSet, fewest_digits

if TYPE_CHECKING:
    from riskslim.constraints.rate_checks import RateCheck
    from riskslim.constraints.share_checks import OperatingPointCheck
    from riskslim.score.requirements import Requirement

__all__ = ["DEFAULT_L0_PENALTY", "RiskScoreProblem", "checked_ridge", "checked_size"]

# A penalty above the loss of the empty model (log 2, or less with an intercept) already rules a
# feature out; beyond this the loss would vanish in the rounding of the objective.
MAX_PENALTY = 1e4
# Ridge penalties below it change no objective that is printed or compared: they are none.
LEAST_RIDGE = 1e-30
# Small enough that it decides among scores of equal loss only, and is a price all the same.
DEFAULT_L0_PENALTY = 1e-6
# Objectives of equivalent scores differ by rounding errors only.
_SAME_OBJECTIVE = 1e-12


class RiskScoreProblem:
    r"""The risk score problem of Ustun & Rudin (2019), Definition 1.

    .. math::

        \min_{\lambda \in \mathcal{L}} \; l(\lambda) + \sum_{j=1}^{d} C_{0,j}
        \mathbb{1}[\lambda_j \ne 0] + \sum_{j=1}^{d} \alpha_j \lambda_j^2
        \quad \text{subject to} \quad R^{\min} \le \|\lambda_{[1,d]}\|_0 \le R^{\max}

    with the normalised logistic loss :math:`l`, and to constraints on points, on which
    features are used and on risks, where there are any. The intercept :math:`\lambda_0` is neither
    penalised nor counted. The paper's loss has the scale m = 1; where a set of scales is given,
    the loss is :math:`l(\lambda / m)`, and it is minimised over :math:`\lambda` and m in the set.
    The paper's problem has no ridge penalty, :math:`\alpha = 0`; where there is one, it is on the
    weights in log-odds, :math:`\lambda_j / m`, so that it means the same at every scale.

    Parameters
    ----------
    data : TrainingData
    coefficients : CoefficientSet
        One interval per feature of ``data``, in the same order.
    max_size : int, optional
        Largest model size (number of non-zero coefficients, intercept apart). None: d.
    min_size : int, default 0
        Smallest model size.
    l0_penalty : float, default 1e-6
        :math:`C_0 \ge 0` of the features that have none of their own in ``coefficients``.
        With a value this small the problem is to find the lowest loss within ``max_size``,
        and the fewest features among equal losses.
    l2_penalty : float, sequence of d floats, or mapping from names to floats, default 0
        :math:`\alpha_j \ge 0`; features that a mapping leaves out have none. Below 1e-30 it is
        taken for 0: no objective would show it. With n the total weight of the rows, the best score
        is the most probable one if weights have a normal distribution around 0 with the variance
        :math:`1 / (2 \alpha n)` beforehand.
    constraints : iterable of Constraint, optional
        Further requirements, all of which must be met, from :func:`~riskslim.at_most` and its
        like; see docs/constraints.md. Where they bear on the intercept, its derived bounds are
        widened so that they still hold an optimal one.
    scale : number, list of numbers, tuple (low, high), "free" or ScaleSet, default 1
        The scale m, or all that it may be; see :class:`~riskslim.scale.ScaleSet`.
    n_threads : int, default 1
        Threads that state the problem; -1 for all cores. A search has its own number of them.
    compress : {"auto", True, False}
        As in :class:`~riskslim.LogisticLoss`.

    Attributes
    ----------
    loss : LogisticLoss
    coefficients : CoefficientSet
        With constant features left out and the intercept's bounds filled in.
    max_size, min_size : int
        ``max_size`` is at most the number of features that can be used.
    l0_penalty, l2_penalty : ndarray of float64, shape (d,)
    has_ridge : bool
        Whether the objective has a ridge penalty.
    lower, upper : ndarray of int64, shape (d + 1,)
        Bounds of the coefficient vector, intercept first.
    scales : ScaleSet
    constraints : tuple of Constraint
    constraint_rows : ConstraintRows or None
        The constraints by position of their features, and points that the coefficient set leaves
        out; None without either.
    rows_with_size : ConstraintRows or None
        The same with one more row, the limits of the model size.

    Raises
    ------
    TypeError, ValueError
        Arguments of the wrong kind, sizes or penalties out of range, names that differ from
        the data's, constraints on features that do not exist or on
        risks where the scale is any of an interval.

    Notes
    -----
    A problem without a feasible vector can be built: :attr:`infeasibility` says why, and
    the engines return status INFEASIBLE.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> X, y = [[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0]
    >>> data = TrainingData(X, y, feature_names=["a", "b"])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients, max_size=1)
    >>> problem.is_feasible([-1, 2, 0]), problem.is_feasible([-1, 2, 1])
    (True, False)
    >>> round(problem.objective([-1, 2, 0]), 6)
    0.313263
    """

    def __init__(
        self,
        data: TrainingData,
        coefficients: CoefficientSet,
        *,
        max_size: int | None = None,
        min_size: int = 0,
        l0_penalty: float = DEFAULT_L0_PENALTY,
        l2_penalty: PerFeature = 0.0,
        constraints: Iterable[Constraint] = (),
        scale: ScaleLike = PAPER_SCALE,
        n_threads: int = 1,
        compress: bool | Literal["auto"] = "auto",
    ) -> None:
        if not isinstance(data, TrainingData):
            raise TypeError(
                f"data must be TrainingData, got {type(data).__name__}: "
                "RiskScoreProblem(TrainingData(X, y), coefficients, max_size=5)"
            )
        if not isinstance(coefficients, CoefficientSet):
            raise TypeError(
                f"coefficients must be a CoefficientSet, got {type(coefficients).__name__}"
            )
        min_size = checked_size(min_size, "min_size", len(coefficients))
        most = _largest_size(max_size, min_size, len(coefficients))
        loss = LogisticLoss(
            data, coefficients, max_size=most, n_threads=n_threads, compress=compress, scale=scale
        )
        # What `restated` repeats: below, all of it is resolved for these data and this size.
        self._stated: dict[str, Any] = {
            "max_size": max_size, "min_size": min_size, "l0_penalty": l0_penalty,
            "l2_penalty": l2_penalty, "compress": compress,
        }  # fmt: skip
        self._stated_coefficients = coefficients
        self._stated_constraints = checked_constraints(constraints)
        self._points: dict[str, tuple[int, int]] = {}
        self.l0_penalty = _resolved_penalty(loss.coefficients, l0_penalty)
        self.l2_penalty = checked_ridge(l2_penalty, coefficients.feature_names)
        self.has_ridge = bool(self.l2_penalty.any())  # asked for at every objective
        self.min_size = min_size
        self._resolve(loss)

    def _resolve(self, loss: LogisticLoss) -> None:
        """Derive all that depends on the rows and on the size limit."""
        self._stated_loss = self.loss = loss
        position = self._stated_coefficients.index
        own = {position(name): ends for name, ends in self._points.items()}
        self.coefficients = loss.coefficients.replace(within=own)
        self.max_size = loss.max_size
        # Of a problem at one of them as well.
        self.stated_scales = loss.scales
        self._set_constraints()
        # Constraints may have moved the intercept's derived bounds.
        derived = self.loss.coefficients
        assert derived.intercept_lower is not None
        assert derived.intercept_upper is not None
        self._bound_intercept(derived.intercept_lower, derived.intercept_upper)

    def _bound_intercept(self, low: int, high: int) -> None:
        self.coefficients = self.coefficients.replace(intercept_lower=low, intercept_upper=high)
        self.lower = _prepend(low, self.coefficients.lower)
        self.upper = _prepend(high, self.coefficients.upper)

    def _set_constraints(self) -> None:
        """Resolve the constraints, and widen the intercept's range to where they can push it."""
        self.constraints = self._on_rows(self._stated_constraints)
        scales = self.scales
        if scales.is_interval:
            _check_no_scale(self.constraints, scales)
        if self.is_constrained_per_scale:
            assert scales.values is not None
            every = [self._rows(self.constraints, scale) for scale in scales.values]
        else:
            every = [self._rows(self.constraints, self.loss.scale)]
        bounds = self.coefficients.lower, self.coefficients.upper
        reached = [rows.intercept_levels(*bounds, self.max_size) for rows in every]
        self.loss = self.loss.reaching(min(low for low, _ in reached), max(h for _, h in reached))
        self._use_constraints(None if self.is_constrained_per_scale else every[0])

    def _on_rows(self, constraints: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
        """Constraints with those that only the rows state in full replaced by what they are."""
        trends = functools.cache(lambda: marginal_directions(self.loss))
        setting = dataclasses.replace(self._setting(self.loss.scale), trends=trends)
        return tuple(one for given in constraints for one in given.on(setting))

    def _setting(self, scale: float) -> Setting:
        coefficients = self.coefficients
        return Setting(
            coefficients.feature_names, coefficients.lower, coefficients.upper,
            self.loss.data, scale,
        )  # fmt: skip

    def _use_constraints(self, rows: ConstraintRows | None = None) -> None:
        """Set the rows that hold at all scales of the problem, where they are not known yet."""
        constraints = self.constraints
        if self.is_constrained_per_scale:
            constraints = tuple(one for one in constraints if not one.depends_on_scale)
        self.constraint_rows = self.rows_with_size = None
        gaps = self.coefficients.gaps
        if constraints or gaps:
            if rows is None:
                rows = self._rows(constraints, self.loss.scale)
            self.constraint_rows = rows
            size = model_size(
                min(self.min_size, self.max_size),  # otherwise infeasible for that alone
                self.max_size,
                name=f"model size {self.min_size} to {self.max_size}",
            )
            self.rows_with_size = self.constraint_rows.including(size)

    def _rows(self, constraints: tuple[Constraint, ...], scale: float) -> ConstraintRows:
        """Constraints at a scale, and what the coefficient set asks for beside its bounds."""
        gaps = [points_in(name, values) for name, values in self.coefficients.gaps.items()]
        return ConstraintRows((*gaps, *constraints), self._setting(scale))

    @property
    def is_constrained_per_scale(self) -> bool:
        """True if there are several scales, and constraints that differ from scale to scale.

        Those are looked at by the problem of each scale, :meth:`at_scale`, alone.
        """
        several = not self.scales.is_single
        return several and any(constraint.depends_on_scale for constraint in self.constraints)

    @property
    def rates(self) -> tuple[RateCheck | OperatingPointCheck, ...]:
        """Constraints on the scores of the training records that are no linear rows."""
        return () if self.constraint_rows is None else self.constraint_rows.checks

    @property
    def n_features(self) -> int:
        """Number of features d, the intercept not counted."""
        return len(self.coefficients)

    @property
    def scales(self) -> ScaleSet:
        """Scales that the risk score may have."""
        return self.loss.scales

    def at_scale(self, scale: float) -> RiskScoreProblem:
        """The same problem with one scale.

        Parameters
        ----------
        scale : float
            Between the smallest and the largest one of ``scales``.

        Returns
        -------
        RiskScoreProblem
            With the same bounds; its loss has counters of its own.

        Raises
        ------
        ValueError
            The scale is beyond those that intercept bounds were derived for.
        """
        other = copy.copy(self)
        other.loss = self.loss.at_scale(scale)
        if self.is_constrained_per_scale:
            other._use_constraints()
        return other

    @property
    def open_intercepts(self) -> tuple[bool, bool]:
        """Say of the intercept's lower and upper bound whether it is derived, not given."""
        given = self._stated_coefficients
        return given.intercept_lower is None, given.intercept_upper is None

    def reaching(self, least: int, most: int) -> RiskScoreProblem:
        """The same problem with derived intercept bounds that hold some intercepts at least.

        Parameters
        ----------
        least, most : int
            The intercepts. Bounds that were given stay as they are.

        Returns
        -------
        RiskScoreProblem

        Raises
        ------
        ValueError
            They are too large.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
        >>> coefficients = CoefficientSet(data.feature_names, -3, 3, intercept_upper=2)
        >>> problem = RiskScoreProblem(data, coefficients)
        >>> wide = problem.reaching(-20, 20).coefficients
        >>> wide.intercept_lower, wide.intercept_upper
        (-20, 2)
        """
        own = self.coefficients.intercept_lower, self.coefficients.intercept_upper
        assert own[0] is not None
        assert own[1] is not None
        lower_is_open, upper_is_open = self.open_intercepts
        low = min(own[0], least) if lower_is_open else own[0]
        high = max(own[1], most) if upper_is_open else own[1]
        other = copy.copy(self)
        if (low, high) != own:
            other.loss = self.loss.reaching(low, high)
            other._bound_intercept(low, high)
        return other

    def without_rates(self) -> RiskScoreProblem:
        """The same problem without its constraints on rates: a relaxation.

        Returns
        -------
        RiskScoreProblem
            With the same bounds, those of the intercept included.

        Raises
        ------
        ValueError
            Constraints differ from scale to scale: they are those of :meth:`at_scale` alone.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
        >>> from riskslim import false_positive_rate_at_most
        >>> data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
        >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
        >>> limit = false_positive_rate_at_most(0.1, 0.5)
        >>> problem = RiskScoreProblem(
        ...     data, coefficients, constraints=[limit])
        >>> problem.is_feasible([0, 0]), problem.without_rates().is_feasible([0, 0])
        (False, True)
        """
        if self.is_constrained_per_scale:
            raise ValueError(
                "constraints differ between the scales "
                f"{self.scales.describe()}: choose one with problem.at_scale(m)"
            )
        other = copy.copy(self)
        rows = self.constraint_rows
        if rows is not None:
            about_rates = [rows.constraints[i] for i in rows.about_records]
            other.constraints, other._stated_constraints = (
                tuple(one for one in listed if not any(one is rate for rate in about_rates))
                for listed in (self.constraints, self._stated_constraints)
            )
            other._use_constraints()
        return other

    def restated(
        self,
        data: TrainingData | None = None,
        *,
        max_size: int | None = None,
        points: Mapping[str, tuple[int, int]] | None = None,
    ) -> RiskScoreProblem:
        """State the same requirements for other rows, another largest model size, or fewer points.

        All that is derived from the data, as the intercept's bounds are, is derived anew. The prior
        stays as strong as it is: ``l2_penalty`` times the total weight of the rows is the same, so
        that folds have the prior of the whole.

        Parameters
        ----------
        data : TrainingData, optional
            With the same features. Default: the data of this problem.
        max_size : int, optional
            Default: the same, or the number of features that the new data can use.
        points : mapping from str to tuple of two int, optional
            Least and largest points of some features, within the bounds that they have.

        Returns
        -------
        RiskScoreProblem

        Raises
        ------
        ValueError
            The features are others, ``max_size`` is below ``min_size``, or a feature can have no
            points that it is to have.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, [0, 1, 1, 0])
        >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
        >>> problem = RiskScoreProblem(data, coefficients)
        >>> problem.max_size, problem.restated(max_size=1).max_size
        (2, 1)
        >>> problem.restated(points={"a": (0, 0)}).is_feasible([0, 1, 0])
        False
        """
        narrowed = dict(self._points)
        for name, (least, most) in (points or {}).items():
            low, high = narrowed.get(name, (least, most))
            narrowed[name] = max(low, least), min(high, most)
        stated = self._stated if max_size is None else self._stated | {"max_size": max_size}
        if data is not None:
            if self.has_ridge:
                ratio = self.loss.data.total_weight / data.total_weight
                # Beyond the largest penalty there are no points either.
                stated = stated | {"l2_penalty": np.minimum(self.l2_penalty * ratio, MAX_PENALTY)}
            other = RiskScoreProblem(
                data,
                self._stated_coefficients,
                constraints=self._stated_constraints,
                scale=self.scales,
                n_threads=self.loss.n_threads,
                **stated,
            )
            return other.restated(points=narrowed) if narrowed else other
        # Rows that are merged, and their bits, are shared.
        size = _largest_size(stated["max_size"], self.min_size, len(self.coefficients))
        other = copy.copy(self)
        other._stated, other._points = stated, narrowed
        other._resolve(self._stated_loss.with_scales(self.scales).for_size(size))
        return other

    def _given_intercepts(self) -> set[int]:
        given = self._stated_coefficients
        return {end for end in (given.intercept_lower, given.intercept_upper) if end is not None}

    @property
    def intercept_is_derived(self) -> bool:
        """True if both bounds of the intercept are derived from the data, none given."""
        return all(self.open_intercepts)

    @property
    def required(self) -> NDArray[np.bool_]:
        """Features whose bounds exclude zero, shape (d,)."""
        return (self.lower[1:] > 0) | (self.upper[1:] < 0)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Features that can have a non-zero coefficient, shape (d,)."""
        return _usable(self.coefficients)

    @property
    def infeasibility(self) -> str | None:
        """Reason why no coefficient vector is feasible; None if there is one."""
        n_required = int(np.count_nonzero(self.required))
        n_usable = int(np.count_nonzero(self.usable))
        if n_required > self.max_size:
            names = [self.coefficients.feature_names[j] for j in np.flatnonzero(self.required)]
            return (
                f"the bounds of {n_required} features exclude zero ({', '.join(names[:5])}"
                f"{', ...' if n_required > 5 else ''}), but max_size is {self.max_size}"
            )
        if n_usable < self.min_size:
            return f"min_size is {self.min_size}, but only {n_usable} features can be used"
        return self._conflict()

    def _conflict(self) -> str | None:
        """Constraints that propagation alone finds to be impossible, in words."""
        rows = self.rows_with_size
        if rows is None:
            return None
        names = rows.contradiction(self.lower, self.upper)
        return None if names is None else clash(names)

    def objective(self, coef: ArrayLike, *, scale: float | None = None) -> float:
        """Loss plus penalty of a coefficient vector, feasible or not, at its best scale.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.
        scale : float, optional
            The scale to use. None: the best one of ``scales``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            Wrong length or values that are not finite.
        """
        vector = np.asarray(coef)
        if scale is None:
            scale = self.best_scale(vector)
        loss = self.loss
        if scale == loss.scale:
            return loss.value(vector) + self.penalty(vector)
        scaled = loss.at_scale(scale)
        value = scaled.value(vector)
        take_over_work(loss, scaled)
        return value + self.penalty(vector, scale=scale)

    def best_scale(self, coef: ArrayLike) -> float:
        """The scale of ``scales`` at which the objective of a vector is least.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        float
            As :meth:`LogisticLoss.best_scale` finds it, to which the ridge penalty is added.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.

        Examples
        --------
        >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0, 1, 0]}, [0, 1, 1, 0, 0, 1])
        >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
        >>> for alpha in (0.0, 0.01):
        ...     problem = RiskScoreProblem(data, coefficients, scale="free", l2_penalty=alpha)
        ...     print(round(problem.best_scale([-1, 2]), 3))
        1.443
        1.948
        """
        return self.loss.best_scale(coef, ridge=self.sum_of_squares(coef))

    def reported_scale(self, coef: ArrayLike) -> float:
        """The best scale of a vector, with as few digits as the objective allows.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        float
            Within an interval of scales it is rounded as far as the objective stays within a
            share of :data:`~riskslim.scale.SCALE_TOLERANCE` of the best scale's.
        """
        vector, scales = np.asarray(coef), self.scales
        best = self.best_scale(vector)
        if not scales.is_interval:
            return best
        limit = self.objective(vector, scale=best) * (1.0 + scales.tolerance)
        return fewest_digits(best, scales, lambda m: self.objective(vector, scale=m) <= limit)

    def smallest_points(self, coef: NDArray[np.int64]) -> NDArray[np.int64]:
        """The smallest points that say the same as a feasible vector.

        Points and scale can be divided by the same number without a change of any risk, if both
        scales are in the set. Smaller points whose best scale is another one have other risks,
        however little their objective differs: they are another score.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)

        Returns
        -------
        ndarray of int64, shape (d + 1,)
            Divided by the largest common divisor that leaves the vector feasible, and all risks as
            they are, each vector at its best scale.
        """
        divisor = int(np.gcd.reduce(coef))
        if self.scales.is_single or divisor < 2:
            return coef
        # Of an intercept alone it can be beyond 1e8.
        low = [k for k in range(1, math.isqrt(divisor) + 1) if divisor % k == 0]
        for k in sorted({*low, *(divisor // k for k in low)} - {1}, reverse=True):
            smaller = coef // k
            if self.is_feasible(smaller) and self._has_risks_of(smaller, k, coef):
                return smaller
        return coef

    def _has_risks_of(self, smaller: NDArray[np.int64], k: int, coef: NDArray[np.int64]) -> bool:
        """True if points that are a k-th of others have their risks, both at a best scale.

        Those of the smaller points are risks of the larger ones if these can have k times the
        scale. That they are the best of the larger ones, too, is seen from the objective: where it
        is flat, scales that are told apart by rounding errors are equally good.
        """
        scales = self.scales
        scale = k * self.best_scale(smaller)
        if scales.values is None:
            is_allowed = scale <= scales.high * (1.0 + _SAME_OBJECTIVE)
        else:
            is_allowed = bool(np.isclose(scale, scales.values, rtol=1e-12, atol=0).any())
        limit = self.objective(coef) * (1.0 + _SAME_OBJECTIVE)
        return is_allowed and self.objective(smaller) <= limit

    def penalty(self, coef: ArrayLike, *, scale: float | None = None) -> float:
        r"""Price of the features used, and ridge penalty; the intercept has none.

        .. math:: \sum_j C_{0,j} \mathbb{1}[\lambda_j \ne 0] + \alpha_j (\lambda_j / m)^2

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
        scale : float, optional
            The scale m. None: that of ``loss``, which is the only one of problems with one scale.

        Returns
        -------
        float
        """
        used = np.asarray(coef)[1:] != 0
        prices = math.fsum(self.l0_penalty[used])
        return prices + self.ridge(coef, scale=scale) if self.has_ridge else prices

    def ridge(self, coef: ArrayLike, *, scale: float | None = None) -> float:
        r"""Ridge penalty, :math:`\sum_j \alpha_j (\lambda_j / m)^2`.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
        scale : float, optional
            As in :meth:`penalty`.

        Returns
        -------
        float
        """
        return self.sum_of_squares(coef) / (self.loss.scale if scale is None else scale) ** 2

    def sum_of_squares(self, coef: ArrayLike) -> float:
        r"""Ridge penalty at the scale 1, :math:`\sum_j \alpha_j \lambda_j^2`.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        float
        """
        if not self.has_ridge:
            return 0.0
        return math.fsum(self.l2_penalty * np.asarray(coef, np.float64)[1:] ** 2)

    @property
    def point_ridge(self) -> NDArray[np.float64]:
        """Ridge penalty of one point of each feature at the scale of ``loss``, shape (d,)."""
        return self.l2_penalty / self.loss.scale**2

    def model_size(self, coef: ArrayLike) -> int:
        """Number of non-zero coefficients, the intercept not counted.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        int
        """
        return int(np.count_nonzero(np.asarray(coef)[1:]))

    def is_feasible(self, coef: ArrayLike) -> bool:
        """True if a vector is integer, within bounds, of a permitted size, and as constrained.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        bool
        """
        return not self.violations(coef)

    def violations(self, coef: ArrayLike) -> list[str]:
        """Every requirement that a vector breaks, in words.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        list of str
            Empty if the vector is feasible.
        """
        vector = np.asarray(coef)
        if vector.shape != self.lower.shape:
            return [f"{vector.shape} coefficients, expected shape {self.lower.shape}"]
        if not np.all(np.isfinite(vector)):
            return ["coefficients that are not finite"]
        names = (INTERCEPT, *self.coefficients.feature_names)
        found = [
            f"coefficient of {names[j]!r} is {vector[j]!r}, not an integer"
            for j in np.flatnonzero(vector != np.rint(vector))
        ]
        found += [
            f"coefficient of {names[j]!r} is {vector[j]}, outside of "
            f"{self.lower[j]}..{self.upper[j]}"
            for j in np.flatnonzero((vector < self.lower) | (vector > self.upper))
        ]
        size = self.model_size(vector)
        if not self.min_size <= size <= self.max_size:
            found.append(f"model size is {size}, outside of {self.min_size}..{self.max_size}")
        if self.constraint_rows is not None:
            found += self.constraint_rows.violations(vector)
        return found

    def requirements(self, coef: ArrayLike) -> tuple[Requirement, ...]:
        """Say in words what is asked of a risk score, and whether one meets it.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first, as in ``solution.coef``.

        Returns
        -------
        tuple of Requirement
            With ``text``, ``is_met`` and ``violation``: size, bounds and signs, points that are
            fixed or given, prices, scales, and constraints in their order. Of a problem with
            several scales and constraints that depend on them, of :meth:`at_scale` alone.

        Raises
        ------
        ValueError
            Wrong length.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
        >>> data = TrainingData({"age >= 60": [0, 1, 1, 0], "smoker": [0, 1, 0, 1]}, [0, 1, 1, 0])
        >>> coefficients = CoefficientSet(
        ...     data.feature_names, sign={"smoker": "+"}, intercept_lower=-9, intercept_upper=9
        ... )
        >>> problem = RiskScoreProblem(data, coefficients, max_size=1)
        >>> for requirement in problem.requirements([-1, 2, -1]):
        ...     print(requirement)
        ✗ not met: model size 0 to 1 (model size is 2)
        ✓ met: intercept from -9 to 9
        ✓ met: points from -5 to 5: 'age >= 60'
        ✗ not met: sign +, points from 0 to 5: 'smoker' (broken by 'smoker' (-1))
        """
        vector = np.asarray(coef)
        if vector.shape != self.lower.shape:
            raise ValueError(f"coef has shape {vector.shape}, expected {self.lower.shape}")
        return requirements_of(self, vector)

    def remarks(self, coef: ArrayLike, *, scale: float | None = None) -> tuple[str, ...]:
        """Say in words what is worth knowing about a risk score of this problem.

        An optimal score can be a poor one because of what it was allowed to be: features whose
        unit is so small that one point is too much, bounds that it runs into. This method names
        such requirements; none of them makes the certificate less valid.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first, as in ``solution.coef``.
        scale : float, optional
            That of the score, ``solution.scale``; it matters where there are several, and
            constraints depend on them. Default: the best one with which these are met.

        Returns
        -------
        tuple of str
            One sentence or two for each: no feature has points; features with points have values
            that look like codes, such as -9 or 999; one point per unit spans more than
            10 units of log-odds over the values of a feature that the score can choose and that
            is not 0/1, at any scale; points or intercept are at a bound that was given, other than
            a bound that forces the feature into the score; the scale is at an end of its interval;
            at the scale 1, all of several 0/1 features, or three of four, have 1 or -1 points
            though more are allowed; by how much the loss of these features falls at a better scale
            than the one that is fixed, with the ridge penalty where there is one;
            classes were weighted, or weights of the rows change the odds of the outcome by a
            factor of 1.5 or more, so that risks are those of the weighted rows; all rows with a
            feature have one outcome; constraints on rates make all risks too high or too low, or
            are met by predicting nearly all rows alike. Empty if there is nothing to say.

        Raises
        ------
        ValueError
            Wrong length.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
        >>> data = TrainingData({"BMI": [18, 58, 24, 30], "smoker": [0, 1, 0, 1]}, [0, 1, 1, 0])
        >>> coefficients = CoefficientSet(data.feature_names, -5, 5)
        >>> problem = RiskScoreProblem(data, coefficients)
        >>> for remark in problem.remarks([0, 0, 1]):
        ...     print(remark)
        One point per unit spans 40 units of log-odds for 'BMI' (18 to 58, divide it by 10). That is
        too coarse: divide, or use cut-offs such as 'BMI >= 27'.
        """
        vector = np.asarray(coef)
        if vector.shape != self.lower.shape:
            raise ValueError(f"coef has shape {vector.shape}, expected {self.lower.shape}")
        return remarks_on(self, vector, self._given_intercepts(), scale)

    def __repr__(self) -> str:
        return (
            f"RiskScoreProblem({self.loss.data.n_samples} rows, {self.n_features} features, "
            f"size {self.min_size}..{self.max_size}, "
            f"coefficients {self.lower[1:].min(initial=0)}..{self.upper[1:].max(initial=0)}, "
            f"intercept {self.lower[0]}..{self.upper[0]}{self._count_of_constraints()})"
        )

    def _count_of_constraints(self) -> str:
        count = len(self.constraints)
        return f", {count} constraint{'s' if count > 1 else ''}" if count else ""


def _largest_size(max_size: Any, min_size: int, n_features: int) -> int:
    size = n_features if max_size is None else checked_size(max_size, "max_size", None)
    if size < min_size:
        raise ValueError(f"max_size {size} is smaller than min_size {min_size}")
    return size


def _usable(coefficients: CoefficientSet) -> NDArray[np.bool_]:
    return np.asarray((coefficients.lower != 0) | (coefficients.upper != 0))


def _check_no_scale(constraints: tuple[Constraint, ...], scales: ScaleSet) -> None:
    for constraint in constraints:
        if constraint.depends_on_scale:
            raise ValueError(
                f"the constraint ({constraint.label}) says another thing at every scale, and the "
                f"scale may be any number from {scales.describe()}: give one scale or a list of "
                "them"
            )


def _resolved_penalty(coefficients: CoefficientSet, l0_penalty: Any) -> NDArray[np.float64]:
    try:
        price = float(l0_penalty)
    except (TypeError, ValueError):
        raise TypeError(
            f"l0_penalty must be one number, got {type(l0_penalty).__name__}; prices per feature "
            "are given to CoefficientSet(..., l0_penalty=...)"
        ) from None
    if not 0 <= price <= MAX_PENALTY:
        raise ValueError(f"l0_penalty must be between 0 and {MAX_PENALTY:g}, got {l0_penalty!r}")
    own = coefficients.l0_penalty
    resolved: NDArray[np.float64] = np.where(np.isnan(own), price, own)
    if np.any(resolved > MAX_PENALTY):
        name = coefficients.feature_names[int(np.argmax(resolved))]
        raise ValueError(f"l0_penalty of {name!r} must be at most {MAX_PENALTY:g}")
    resolved.setflags(write=False)
    return resolved


def checked_ridge(
    l2_penalty: Any, names: tuple[str, ...], what: str = "l2_penalty", weight: float = 1.0
) -> NDArray[np.float64]:
    """Check ridge penalties as users give them.

    Parameters
    ----------
    l2_penalty : float, sequence of d floats, or mapping from names to floats
    names : tuple of str
        Of the d features.
    what : str, default "l2_penalty"
        How errors call it.
    weight : float, default 1.0
        What is given is this many times the penalty: the total weight of the rows, where it is the
        strength of the prior.

    Returns
    -------
    ndarray of float64, shape (d,)
        The penalties, 0 where they are below LEAST_RIDGE; read-only.

    Raises
    ------
    TypeError, ValueError
        No numbers, too many or too few of them, numbers that are negative or too large, or names
        that no feature has.
    """
    given = per_feature(l2_penalty, names, 0.0, what)
    try:
        resolved = np.array([float(value) for value in given], np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be numbers, got {l2_penalty!r}") from None
    most = MAX_PENALTY * weight
    for name, value in zip(names, resolved.tolist(), strict=True):
        if not 0 <= value <= most:
            raise ValueError(f"{what} of {name!r} must be between 0 and {most:g}, got {value!r}")
    resolved /= weight
    resolved[resolved < LEAST_RIDGE] = 0.0
    resolved.setflags(write=False)
    return resolved


def checked_size(size: Any, what: str, most: int | None) -> int:
    """Check a number of features as users give it.

    Parameters
    ----------
    size : int
    what : str
        Name of the parameter.
    most : int or None
        Number of features there are, where it must not be exceeded.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        No int, negative, or too large.
    """
    number = as_int(size, what)
    if number < 0 or (most is not None and number > most):
        expected = "at least 0" if most is None else f"between 0 and the {most} features"
        raise ValueError(f"{what} must be {expected}, got {number}")
    return number


def _prepend(first: int, rest: NDArray[np.int64]) -> NDArray[np.int64]:
    joined = np.concatenate(([first], rest)).astype(np.int64)
    joined.setflags(write=False)
    return joined
