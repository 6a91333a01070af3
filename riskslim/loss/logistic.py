r"""The normalised logistic loss of integer scores, and what can be proven about it.

:class:`LogisticLoss` is the only object that evaluates the loss. It owns the choice between
two forms (:func:`choose_form`):

``lookup_table``
    Integer coefficients on integer features have integer scores in a proven range. One pass
    counts the rows of each score; the loss is a table of :math:`\log(1 + e^{-|s|})` times these
    counts (Ustun & Rudin 2019, Section "Fast Loss Evaluation via a Lookup Table").
``real_valued``
    Everything else: stable exponentials and compensated sums.

Both agree to about 1e-14, and a loss in table form falls back to the other one for every vector
that its table does not cover: fractional vectors, and vectors outside of the coefficient set.

Equal rows are read once and counted, where that pays (:mod:`riskslim.data.distinct`).
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Iterable
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import checked_threads
from riskslim._kernels import integer, nodes, real
from riskslim.coefficients import CoefficientSet
from riskslim.data.distinct import Rows, all_rows, distinct_rows
from riskslim.data.packed import ReadColumns
from riskslim.data.training_data import TrainingData, stored_values
from riskslim.loss.form import choose_form, column_slots, losses_of_classes
from riskslim.loss.intercept import SUM_SLACK, bounds_reaching, with_intercept_bounds
from riskslim.loss.ranges import (
    CHUNK_ROWS,
    given_intercept_bounds,
    largest_quotient,
    row_ranges,
    score_range,
    score_slack,
)
from riskslim.scale import ScaleLike, ScaleSet, least_over

__all__ = ["LogisticLoss", "real_scores", "take_over_work"]

# Positions (score and class) that the 16-bit kernels can tell apart.
_MAX_POSITIONS = 2**16

# Scores up to which a histogram of the whole table costs less than finding the scores' range.
_FEW_SCORES = 2**12

# Coefficients up to which 0/1 columns are counted by cells, and rows from which that pays.
_MOST_COUNTED = 8
_FEWEST_COUNTED = 4096

# Mean absolute slope of the rows above which fixed-point gradients are exact to 1e-12.
_SMALLEST_MEAN_SLOPE = 2.0**-6

_Entry = TypeVar("_Entry", bound=np.generic)


class _Sums(NamedTuple):
    """Sums over the rows: losses, and slopes d loss / d score of either class."""

    loss: float
    negative: float
    positive: float


class LogisticLoss:
    r"""Normalised logistic loss on training data, over a coefficient set.

    .. math::

        l(\lambda) = \frac{1}{\sum_i w_i} \sum_{i=1}^{n} w_i \log(1 + \exp(-y_i s_i / m)),
        \qquad s_i = \lambda_0 + \sum_{j=1}^{d} \lambda_j x_{ij}

    with the scale m, which is 1 in the paper.

    Parameters
    ----------
    data : TrainingData
    coefficients : CoefficientSet
        One interval per feature of ``data``, in the same order.
    max_size : int, optional
        Most non-zero coefficients of a vector (the intercept not counted) for which score
        ranges, tables, intercept bounds and loss bounds must hold. None: no limit.
    n_threads : int, default 1
        Threads for every pass over the rows, those of the heuristics included; -1 for all
        cores. Results do not depend on it, to the last bit.
    compress : {"auto", True, False}
        Read equal rows once and count them: where that pays, always, or never.
    scale : number, list of numbers, tuple (low, high), "free" or ScaleSet, default 1.0
        The scale m, or all that it may be (:class:`~riskslim.scale.ScaleSet`). Derived intercept
        bounds and loss bounds hold for all of them; the loss is evaluated at one, ``scale``.

    Attributes
    ----------
    data : TrainingData
    rows : Rows
        What evaluations read: every row of the data, or the distinct ones with their numbers.
    coefficients : CoefficientSet
        With constant features fixed at zero, and the bounds of the intercept filled in.
    max_size : int
    form : {"lookup_table", "real_valued"}
    kernel : str
        Name of the kernel that evaluates the loss.
    reason : str
        Why this form was chosen.
    score_range : tuple of two numbers
        Contains the score of every row for every vector of the coefficient set with at most
        ``max_size`` non-zero coefficients, the intercept included.
    seconds : float
        Time spent so far in data-related computation, in seconds.
    n_evaluations : int
        Number of losses computed so far.
    n_threads : int
        Number of threads in use (not -1); may be changed at any time.
    scale : float
        The scale that losses are evaluated at: of several the one nearest to 1, but see
        :meth:`at_scale`.
    scales : ScaleSet

    Raises
    ------
    ValueError
        The coefficient set has other features than the data, or needs a constant feature, or
        the intercept's bounds cannot be derived; ``compress`` is none of its choices.

    Notes
    -----
    **Distinct rows.** With and without ``compress`` the loss of integer scores of rows without
    weights is the same to the last bit, since both count the same histogram; so is its gradient,
    if all features are small integers, the table has at most 32768 scores, and the slopes do not
    all but vanish (their mean absolute value is above 2^-6). Other losses, weighted ones among
    them, agree to their rounding errors (relatively 1e-15 at most over 10^4 random data sets).
    :meth:`reference_value` reads every row of the data in any case.

    **Intercept bounds.** Where the coefficient set leaves a bound of the intercept open, it is
    derived such that for *every* feasible choice of the other coefficients an optimal integer
    intercept lies within the bounds. Fix the other coefficients, let :math:`s_i` be the scores
    without intercept, and let :math:`s_i^{\max} \ge s_i` be the largest score that row i can
    have over the coefficient set with at most ``max_size`` non-zero coefficients. As a function
    of the intercept b the loss is convex with derivative proportional to

    .. math::

        \sum_i w_i \sigma(s_i + b) - W_+ \;\le\; \sum_i w_i \sigma(s_i^{\max} + b) - W_+,
        \qquad W_+ = \sum_{i: y_i = +1} w_i,

    with the sigmoid :math:`\sigma`. At every b where the right-hand side is not positive the
    loss still falls, or is flat, as b increases; no integer below b can then be better than b
    itself. The largest such integer is the lower bound. The upper bound follows in the same
    way from :math:`s_i^{\min}`, as the smallest integer b where
    :math:`\sum_i w_i \sigma(s_i^{\min} + b) \ge W_+`. Both conditions are tested with a slack
    that covers rounding, and extreme scores are rounded outwards to integers, so that errors can
    only loosen the bounds. With a scale :math:`m \in [m^{\min}, m^{\max}]` the sigmoid is that of
    :math:`(s_i^{\max} + b) / m`, which is at most that of the larger one of
    :math:`(s_i^{\max} + b) / m^{\min}` and :math:`(s_i^{\max} + b) / m^{\max}`: with it the bounds
    hold for every scale of the set.

    **Threads.** Evaluations share nothing but the counters, and release the GIL. With
    ``n_threads`` of two or more, chunks of 16,384 rows are handed out to OpenMP threads, where
    the package was built with OpenMP. Integers are counted exactly, sums of floating-point numbers
    are added in the order of the chunks: no result depends on the number of threads. With one
    thread no OpenMP runtime is entered, which matters where processes are forked.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 4 and its appendix.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
    >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, [0, 1, 1, 0])
    >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
    >>> loss.form
    'lookup_table'
    >>> round(loss.value([-1, 2, 0]), 6)
    0.313262
    >>> value, gradient = loss.value_and_gradient([0, 0, 0])
    >>> round(value, 6), gradient
    (0.693147, array([ 0.  , -0.25,  0.  ]))
    """

    def __init__(
        self,
        data: TrainingData,
        coefficients: CoefficientSet,
        *,
        max_size: int | None = None,
        n_threads: int = 1,
        compress: bool | Literal["auto"] = "auto",
        scale: ScaleLike = 1.0,
    ) -> None:
        if tuple(coefficients.feature_names) != tuple(data.feature_names):
            raise ValueError(
                f"the coefficient set has {len(coefficients)} features "
                f"({', '.join(coefficients.feature_names[:3])}, ...), the data have "
                f"{data.n_features} ({', '.join(data.feature_names[:3])}, ...); "
                "build it from data.feature_names"
            )
        if compress != "auto" and not isinstance(compress, bool):
            raise ValueError(f"compress must be 'auto', True or False, got {compress!r}")
        self.scales = ScaleSet.of(scale)
        self.scale = self.scales.nearest_to_one
        self.data = data
        self.n_threads = n_threads
        self.seconds = 0.0
        self.n_evaluations = 0
        self._reach = (math.inf, -math.inf)
        self._given = coefficients.replace(fix_at_zero=data.constant_features)
        usable = (self._given.lower != 0) | (self._given.upper != 0)
        n_usable = int(np.count_nonzero(usable))
        self.max_size = n_usable if max_size is None else min(max_size, n_usable)
        if self.max_size < 0:
            raise ValueError(f"max_size must be at least 0, got {max_size}")
        start = perf_counter()
        merged = distinct_rows(data, always=compress is True) if compress else None
        self.rows: Rows = all_rows(data) if merged is None else merged
        self._bits: ReadColumns | None = None
        if not len(self.rows.weights) and self.rows.n_rows >= _FEWEST_COUNTED:
            self._bits = ReadColumns(self.rows)
        self.seconds += perf_counter() - start
        self._resolve()

    def _resolve(self) -> None:
        """Everything that depends on the size bound: intercept bounds, ranges, tables."""
        start = perf_counter()
        derived = with_intercept_bounds(
            self.data, self.rows, self._given, self.max_size, self.n_threads, self.scales
        )
        self.coefficients = bounds_reaching(derived, self._given, *self._reach)
        low, high = score_range(self.data, self.coefficients, self.max_size)
        form = choose_form(self.data, self.coefficients, (low, high))
        self.form, self.kernel, self.reason = form
        self.score_range: tuple[float, float] = (low, high)
        # New arrays, never the old ones changed: copies of this loss may still use those.
        if self.form == "lookup_table":
            self.score_range = (int(low), int(high))
        self._fill_tables()
        self.seconds += perf_counter() - start

    def _fill_tables(self) -> None:
        """Losses and slopes by score: slopes by score / scale, which are between -1 and 1."""
        if self.form == "lookup_table":
            low, high = int(self.score_range[0]), int(self.score_range[1])
            self._tail = np.empty(high - low + 1)
            self._slope = np.empty((2, self._tail.size))
            integer.fill_tables(low, self.scale, self._tail, self._slope)
        else:
            self._tail, self._slope = np.empty(0), np.empty((2, 0))
        self._fixed_point = self._fixed_point_slopes()

    def _fixed_point_slopes(self) -> NDArray[np.uint64] | None:
        """Fill the table of the fixed-point kernels, if they apply."""
        rows, width = self.rows, self._tail.size
        counted = len(rows.numbers) > 0
        if (len(rows.weights) and not counted) or len(rows.real_index):
            return None
        if not 0 < 2 * width <= _MAX_POSITIONS:
            return None
        fixed_point = np.empty((2, width), dtype=np.uint64)
        fill = integer.fill_fixed_point if counted else integer.fill_digits
        fill(self._slope, fixed_point)
        return fixed_point

    def on_rows(self, rows: Rows) -> LogisticLoss:
        """The same loss on other rows, to estimate it.

        Parameters
        ----------
        rows : Rows
            Some of the data's.

        Returns
        -------
        LogisticLoss
            A copy with counters of its own that evaluates these rows. Coefficient set, tables
            and score range stay as they are: it must not be tightened.
        """
        other = copy.copy(self)
        other.rows = rows
        other.seconds, other.n_evaluations = 0.0, 0
        other._fixed_point = other._fixed_point_slopes()
        return other

    def at_scale(self, scale: float) -> LogisticLoss:
        """The same loss, evaluated at another scale.

        Parameters
        ----------
        scale : float
            Between the smallest and the largest scale of ``scales``.

        Returns
        -------
        LogisticLoss
            A copy with counters of its own. Coefficient set and score range stay as they are.

        Raises
        ------
        ValueError
            The scale is beyond those that intercept bounds were derived for.
        """
        if not self.scales.low <= scale <= self.scales.high:
            raise ValueError(f"scale {scale} is not within {self.scales.describe()}")
        other = copy.copy(self)
        other.scales = ScaleSet.of(float(scale))
        other.scale = float(scale)
        other.seconds, other.n_evaluations = 0.0, 0
        if other.scale != self.scale:
            other._fill_tables()
        return other

    def with_scales(self, scale: ScaleLike) -> LogisticLoss:
        """The same loss over another set of scales, its intercept bounds derived anew.

        Parameters
        ----------
        scale : number, list of numbers, tuple (low, high), "free" or ScaleSet

        Returns
        -------
        LogisticLoss
        """
        scales = ScaleSet.of(scale)
        if scales == self.scales:
            return self
        other = copy.copy(self)
        other.scales, other.scale = scales, scales.nearest_to_one
        other._resolve()
        return other

    def reaching(self, least: float, most: float) -> LogisticLoss:
        """The same loss with derived intercept bounds that hold some intercepts at least.

        Parameters
        ----------
        least, most : float
            The intercepts; none where ``least`` exceeds ``most``. Ends may be infinite.

        Returns
        -------
        LogisticLoss

        Raises
        ------
        ValueError
            They are too large.
        """
        if (least, most) == (math.inf, -math.inf):
            return self
        other = copy.copy(self)
        other._reach = (least, most)
        other._resolve()
        return other

    def best_scale(self, coef: ArrayLike) -> float:
        """The scale of ``scales`` at which the loss of a vector is least.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.

        Returns
        -------
        float
            With 1 / scale the loss is convex: the minimum is exact to about 1e-11, relatively.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0, 1, 0]}, [0, 1, 1, 0, 0, 1])
        >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
        >>> loss = LogisticLoss(data, coefficients, scale=(0.5, 12))
        >>> round(loss.best_scale([-1, 2]), 6)
        1.442695
        """
        vector = self._checked(coef)
        if self.scales.is_single:
            return self.scales.low
        start = perf_counter()
        scores, positive, negative = self._distribution(vector)

        def derivatives(t: float) -> tuple[float, float, float]:
            return nodes.scale_derivatives(scores, positive, negative, t)

        best = least_over(self.scales, derivatives)
        self._count(start)
        return best

    def _distribution(
        self, vector: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Scores of a vector, with the weights of the two classes at each; weights add up to 1."""
        rows, span = self.rows, self._table_span(vector)
        if (
            span is not None
            and not len(rows.weights)
            and 2 * (span[1] - span[0] + 1) < (_MAX_POSITIONS)
        ):
            counts = np.zeros((integer.n_copies(), 2, span[1] - span[0] + 1), dtype=np.int64)
            integer.count_scores(*_integer_arguments(rows, vector), span[0], counts, self.n_threads)
            by_class = counts.sum(axis=0) / rows.total_weight
            met = np.flatnonzero(by_class.any(axis=0))
            negative, positive = by_class[0, met], by_class[1, met]
            return np.asarray(met + float(span[0]), np.float64), positive, negative
        scores = np.empty(rows.n_rows)
        real.scores(*_real_arguments(rows, vector)[:5], scores, self.n_threads)
        weights = rows.weights if len(rows.weights) else np.ones(rows.n_rows)
        weights = weights / rows.total_weight
        is_positive = rows.labels > 0
        return scores, np.where(is_positive, weights, 0.0), np.where(is_positive, 0.0, weights)

    @property
    def n_samples(self) -> int:
        """Number of rows of the data."""
        return self.data.n_samples

    @property
    def n_rows(self) -> int:
        """Number of rows that an evaluation reads."""
        return self.rows.n_rows

    @property
    def n_threads(self) -> int:
        """Threads of a pass over the rows."""
        return self._n_threads

    @n_threads.setter
    def n_threads(self, n_threads: int) -> None:
        self._n_threads = checked_threads(n_threads)

    @property
    def given_coefficients(self) -> CoefficientSet:
        """The coefficient set before the intercept's open bounds are filled in."""
        return self._given

    def tighten(self, max_size: int) -> bool:
        """Use a smaller bound on the model size.

        Parameters
        ----------
        max_size : int
            Most non-zero coefficients from now on; larger values than the present bound are
            ignored.

        Returns
        -------
        bool
            Whether the score range, the form or the intercept's derived bounds changed.

        Raises
        ------
        ValueError
            A negative size.
        """
        if max_size >= self.max_size:
            return False
        if max_size < 0:
            raise ValueError(f"max_size must be at least 0, got {max_size}")
        before = (self.score_range, self.form, self.coefficients)
        self.max_size = int(max_size)
        self._resolve()
        return before != (self.score_range, self.form, self.coefficients)

    def value(self, coef: ArrayLike, *, every_row: bool = False) -> float:
        """Loss of a coefficient vector.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first; integers or reals, within the coefficient set or not.
        every_row : bool, default False
            Read every row of the data, also if equal rows are merged.

        Returns
        -------
        float
            Within 1e-14 of the exact value, relatively.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.
        """
        vector = self._checked(coef)
        start = perf_counter()
        span = self._table_span(vector)
        rows = all_rows(self.data) if every_row else self.rows
        if span is None:
            total = real.loss(*_real_arguments(rows, vector / self.scale), self.n_threads)
        else:
            total = self._table_value(rows, vector, span).loss
        self._count(start)
        return float(total / rows.total_weight)

    def value_and_gradient(self, coef: ArrayLike) -> tuple[float, NDArray[np.float64]]:
        r"""Loss and gradient at a coefficient vector.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first; integers or reals, within the coefficient set or not.

        Returns
        -------
        value : float
        gradient : ndarray of float64, shape (d + 1,)
            :math:`\partial l / \partial \lambda`, also of coefficients that are fixed.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.
        """
        vector = self._checked(coef)
        start = perf_counter()
        span = self._table_span(vector)
        if span is not None:
            total, by_column = self._table_gradient(vector, span)
        else:
            sums, error = np.zeros((2, vector.size))
            total = real.loss_and_gradient(
                *_real_arguments(self.rows, vector / self.scale), sums, error, self.n_threads
            )
            by_column = sums + error
        rows = self.rows
        gradient = np.empty(vector.size)
        gradient[0] = by_column[0]
        gradient[1 + rows.integer_index] = by_column[1 : 1 + len(rows.integer_index)]
        gradient[1 + rows.real_index] = by_column[1 + len(rows.integer_index) :]
        gradient /= rows.total_weight
        gradient /= self.scale
        self._count(start)
        return float(total / rows.total_weight), gradient

    def hessian(
        self, coef: ArrayLike, features: Iterable[int] | None = None
    ) -> NDArray[np.float64]:
        r"""Second derivatives by the intercept and some of the coefficients.

        .. math::

            H = \frac{1}{m^2 \sum_i w_i} \sum_{i=1}^{n} w_i \, p_i (1 - p_i) \, z_i z_i^\top,
            \qquad p_i = \frac{1}{1 + \exp(-s_i / m)},

        where :math:`z_i` has a leading 1 for the intercept, then the chosen features of row i.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first; integers or reals, within the coefficient set or not.
        features : iterable of int, optional
            Indices 0..d-1 of the m chosen features. None: all.

        Returns
        -------
        ndarray of float64, shape (m + 1, m + 1)
            Symmetric. Row and column 0 belong to the intercept, k + 1 to ``features[k]``.

        Raises
        ------
        ValueError
            Wrong length, coefficients that are not finite, or features that do not exist.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 2, 0]}, [0, 1, 1, 0])
        >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
        >>> loss.hessian([0, 0, 0], [1])
        array([[0.25  , 0.1875],
               [0.1875, 0.3125]])
        """
        vector = self._checked(coef)
        d, rows = self.data.n_features, self.rows
        chosen = np.array([operator.index(j) for j in (range(d) if features is None else features)])
        if ((chosen < 0) | (chosen >= d)).any():
            raise ValueError(f"features must be indices 0..{d - 1}, got {chosen.tolist()}")
        start = perf_counter()
        slot = column_slots(rows)[chosen.astype(np.intp)]
        out = np.empty((slot.size + 1, slot.size + 1))
        columns = _real_arguments(rows, vector / self.scale)[:5]
        real.hessian(*columns, rows.weights, slot, out, self.n_threads)
        self.seconds += perf_counter() - start
        return out / rows.total_weight / self.scale**2

    def scores(self, coef: ArrayLike) -> NDArray[np.int32] | NDArray[np.float64]:
        """Scores of all rows of the data, in points: not divided by the scale.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.

        Returns
        -------
        ndarray of shape (n,)
            int32 where the lookup table covers the vector, else float64.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.
        """
        vector = self._checked(coef)
        start = perf_counter()
        rows = all_rows(self.data)
        out: NDArray[np.int32] | NDArray[np.float64]
        if self._table_span(vector) is None:
            out = np.empty(rows.n_rows)
            real.scores(*_real_arguments(rows, vector)[:5], out, self.n_threads)
        else:
            out = np.empty(rows.n_rows, dtype=np.int32)
            integer.scores(*_integer_arguments(rows, vector)[:3], out, self.n_threads)
        self.seconds += perf_counter() - start
        return out

    def value_of_scores(self, scores: ArrayLike) -> float:
        """Loss of given scores, for example of another model's.

        Parameters
        ----------
        scores : array-like of shape (n,)
            One finite number of points per row of the data, which are divided by the scale.
            Integers (by their dtype) are counted and looked up in a table where this is possible.

        Returns
        -------
        float
            Within 1e-14 of the exact value, relatively.

        Raises
        ------
        ValueError
            Wrong length, or scores that are not finite.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, [0, 1, 1, 0])
        >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
        >>> loss.value_of_scores(loss.scores([-1, 2, 0])) == loss.value([-1, 2, 0])
        True
        """
        given = np.asarray(scores)
        if given.shape != (self.data.n_samples,):
            raise ValueError(
                f"scores have shape {given.shape}, expected ({self.data.n_samples},): "
                "one per row of the data"
            )
        start = perf_counter()
        rows = all_rows(self.data)
        total = self._counted_loss(rows, given) if given.dtype.kind in "iu" else None
        if total is None:
            values = np.ascontiguousarray(given, dtype=np.float64) / self.scale
            total = real.scores_loss(values, rows.labels, rows.weights, self.n_threads)
            if not math.isfinite(total):
                _check_finite(values, "scores")
        self._count(start)
        return float(total / rows.total_weight)

    def _counted_loss(self, rows: Rows, scores: NDArray[np.integer[Any]]) -> float | None:
        """Sum the losses of integer scores by way of a table; None if it does not apply."""
        limits = np.iinfo(np.int32)
        if scores.dtype != np.int32 and (scores.min() < limits.min or scores.max() > limits.max):
            return None
        given = np.ascontiguousarray(scores, dtype=np.int32)
        low, width = int(self.score_range[0]), self._tail.size
        if 0 < width <= _FEW_SCORES:
            total = self._counted_between(rows, given, low, width, self._tail, self._slope)
            if total is not None:
                return total
        # Beyond the table, or in a small part of it.
        low, width = int(scores.min()), int(scores.max()) - int(scores.min()) + 1
        if 2 * width > _MAX_POSITIONS:
            return None
        tail, slope = np.empty(width), np.empty((2, width))
        integer.fill_tables(low, self.scale, tail, slope)
        return self._counted_between(rows, given, low, width, tail, slope)

    def _counted_between(
        self,
        rows: Rows,
        scores: NDArray[np.int32],
        low: int,
        width: int,
        tail: NDArray[np.float64],
        slope: NDArray[np.float64],
    ) -> float | None:
        outside = np.zeros(1, dtype=np.int64)
        if len(rows.weights):
            losses, given = (
                losses_of_classes(low, self.scale, tail),
                (scores, rows.labels, rows.weights),
            )
            total = integer.given_loss(*given, low, losses, outside, self.n_threads)
            return None if outside[0] else total
        counts = np.zeros((integer.n_copies(), 2, width), dtype=np.int64)
        integer.count_given(scores, rows.labels, low, counts, outside, self.n_threads)
        if outside[0]:
            return None
        return integer.histogram_loss(counts, low, self.scale, tail, slope)[0]

    def bounds(self, max_size: int | None = None) -> tuple[float, float]:
        r"""Bounds on the loss over the coefficient set (Proposition 1).

        Every row is given its best score, and every row its worst one:

        .. math::

            l^{\min} = \frac{1}{W} \sum_{i: y_i = +1} w_i \log(1 + e^{-s_i^{\max}})
                     + \frac{1}{W} \sum_{i: y_i = -1} w_i \log(1 + e^{s_i^{\min}})

        and :math:`l^{\max}` with minimum and maximum exchanged. The extreme scores of a row use
        the ``max_size`` largest contributions of that row, so that a smaller model size gives
        tighter bounds. The bounds hold for every scale of ``scales``.

        Parameters
        ----------
        max_size : int, optional
            Most non-zero coefficients. None: the loss's own ``max_size``.

        Returns
        -------
        loss_min, loss_max : float
            Rounded outwards.
        """
        size = self.max_size if max_size is None else max_size
        rows, coefficients = self.rows, self.coefficients
        start = perf_counter()
        best, worst = [], []
        lower, upper = given_intercept_bounds(coefficients)
        for chunk, low, high in row_ranges(rows, coefficients, size, self.n_threads):
            labels, weights = rows.labels[chunk], rows.weights[chunk]
            low += lower
            high += upper
            slack = score_slack(rows, low, high)
            positive = labels > 0
            towards = np.where(positive, high + slack, low - slack)
            away = np.where(positive, low - slack, high + slack)
            sign = np.where(positive, 1.0, -1.0)
            towards = sign * largest_quotient(sign * towards, self.scales)
            away = -sign * largest_quotient(-sign * away, self.scales)
            best.append(real.scores_loss(towards, labels, weights, self.n_threads))
            worst.append(real.scores_loss(away, labels, weights, self.n_threads))
        self._count(start)
        total = rows.total_weight
        return (
            math.fsum(best) / total * (1.0 - SUM_SLACK),
            math.fsum(worst) / total * (1.0 + SUM_SLACK),
        )

    def reference_value(self, coef: ArrayLike) -> float:
        """Loss on a path that shares nothing with the kernels, to re-check certificates.

        Scores are accumulated column by column in float64, losses are taken with NumPy's
        ``log1p`` and ``exp``, and summed without rounding errors by ``math.fsum``.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.
        """
        vector = self._checked(coef)
        start = perf_counter()
        total = math.fsum(
            loss
            for first in range(0, self.data.n_samples, CHUNK_ROWS)
            for loss in self._reference_losses(vector, first)
        )
        self._count(start)
        return total / self.data.total_weight

    def __repr__(self) -> str:
        low, high = self.score_range
        return (
            f"LogisticLoss({self.n_samples} rows"
            f"{'' if self.n_rows == self.n_samples else f' read as {self.n_rows}'}, "
            f"{self.data.n_features} features, "
            f"form={self.form!r}, scores {low:g}..{high:g}, max_size={self.max_size})"
        )

    def _reference_losses(self, vector: NDArray[np.float64], first: int) -> list[float]:
        """Losses of the rows of a chunk."""
        rows = slice(first, min(first + CHUNK_ROWS, self.data.n_samples))
        margins = np.full(rows.stop - first, vector[0])
        for j in np.flatnonzero(vector[1:]):
            margins += vector[1 + j] * stored_values(self.data, int(j), first, rows.stop)
        margins *= self.data.labels[rows]
        margins /= self.scale
        losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
        if self.data.sample_weight is not None:
            losses *= self.data.sample_weight[rows]
        return list(losses.tolist())

    def _checked(self, coef: ArrayLike) -> NDArray[np.float64]:
        vector = np.asarray(coef, dtype=np.float64)
        if vector.shape != (self.data.n_features + 1,):
            raise ValueError(
                f"coef has shape {vector.shape}, expected ({self.data.n_features + 1},): "
                f"the intercept, then one coefficient for each of the {self.data.n_features} "
                "features"
            )
        if not np.isfinite(vector).all():
            wrong = np.flatnonzero(~np.isfinite(vector))
            raise ValueError(
                f"{wrong.size} of {vector.size} coefficients are NaN or infinite, "
                f"the first one at position {wrong[0]} (0 is the intercept)"
            )
        return vector

    def _table_span(self, vector: NDArray[np.float64]) -> tuple[int, int] | None:
        """Range of the scores of a vector if the table covers it, else None.

        The table was proven for the coefficient set only. Whoever passes another vector must
        not read beyond it: the features' ranges bound the scores of any vector at hand.
        """
        if self.form != "lookup_table" or (vector != np.rint(vector)).any():
            return None
        coef, data = vector[1:], self.data
        if coef[data.real_index].any():
            return None
        a, b = coef * data.feature_min, coef * data.feature_max
        low = vector[0] + np.minimum(a, b).sum()
        high = vector[0] + np.maximum(a, b).sum()
        if low < self.score_range[0] or high > self.score_range[1]:
            return None
        return int(low), int(high)

    def _table_value(self, rows: Rows, vector: NDArray[np.float64], span: tuple[int, int]) -> _Sums:
        """Sum the losses of the rows, and their slopes per class, from a histogram."""
        low, width = span[0], span[1] - span[0] + 1
        tables = self._tables(span)
        arguments = _integer_arguments(rows, vector)
        narrow = 2 * width <= _MAX_POSITIONS
        counts = np.zeros((1, 2, width), dtype=np.int64)
        if self._counted_by_bits(rows, vector, low, counts[0]):
            pass
        elif len(rows.numbers) and narrow:
            integer.count_numbers(*arguments, rows.numbers, low, counts, self.n_threads)
        elif len(rows.weights):
            total, error = np.zeros((2, 2, width))
            integer.weighted_histogram(*arguments, rows.weights, low, total, error, self.n_threads)
            if not len(rows.numbers):
                return _Sums(*integer.weighted_histogram_loss(total, error, *tables))
            counts[0] = total  # whole numbers below 2^53: exact, and without errors
        elif narrow:
            counts = np.zeros((integer.n_copies(), 2, width), dtype=np.int64)
            integer.count_scores(*arguments, low, counts, self.n_threads)
        else:
            integer.histogram(*arguments, low, counts, self.n_threads)
        return _Sums(*integer.histogram_loss(counts, *tables))

    def _counted_by_bits(
        self, rows: Rows, vector: NDArray[np.float64], low: int, counts: NDArray[np.int64]
    ) -> bool:
        """Count scores of few 0/1 columns that are read often, from their cells."""
        if self._bits is None or self._bits.rows is not rows:
            return False
        points = vector[1 + rows.integer_index]
        slots = np.flatnonzero(points)
        if not 0 < len(slots) <= _MOST_COUNTED:
            return False
        first = np.concatenate(([vector[0] - low], points[slots])).astype(np.int64)
        return self._bits.count(slots, first, counts)

    def _table_gradient(
        self, vector: NDArray[np.float64], span: tuple[int, int]
    ) -> tuple[float, NDArray[np.float64]]:
        """Sum the losses of the rows, and slope times feature: intercept, integers, reals."""
        by_column, rows = np.zeros(vector.size), self.rows
        if self._fixed_point is not None:
            sums = self._fixed_point_gradient(vector, span, by_column[1:])
            # The digits of a slope stop at 2^-47: exact to 1e-12 unless slopes are tiny.
            if sums.negative - sums.positive > _SMALLEST_MEAN_SLOPE * rows.n_samples:
                by_column[0] = sums.negative + sums.positive
                return sums.loss, by_column
            by_column[:] = 0.0
        else:
            sums = self._table_value(rows, vector, span)
        error = np.zeros(vector.size)
        integer.gradient(
            *_integer_arguments(rows, vector)[:3],
            rows.real_panels,
            rows.labels,
            rows.weights,
            span[0],
            self._table(self._slope, span),
            by_column[1:],
            error[1:],
            self.n_threads,
        )
        by_column += error
        by_column[0] = sums.negative + sums.positive
        return sums.loss, by_column

    def _fixed_point_gradient(
        self, vector: NDArray[np.float64], span: tuple[int, int], out: NDArray[np.float64]
    ) -> _Sums:
        rows, low, width = self.rows, span[0], span[1] - span[0] + 1
        assert self._fixed_point is not None
        slopes = self._table(self._fixed_point, span)
        arguments = _integer_arguments(rows, vector)
        tables = self._tables(span)
        if len(rows.numbers):
            counts = np.zeros((1, 2, width), dtype=np.int64)
            digits = np.zeros((rows.integer_columns.shape[1], 4), dtype=np.int64)
            integer.count_numbers_and_slopes(
                *arguments, rows.numbers, low, slopes, counts, digits, self.n_threads
            )
            integer.products_gradient(digits, out)
        else:
            counts = np.zeros((integer.n_copies(), 2, width), dtype=np.int64)
            digits = np.zeros((rows.integer_columns.shape[1], 3), dtype=np.int64)
            integer.count_scores_and_slopes(*arguments, low, slopes, counts, digits, self.n_threads)
            integer.digits_gradient(digits, out)
        return _Sums(*integer.histogram_loss(counts, *tables))

    def _tables(
        self, span: tuple[int, int]
    ) -> tuple[int, float, NDArray[np.float64], NDArray[np.float64]]:
        """What turns a histogram of the scores of ``span`` into a loss."""
        return span[0], self.scale, self._table(self._tail, span), self._table(self._slope, span)

    def _table(self, table: NDArray[_Entry], span: tuple[int, int]) -> NDArray[_Entry]:
        """Part of a table for the scores of ``span``."""
        first = span[0] - int(self.score_range[0])
        return np.ascontiguousarray(table[..., first : first + span[1] - span[0] + 1])

    def _count(self, start: float) -> None:
        self.seconds += perf_counter() - start
        self.n_evaluations += 1


