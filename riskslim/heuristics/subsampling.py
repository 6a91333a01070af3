r"""Rounding heuristics on a random part of the rows.

Sequential rounding and coordinate descent evaluate the loss many times, and most of what they
find is no new incumbent. On m of the n rows, drawn without replacement, they cost m/n of the
time; only what looks promising there is evaluated on all rows (Ustun & Rudin 2019, appendix
"Faster Rounding Heuristics via Subsampling").

With the loss :math:`l_n` on all rows, :math:`l_m` on the sample, and :math:`\Lambda_\rho` the at
most :math:`2^d` roundings of a real-valued point :math:`\rho`, the Theorem there says

.. math::

    P\Big(\max_{\lambda \in \Lambda_\rho} l_n(\lambda) - l_m(\lambda) \ge \varepsilon_\delta\Big)
    \le \delta, \qquad
    \varepsilon_\delta = \Delta^{\max}(\Lambda_\rho) \sqrt{\frac{\log(1/\delta) + d \log 2}{2}
    \cdot \frac{1}{m} \Big(1 - \frac{m^2}{n^2}\Big)},

where :math:`\Delta^{\max}` is the largest range of the losses of single rows. The Corollary: a
rounding whose objective on the sample is below :math:`V^{\max} - \varepsilon_\delta` improves an
incumbent of objective :math:`V^{\max}` with probability at least :math:`1 - \delta`. No
probability decides about an incumbent, however: it is accepted by its objective on all rows.
"""

from __future__ import annotations

import copy
import math
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.coefficients import CoefficientSet
from riskslim.data.distinct import take_rows
from riskslim.heuristics.descent import discrete_coordinate_descent, sequential_rounding, within_box
from riskslim.loss.logistic import LogisticLoss
from riskslim.loss.ranges import row_ranges
from riskslim.rows.functions import taken

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Subsampling", "epsilon", "loss_range", "pays", "sample_size", "sampled_problem"]

# Fewest rows of a sample, and the largest share of the rows that evaluations read: with more
# the heuristics would gain too little.
MIN_SAMPLE = 1000
MAX_SAMPLE_SHARE = 0.1

# Rows that an evaluation reads, from which on subsampling is used by default. Simulated data, 10
# features, whole runs without and with it: 10.5 s and 3.4 s at 10^6 rows, 1.4 s and 0.9 s at
# 10^5, 1.2 s and 0.7 s at 5 * 10^4. Below that little time is spent on rows at all.
MIN_ROWS = 50_000

# Relative slack for the rounding errors of a range.
_SLACK = 1e-8

# Roundings for which one sample is used. An unlucky one, on which every score looks worse than
# the incumbent, must not last; drawing costs less than one rounding.
MAX_USES = 16


def epsilon(delta: float, m: int, n: int, d: int, loss_range: float) -> float:
    r"""Most by which the loss on all rows exceeds that on a sample, with probability 1 - delta.

    Parameters
    ----------
    delta : float
        Probability that it exceeds it by more, 0 < delta < 1.
    m, n : int
        Numbers of rows in the sample and in all, 1 <= m <= n.
    d : int
        Number of coefficients that are rounded up or down.
    loss_range : float
        :math:`\Delta^{\max}`, see :func:`loss_range`.

    Returns
    -------
    float
        :math:`\varepsilon_\delta` of the Corollary; 0 for m = n.

    Raises
    ------
    ValueError
        An argument is out of its range.

    Examples
    --------
    >>> from riskslim.heuristics.subsampling import epsilon
    >>> round(epsilon(0.05, m=10_000, n=1_000_000, d=10, loss_range=4.0), 4)
    0.0891
    """
    _check(delta, n, d, loss_range)
    if not 1 <= m <= n:
        raise ValueError(f"m must be between 1 and n = {n}, got {m}")
    # (n - m)(n + m) is exact where 1 - m^2 / n^2 would cancel.
    return loss_range * math.sqrt(_factor(delta, d) / m * ((n - m) * (n + m) / n**2))


