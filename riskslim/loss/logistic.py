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
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import checked_threads
from riskslim._kernels import real
from riskslim.coefficients import CoefficientSet
from riskslim.data.distinct import distinct_rows
from riskslim.data.packed import read_columns
from riskslim.data.store import KernelRows, RowStore
from riskslim.data.training_data import TrainingData
from riskslim.loss.evaluators import BlockEvaluator, Evaluator
from riskslim.loss.form import choose_form
from riskslim.loss.intercept import bounds_reaching, with_intercept_bounds
from riskslim.loss.lookup_table import LookupTable, Span, loss_of_any_scores
from riskslim.loss.parts import PartsEvaluator
from riskslim.loss.ranges import loss_range, score_range
from riskslim.rows.base import PartitionedRows
from riskslim.rows.memory import parted
from riskslim.scale import ScaleLike, ScaleSet, least_over

if TYPE_CHECKING:
    from riskslim.data.packed import PackedItems

__all__ = ["LogisticLoss"]


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
    store : RowStore
        What evaluations read: every row of the data, or the distinct ones with their numbers.
    rows : KernelRows
        The same, of rows in memory.
    packed : PackedItems or None
        Items of rows in parts, where they have been packed: vectors on few of them need no pass.
    should_stop : callable or None
        Asked between parts of the rows; after True passes raise
        :class:`~riskslim.rows.base.StoppedError`.
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
    derived such that for *every* feasible choice of the other coefficients, and for every scale of
    the set, an optimal integer intercept lies within the bounds. The loss is convex in the
    intercept: a bound is the first integer at which it can be seen to fall towards the inside
    whatever the other coefficients are. The proof is in :mod:`riskslim.loss.intercept`.

    **Threads.** Evaluations share nothing but the counters, and release the GIL. With
    ``n_threads`` of two or more, chunks of 16,384 rows are shared with threads that the kernels
    keep, asleep, from one pass to the next. Integers are counted exactly, sums of floating-point
    numbers are added in the order of the chunks: no result depends on the number of threads.
    Processes may be forked at any time; a child starts threads of its own when it asks for them.

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
        self.seconds, self.n_evaluations = 0.0, 0
        self._reach = (math.inf, -math.inf)
        self._given = coefficients.replace(fix_at_zero=data.constant_features)
        usable = (self._given.lower != 0) | (self._given.upper != 0)
        n_usable = int(np.count_nonzero(usable))
        self.max_size = n_usable if max_size is None else min(max_size, n_usable)
        if self.max_size < 0:
            raise ValueError(f"max_size must be at least 0, got {max_size}")
        start = perf_counter()
        self.packed: PackedItems | None = None
        self.should_stop: Callable[[], bool] | None = None
        always = compress is True
        merged = distinct_rows(data, always=always, n_threads=n_threads) if compress else None
        self.store: RowStore = data.rows if merged is None else merged
        self.bits = read_columns(self.store)
        self.seconds += perf_counter() - start
        self._resolve()

    def _resolve(
        self, max_size: int | None = None, should_stop: Callable[[], bool] | None = None
    ) -> None:
        """Derive all that depends on the size bound: intercept bounds, ranges, tables."""
        start = perf_counter()
        max_size = self.max_size if max_size is None else max_size
        derived = with_intercept_bounds(
            self.data,
            self.store,
            self._given,
            max_size,
            self.n_threads,
            self.scales,
            should_stop,
        )
        if derived is None:
            self.seconds += perf_counter() - start
            return
        self.max_size, self._derived = max_size, derived
        self._settle()
        self.seconds += perf_counter() - start

    def _settle(self) -> None:
        """Set the score range and its table, once bounds of the intercept are derived."""
        self.coefficients = bounds_reaching(self._derived, self._given, *self._reach)
        low, high = score_range(self.data, self.coefficients, self.max_size)
        form = choose_form(self.data, self.coefficients, (low, high))
        self.form, self.kernel, self.reason = form
        self.score_range: tuple[float, float] = (low, high)
        if self.form == "lookup_table":
            self.score_range = (int(low), int(high))
        self._fill_tables()

    def _fill_tables(self) -> None:
        # A new table, never the old one changed: copies of this loss may still use that.
        self._table: LookupTable | None = None
        if self.form == "lookup_table":
            low, high = self.score_range
            self._table = LookupTable(Span(int(low), int(high)), self.scale, self.store, self.bits)

    def on_rows(self, rows: KernelRows) -> LogisticLoss:
        """The same loss on other rows, to estimate it.

        Parameters
        ----------
        rows : KernelRows
            Some of the data's.

        Returns
        -------
        LogisticLoss
            A copy with counters of its own that evaluates these rows. Coefficient set, tables
            and score range stay as they are: it must not be tightened.
        """
        other = copy.copy(self)
        other.store, other.bits, other.packed = rows, None, None
        other.seconds, other.n_evaluations = 0.0, 0
        if self._table is not None:
            other._table = self._table.on_rows(rows)
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
        other._settle()
        return other

    def for_size(self, max_size: int) -> LogisticLoss:
        """The same loss for models of another size, its intercept bounds derived anew.

        Parameters
        ----------
        max_size : int
            Most non-zero coefficients, larger or smaller than before.

        Returns
        -------
        LogisticLoss
            On the same rows; this one is left as it is.
        """
        usable = (self._given.lower != 0) | (self._given.upper != 0)
        size = min(max_size, int(np.count_nonzero(usable)))
        if size == self.max_size:
            return self
        other = copy.copy(self)
        other._resolve(size)
        return other

    def best_scale(self, coef: ArrayLike, *, ridge: float = 0.0) -> float:
        """The scale of ``scales`` at which the loss of a vector is least.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.
        ridge : float, default 0
            A penalty at the scale 1 that falls with the square of the scale, and is added.

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
        best = least_over(self.scales, self._evaluator().along_scales(vector), ridge)
        self._count(start)
        return best

    @property
    def rows(self) -> KernelRows:
        """Rows in memory that evaluations read.

        Raises
        ------
        RowsElsewhereError
            They are elsewhere: ``store``.
        """
        return self.store.block_for("this")

    def blocks(self, should_stop: Callable[[], bool] | None = None) -> PartitionedRows:
        """The rows that evaluations read, in parts that the loss's threads share.

        Parameters
        ----------
        should_stop : callable, optional
            Asked between parts.

        Returns
        -------
        PartitionedRows
        """
        return parted(self.store).used_by(self.n_threads, should_stop)

    def _evaluator(self, *, every_row: bool = False) -> Evaluator:
        """Answer what is asked of the rows; all of the data's, where equal ones are merged."""
        stated = self._table, self.scale, self.n_threads, self.should_stop
        if self.store.is_block:
            return BlockEvaluator(self.data, self.data.block if every_row else self.rows, *stated)
        parts = parted(self.store)
        return PartsEvaluator(self.data, parts, *stated, None if every_row else self.packed)

    @property
    def n_samples(self) -> int:
        """Number of rows of the data."""
        return self.data.n_samples

    @property
    def n_rows(self) -> int:
        """Number of rows that an evaluation reads."""
        return self.store.n_rows

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

    def tighten(self, max_size: int, *, should_stop: Callable[[], bool] | None = None) -> bool:
        """Use a smaller bound on the model size.

        Parameters
        ----------
        max_size : int
            Most non-zero coefficients from now on; larger values than the present bound are
            ignored.
        should_stop : callable, optional
            Asked between parts of the rows; once it is True, all stays as it is.

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
        self._resolve(int(max_size), should_stop)
        return before != (self.score_range, self.form, self.coefficients)

    def value(self, coef: ArrayLike, *, every_row: bool = False) -> float:
        """Loss of a coefficient vector.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first; integers or reals, within the coefficient set or not.
        every_row : bool, default False
            Read every row of the data, also if equal rows are merged, or items packed.

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
        found = self._evaluator(every_row=every_row).value(vector)
        self._count(start)
        return found

    def values(self, coefs: Iterable[ArrayLike]) -> NDArray[np.float64]:
        """Losses of several vectors; rows in parts are read once for all of them.

        Parameters
        ----------
        coefs : iterable of array-like of shape (d + 1,)

        Returns
        -------
        ndarray of float64, shape (b,)
            To the last bit what :meth:`value` returns of each.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, [0, 1, 1, 0])
        >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
        >>> loss.values([[0, 0, 0], [-1, 2, 0]]).round(6)
        array([0.693147, 0.313262])
        """
        points = self._checked_points(coefs)
        start = perf_counter()
        found = self._evaluator().values(points)
        self._count(start, len(points))
        return found

    def values_and_gradients(
        self, coefs: Iterable[ArrayLike]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Losses and gradients of several vectors; rows in parts are read once for all of them.

        Parameters
        ----------
        coefs : iterable of array-like of shape (d + 1,)

        Returns
        -------
        values : ndarray of float64, shape (b,)
        gradients : ndarray of float64, shape (b, d + 1)
            As :meth:`value_and_gradient` has them.

        Raises
        ------
        ValueError
            Wrong length, or coefficients that are not finite.

        Examples
        --------
        >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 0, 1, 0]}, [0, 1, 1, 0])
        >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
        >>> values, gradients = loss.values_and_gradients([[0, 0, 0], [-1, 2, 0]])
        >>> gradients.shape
        (2, 3)
        """
        points = self._checked_points(coefs)
        start = perf_counter()
        values, gradients = self._evaluator().values_and_gradients(points)
        self._count(start, len(points))
        return values, gradients

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
        found = self._evaluator().value_and_gradient(vector)
        self._count(start)
        return found

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
        d = self.data.n_features
        chosen = np.array([operator.index(j) for j in (range(d) if features is None else features)])
        if ((chosen < 0) | (chosen >= d)).any():
            raise ValueError(f"features must be indices 0..{d - 1}, got {chosen.tolist()}")
        start = perf_counter()
        found = self._evaluator().hessian(vector, chosen.astype(np.intp))
        self.seconds += perf_counter() - start
        return found

    def scores(self, coef: ArrayLike) -> NDArray[np.int32] | NDArray[np.float64]:
        """Scores of all rows of the data, in points: not divided by the scale.

        Of rows in parts they are those of the rows that are stored, merged ones once.

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
        found = self._evaluator().scores(vector)
        self.seconds += perf_counter() - start
        return found

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
        if given.shape != (self.data.n_rows,):
            raise ValueError(
                f"scores have shape {given.shape}, expected ({self.data.n_rows},): "
                "one per row of the data"
            )
        start = perf_counter()
        rows = self.data.rows.block_for("the loss of given scores")
        total = self._counted_loss(rows, given) if given.dtype.kind in "iu" else None
        if total is None:
            values = np.ascontiguousarray(given, dtype=np.float64) / self.scale
            total = real.scores_loss(values, rows.labels, rows.weights, self.n_threads)
            if not math.isfinite(total):
                _check_finite(values, "scores")
        self._count(start)
        return float(total / rows.total_weight)

    def _counted_loss(self, rows: KernelRows, scores: NDArray[np.integer[Any]]) -> float | None:
        """Sum the losses of integer scores by way of a table; None if it does not apply."""
        limits = np.iinfo(np.int32)
        if scores.dtype != np.int32 and (scores.min() < limits.min or scores.max() > limits.max):
            return None
        given = np.ascontiguousarray(scores, dtype=np.int32)
        if self._table is not None:
            total = self._table.loss_of_scores(rows, given, self.n_threads)
            if total is not None:
                return total
        # Beyond the table, or in a small part of it.
        return loss_of_any_scores(rows, given, self.scale, self.n_threads)

    def bounds(
        self, max_size: int | None = None, *, should_stop: Callable[[], bool] | None = None
    ) -> tuple[float, float]:
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
        should_stop : callable, optional
            Asked between parts of the rows; once it is True, the result is 0 and infinity.

        Returns
        -------
        loss_min, loss_max : float
            Rounded outwards.
        """
        start = perf_counter()
        found = loss_range(
            self.store,
            self.coefficients,
            self.max_size if max_size is None else max_size,
            self.scales,
            self.n_threads,
            should_stop,
        )
        self._count(start)
        return found

    def reference_value(self, coef: ArrayLike) -> float:
        """Loss on a path that shares nothing with the kernels, to re-check certificates.

        Scores are accumulated column by column in float64, losses are taken with NumPy's
        ``log1p`` and ``exp``, and summed pairwise in the longest floating-point type.

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
        total = self._evaluator().reference_sum(vector)
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

    def _checked_points(self, coefs: Iterable[ArrayLike]) -> NDArray[np.float64]:
        points = [self._checked(coef) for coef in coefs]
        return np.array(points).reshape(len(points), self.data.n_features + 1)

    def _count(self, start: float, n: int = 1) -> None:
        self.seconds += perf_counter() - start
        self.n_evaluations += n


def _check_finite(values: NDArray[np.float64], what: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(
            f"{wrong.size} of {values.size} {what} are NaN or infinite, the first one at "
            f"position {wrong[0]}"
        )