def _integer_arguments(
    rows: Rows, vector: NDArray[np.float64]
) -> tuple[NDArray[np.int8], NDArray[np.int32], int, NDArray[np.int8]]:
    coef = vector[1 + rows.integer_index].astype(np.int32)
    return rows.integer_columns, coef, int(vector[0]), rows.labels


def _real_arguments(
    rows: Rows, vector: NDArray[np.float64]
) -> tuple[
    NDArray[np.int8],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    float,
    NDArray[np.int8],
    NDArray[np.float64],
]:
    return (
        rows.integer_columns,
        vector[1 + rows.integer_index],
        rows.real_panels,
        vector[1 + rows.real_index],
        float(vector[0]),
        rows.labels,
        rows.weights,
    )


def _check_finite(values: NDArray[np.float64], what: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(
            f"{wrong.size} of {values.size} {what} are NaN or infinite, the first one at "
            f"position {wrong[0]}"
        )


def take_over_work(loss: LogisticLoss, copied: LogisticLoss) -> None:
    """Count what a copy of a loss has done as done by the loss, once.

    Parameters
    ----------
    loss, copied : LogisticLoss
        The copy's counters are set to zero.
    """
    loss.seconds += copied.seconds
    loss.n_evaluations += copied.n_evaluations
    copied.seconds, copied.n_evaluations = 0.0, 0


def real_scores(loss: LogisticLoss, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of the rows that evaluations read, divided by the scale.

    Parameters
    ----------
    loss : LogisticLoss
    vector : ndarray of float64, shape (d + 1,)
        Intercept first.

    Returns
    -------
    ndarray of float64, shape (number of rows,)
    """
    rows = loss.rows
    out = np.empty(rows.n_rows)
    real.scores(*_real_arguments(rows, vector / loss.scale)[:5], out, loss.n_threads)
    return out