def sample_size(delta: float, epsilon: float, n: int, d: int, loss_range: float) -> int:
    r"""Smallest sample for which ``epsilon`` holds with probability 1 - delta.

    Parameters
    ----------
    delta : float
    epsilon : float
        At least 0; only m = n has none.
    n, d, loss_range
        As in :func:`epsilon`.

    Returns
    -------
    int
        The smallest m in 1..n with :math:`\varepsilon_\delta(m) \le` ``epsilon``.

    Raises
    ------
    ValueError
        An argument is out of its range.

    Notes
    -----
    With :math:`a = \Delta^2 (\log(1/\delta) + d \log 2) / 2` the condition is
    :math:`a (1/m - m/n^2) \le \varepsilon^2`. Its left-hand side falls with m, and is equal at

    .. math::

        m = \frac{2 a}{\varepsilon^2 + \sqrt{\varepsilon^4 + 4 a^2 / n^2}},

    the root of a quadratic in a form that does not cancel.

    Examples
    --------
    >>> from riskslim.heuristics.subsampling import epsilon, sample_size
    >>> m = sample_size(0.05, 0.05, n=1_000_000, d=10, loss_range=4.0)
    >>> m, epsilon(0.05, m, 1_000_000, 10, 4.0) <= 0.05 < epsilon(0.05, m - 1, 1_000_000, 10, 4.0)
    (31736, True)
    """
    _check(delta, n, d, loss_range)
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon!r}")
    a = loss_range**2 * _factor(delta, d)
    if a == 0 or math.isinf(epsilon):
        return 1
    root = 2 * a / (epsilon**2 + math.hypot(epsilon**2, 2 * a / n))
    m = min(max(math.ceil(root), 1), n)
    # The root is rounded; epsilon() itself decides.
    while m < n and _epsilon(delta, m, n, d, loss_range) > epsilon:
        m += 1
    while m > 1 and _epsilon(delta, m - 1, n, d, loss_range) <= epsilon:
        m -= 1
    return m


# A name for use inside of sample_size, whose argument is called epsilon.
_epsilon = epsilon


def _factor(delta: float, d: int) -> float:
    return (math.log(1.0 / delta) + d * math.log(2.0)) / 2.0


def _check(delta: float, n: int, d: int, loss_range: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, both excluded, got {delta!r}")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if d < 0:
        raise ValueError(f"d must be at least 0, got {d}")
    if not (loss_range >= 0 and math.isfinite(loss_range)):
        raise ValueError(f"loss_range must be finite and at least 0, got {loss_range!r}")


def loss_range(
    loss: LogisticLoss, point: NDArray[np.float64], stop: NDArray[np.int64] | None = None
) -> float:
    r"""Bound on the range of the rows' losses over all roundings of a point.

    Parameters
    ----------
    loss : LogisticLoss
    point : ndarray of float64, shape (d + 1,)
        Real-valued coefficients, intercept first.
    stop : int64 array of shape (1,), optional
        Not zero: look at no more rows, and return infinity.

    Returns
    -------
    float
        At least :math:`\Delta^{\max}(\Lambda_\rho) = \max_{\lambda \in \Lambda_\rho} (\max_i l_i
        (\lambda) - \min_i l_i(\lambda))`.

    Notes
    -----
    Every row has a least and a largest margin over the box from the rounded down to the rounded
    up coefficients, and the loss falls with the margin. The bound is the largest loss of any row
    at its least margin, less the smallest loss of any row at its largest margin. Rows and
    roundings are thus looked at apart, which can only make it larger. It takes one
    pass over the columns whose box is not zero.

    With weights :math:`l_i` stands for :math:`n w_i l_i / W`, whose mean is the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
    >>> from riskslim.heuristics.subsampling import loss_range
    >>> data = TrainingData([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
    >>> loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3))
    >>> round(loss_range(loss, np.array([0.0, 1.5, -0.5])), 4)
    0.5662
    """
    data = loss.data
    # Equal rows have equal losses, but weights that are added up are no longer those of a row.
    rows = loss.rows if data.sample_weight is None else data.block
    lower, upper = np.floor(point).astype(np.int64), np.ceil(point).astype(np.int64)
    box = CoefficientSet(data.feature_names, lower[1:], upper[1:])
    start = perf_counter()
    least, largest = math.inf, 0.0
    for chunk, low, high in row_ranges(rows, box, len(box), loss.n_threads):
        if stop is not None and stop[0]:
            return math.inf
        low += lower[0]
        high += upper[0]
        positive = rows.labels[chunk] > 0
        low /= loss.scale
        high /= loss.scale
        worst, best = np.where(positive, low, -high), np.where(positive, high, -low)
        if data.sample_weight is None:
            worst, best = worst.min(keepdims=True), best.max(keepdims=True)
            weights = np.ones(1)
        else:
            weights = rows.weights[chunk] * (rows.n_rows / rows.total_weight)
        largest = max(largest, float((weights * np.logaddexp(0.0, -worst)).max()))
        least = min(least, float((weights * np.logaddexp(0.0, -best)).min()))
    loss.seconds += perf_counter() - start
    return (largest - least) * (1.0 + _SLACK)


def pays(loss: LogisticLoss) -> bool:
    """True if rounding on samples saves time, all in all.

    Parameters
    ----------
    loss : LogisticLoss

    Returns
    -------
    bool
        Whether an evaluation reads at least 50,000 rows.
    """
    return loss.n_rows >= MIN_ROWS


class Subsampling:
    r"""Rounding and polishing on a sample, for one search.

    Parameters
    ----------
    delta : float, default 0.05
        Probability :math:`\delta` of the guarantee.
    random_state : int, default 0
        Seed of the samples.

    Attributes
    ----------
    n_roundings : int
        Points rounded on a sample.
    n_checks : int
        Promising results, whose objective was computed on all rows.
    n_accepted : int
        Of these, results better than the incumbent.
    sample_size : int
        Rows of the latest sample.
    epsilon : float
        Largest :math:`\varepsilon_\delta` of the points whose rounding became an incumbent, 0
        without one.

    Notes
    -----
    **Size of the sample.** The open gap :math:`V^{\max} - V^{\min}` is the most that any solution
    can gain: m is the smallest sample whose :math:`\varepsilon_\delta` is at most this gap, but not
    more than a tenth of the rows that an evaluation reads. Where that tenth is too few for
    the guarantee, the sample still serves its purpose, which is to tell what is worth a
    look at all rows; ``epsilon`` says what is guaranteed.

    **Reuse.** The Theorem is about a point chosen without regard to the sample. A search that
    has accepted nothing from a sample goes on as if there had been none, so that its next point
    depends on it in no way. Once something is accepted, the next point gets another
    sample; besides, each sample serves for at most 16 points.

    **Rows.** Samples are drawn from the rows of the data, not from merged ones, as the Theorem has
    it. It is about roundings; polishing leaves their set, so that its results have no guarantee.

    **Checks on all rows.** :math:`n l_n = m l_m + (n - m) l_{n-m}` would allow for a look at the
    remaining n - m rows only. They lie scattered: to evaluate them they would have to be copied (a
    second copy of the data for each sample) or masked. At n = 10^6 and d = 10 the loss on
    all rows takes 0.3 ms, while copying the 10^5 rows of a sample takes 0.6 ms. One pass over all
    rows therefore costs less, and gives the loss exactly as it is computed elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim.paper.simulation import simulate
    >>> from riskslim.heuristics.subsampling import Subsampling
    >>> X, y, names, _ = simulate(20_000, 4)
    >>> data = TrainingData(X, y, feature_names=names)
    >>> coefficients = CoefficientSet(names, -5, 5)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> subsampling = Subsampling()
    >>> point = np.array([-6.3, 0.7, 0.6, 0.8, 0.4])
    >>> coef, objective = subsampling.round_and_polish(problem, point, objective_max=0.5)
    >>> bool(objective == problem.objective(coef)), subsampling.n_checks
    (True, 1)
    """

    def __init__(self, delta: float = 0.05, random_state: int = 0) -> None:
        if not 0 < delta < 1:
            raise ValueError(f"delta must be between 0 and 1, both excluded, got {delta!r}")
        self.delta = delta
        self.n_roundings = 0
        self.n_checks = 0
        self.n_accepted = 0
        self.sample_size = 0
        self.epsilon = 0.0
        self._random = np.random.default_rng(random_state)
        self._loss: LogisticLoss | None = None
        self._uses = 0

    def statistics(self) -> dict[str, Any]:
        """Return what :class:`~riskslim.solution.SolveStatistics` says about it."""
        return {
            "subsampled_roundings": self.n_roundings,
            "subsampled_checks": self.n_checks,
            "subsampling_epsilon": self.epsilon,
        }

    def round_and_polish(
        self,
        problem: RiskScoreProblem,
        point: NDArray[np.float64],
        *,
        objective_max: float,
        objective_min: float = 0.0,
        cutoff: float | None = None,
        polish: bool = True,
        swaps: bool = False,
        stop: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], float] | None:
        r"""Round a point on a sample, polish the result there, and check it on all rows.

        Parameters
        ----------
        problem : RiskScoreProblem
        point : ndarray of float64, shape (d + 1,)
            Within the box.
        objective_max, objective_min : float
            Objective :math:`V^{\max}` of the incumbent, and a lower bound on the optimal value.
        cutoff : float, optional
            Rounding ends where no objective on the sample can fall below it. Default:
            ``objective_max`` without polishing, else infinity.
        polish, swaps : bool
            Whether to polish, and to exchange features.
        stop : int64 array of shape (1,), optional
            Not zero: end as soon as possible.

        Returns
        -------
        (coef, objective) or None
            The objective is that on all rows and less than ``objective_max``. None: the result is
            not promising (its objective on the sample is not below ``objective_max``), or it is
            not better; or it was to stop.

        Raises
        ------
        ValueError
            The point is not within the box.
        """
        self.n_roundings += 1
        point = within_box(problem, point)
        if self._loss is None or self._uses >= MAX_USES:
            self._loss = self._draw(problem, point, objective_max - objective_min, stop)
        if self._loss is None:
            return None
        self._uses += 1
        sampled = copy.copy(problem)
        sampled.loss = self._loss
        seconds = self._loss.seconds
        if cutoff is None:
            cutoff = math.inf if polish else objective_max
        found = sequential_rounding(sampled, point, cutoff=cutoff, stop=stop)
        if polish and found.coefficients is not None:
            found = discrete_coordinate_descent(sampled, found.coefficients, swaps=swaps, stop=stop)
        problem.loss.seconds += self._loss.seconds - seconds
        if found.coefficients is None or not found.objective < objective_max:
            return None
        self.n_checks += 1
        objective = problem.objective(found.coefficients)
        if not objective < objective_max:
            return None
        self._accept(problem.loss, point, stop)
        return found.coefficients, objective

    def _draw(
        self,
        problem: RiskScoreProblem,
        point: NDArray[np.float64],
        gap: float,
        stop: NDArray[np.int64] | None = None,
    ) -> LogisticLoss | None:
        """Loss on a new sample that suits a point and an open gap; None after a stop."""
        loss, data = problem.loss, problem.loss.data
        n = data.n_rows
        fewest = min(MIN_SAMPLE, n)
        most = max(int(MAX_SAMPLE_SHARE * loss.n_rows), fewest)
        m = most
        if most > fewest:
            wanted, width = max(gap, 0.0), loss_range(loss, point, stop)
            if math.isinf(width):
                return None
            m = sample_size(self.delta, wanted, n, _n_rounded(point), width)
            m = min(max(m, fewest), most)
        self.sample_size = m
        self._uses = 0
        return _loss_on_sample(loss, m, self._random)

    def _accept(
        self, loss: LogisticLoss, point: NDArray[np.float64], stop: NDArray[np.int64] | None
    ) -> None:
        self.n_accepted += 1
        self._loss = None
        width = loss_range(loss, point, stop)
        if math.isinf(width):
            self.epsilon = math.inf  # nothing is known of the last sample
            return
        n, d = loss.n_samples, _n_rounded(point)
        self.epsilon = max(self.epsilon, epsilon(self.delta, self.sample_size, n, d, width))


def _n_rounded(point: NDArray[np.float64]) -> int:
    """Number of coefficients that are not integers: the point has 2 to that power roundings."""
    return int(np.count_nonzero(point != np.rint(point)))


def _loss_on_sample(loss: LogisticLoss, m: int, random: np.random.Generator) -> LogisticLoss:
    rows = loss.data.block
    n = rows.n_samples if len(rows.numbers) else rows.n_rows
    m = min(m, n)
    index = random.choice(n, m, replace=False, shuffle=False)
    index.sort()
    if len(rows.numbers):  # they stand for several, of which some are drawn
        return loss.on_rows(taken(rows, index))
    return loss.on_rows(
        take_rows(
            rows,
            index,
            weights=rows.weights.take(index) if len(rows.weights) else rows.weights,
            total_weight=rows.total_weight * (m / n),
            n_samples=m,
        )
    )


def sampled_problem(problem: RiskScoreProblem, m: int) -> RiskScoreProblem:
    """State a problem on a sample of its rows, always the same one, for heuristics.

    Parameters
    ----------
    problem : RiskScoreProblem
    m : int
        Rows, at most as many as there are.

    Returns
    -------
    RiskScoreProblem
        Its objectives are estimates, and its loss has counters of its own.
    """
    sampled = copy.copy(problem)
    sampled.loss = _loss_on_sample(problem.loss, m, np.random.default_rng(0))
    return sampled
