r"""The risk score as a scikit-learn classifier.

:class:`RiskSLIMClassifier` strings the steps of the package together: it packs the data, states the
problem, lets an engine solve it, and keeps the risk score with its certificate. It adds
scikit-learn's conventions and nothing else: all predictions are those of its
:class:`~riskslim.RiskScore`.
"""

from __future__ import annotations

import copy
import dataclasses
import numbers
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from riskslim._wording import listing
from riskslim.coefficients import (
    MAX_ABSOLUTE_COEFFICIENT,
    CoefficientSet,
    ParameterNames,
    PerFeature,
    checked_integer,
)
from riskslim.constraints.allowed_points import monotone
from riskslim.constraints.base import Constraint, variable
from riskslim.constraints.linear import items_per_variable
from riskslim.data.conventions import columns_of, is_finite_array, one_column, with_columns
from riskslim.data.lazy import is_collection, of_rows
from riskslim.data.tables import Table, check_columns, open_table
from riskslim.data.training_data import TrainingData
from riskslim.engines.choice import (
    DEFAULT_SCALE,
    choose_engine,
    choose_scales,
    engine_arguments,
    engine_named,
    solve,
)
from riskslim.engines.lattice_cpa.solvers import import_solver
from riskslim.engines.runs import (
    DEFAULT_GAP_TOLERANCE,
    DEFAULT_SOLVER,
    DEFAULT_TIME_LIMIT,
    MAX_SEED,
    check_solver,
    checked_limits,
)
from riskslim.exceptions import InfeasibleProblemError
from riskslim.items.encoder import ItemEncoder, check_rows
from riskslim.operating_point import RequiredShare
from riskslim.problem.problem import DEFAULT_L0_PENALTY, RiskScoreProblem, checked_ridge
from riskslim.problem.starts import start_of
from riskslim.reader import are_paths, read
from riskslim.risk_score import RiskScore
from riskslim.scale import ScaleLike
from riskslim.score.layout import checked_points_shown
from riskslim.score.observations import class_labels
from riskslim.solution import Certificate, Solution, Status, TraceRecord, percent
from riskslim.verbose import VerboseLog

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives

__all__ = ["RiskSLIMClassifier"]

# Strength of the prior of fits to fewer rows, by the tables of docs/shrinkage.md: there it gains,
# and on more rows it does not, or costs where the best weights are large.
DEFAULT_SHRINKAGE, MANY_ROWS = 1.0, 2000
AUTO = "auto"
# Seeds of NumPy, which scikit-learn's ensembles hand out; solvers take fewer.
_SEEDS = 2**32


class RiskSLIMClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""The best risk score within given requirements, with a certificate.

    A risk score has few features with small whole-number points. Fitting minimises the average
    logistic loss plus a price per feature, over all scores that meet the requirements,

    .. math::

        \min_{\lambda \in \mathcal{L}} \;
        \frac{1}{\sum_i w_i} \sum_i w_i \log(1 + \exp(-y_i \lambda \cdot x_i / m))
        + C_0 \|\lambda_{[1,d]}\|_0
        \quad \text{subject to} \quad R^{\min} \le \|\lambda_{[1,d]}\|_0 \le R^{\max},

    and proves how far from optimal its result can be at most (``certificate_``).

    With ``sensitivity`` or ``specificity`` it is the best rule: of all scores that reach this share
    of the training rows from some score on, one with the most of the other share, and of those one
    with the least objective.

    A ridge penalty on the weights in log-odds, :math:`\sum_j \alpha_j (\lambda_j / m)^2`, is added,
    which keeps points small for which few rows speak; ``l2_penalty=0`` leaves it out.

    Parameters
    ----------
    max_size : int or None, default 5
        Largest number :math:`R^{\max}` of features with points. None: no limit.
    max_coef : int, sequence of d ints, or mapping from names to ints, default 5
        Most points of each feature. Features that a mapping does not name have at most 5. The
        features of an array without names are called "x1" to "xd".
    max_intercept : int, optional
        The intercept is between minus this and this. None: bounds are derived from the data so
        that they cut off no optimal score.
    l0_penalty : float, sequence of d floats, or mapping from names to floats, default 1e-6
        Price :math:`C_0` of each feature in units of the loss. Features that a mapping does not
        name cost 1e-6.
    l2_penalty : float, sequence of d floats, or mapping from names to floats, optional
        Ridge penalty :math:`\alpha_j` of the squared weight of each feature, which is its points
        divided by the scale; 0 of features that a mapping does not name. The intercept has none.
        Each fit has the same, whatever its number of rows, as each of scikit-learn's ``Ridge`` has
        its ``alpha``: fits to the folds of a cross-validation have a weaker prior than the fit to
        all rows. :func:`riskslim.model_size_path` holds the strength of the prior fixed instead.
    shrinkage : "auto", float, sequence of d floats, or mapping from names to floats, default "auto"
        The strength of the prior, in place of ``l2_penalty``: :math:`\alpha_j n`, with n the total
        weight of the rows that are fitted to. Weights have a normal prior of the variance
        1 / (2 ``shrinkage``), which is scikit-learn's ``C``. "auto", where ``l2_penalty`` is not
        given: 1 for fewer than 2,000 rows, those of weight zero not counted, 0 from there on, and
        for ``engine="lattice_cpa"``, which solves the paper's problem.
    time_limit : float, default 60.0
        Seconds for the search. If it ends there, the best score so far is kept, with a
        ``ConvergenceWarning``.
    gap_tolerance : float, default 0.0
        Relative optimality gap at which the search may stop.
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
        :func:`~riskslim.branch_and_bound` needs no solver, :func:`~riskslim.lattice_cpa` needs
        CPLEX or SCIP. "auto": branch and bound, or ``lattice_cpa`` in a build without compiled
        kernels.
    scale : "auto", number, list of numbers, tuple (low, high) or "free"
        The scale m, or all that it may be: a point is worth 1 / m units of log-odds. "auto":
        "free", which is from 0.5 to 20; 1, the paper's, for ``lattice_cpa`` and where constraints
        are about risks.
    constraints : sequence of constraints
        Further requirements, by names of features: :class:`~riskslim.LinearConstraint` and its
        like; see docs/constraints.md.
    n_threads : int, default 1
        Threads of the search; -1 for all cores.
    random_state : int, RandomState instance or None, default 0
        Seed of ``lattice_cpa``; ``branch_and_bound`` has nothing random in it.
    verbose : int, default 0
        0 is silent; 1 shows a line of progress per second at most, 2 one for each change of a
        bound. Lines go to the handlers of the logger "riskslim", or to standard error where
        logging is not set up.
    min_size : int, default 0
        Smallest number :math:`R^{\min}` of features with points.
    min_coef : int, sequence of d ints, or mapping from names to ints, optional
        Fewest points of each feature; -5 where a mapping does not name it. None: minus
        ``max_coef``.
    sign : {"+", "-", 1, -1, 0, None}, sequence of d of them, or mapping, optional
        "+" allows no negative points, "-" no positive ones.
    fixed : mapping from names to ints, optional
        Points that are given, not chosen; 0 leaves a feature out.
    coef_values : mapping from names to iterables of ints, optional
        Allowed points, which replace the bounds of a feature; 0 only if it is among them.
    class_weight : mapping from labels to weights, "balanced" or None
        Weights of the classes, by which the rows' own weights are multiplied; 1 for a label that
        is not named. "balanced" gives both classes the same total weight. Risks are then
        no longer those of the population, and the score says so
        (``risk_score_.class_weighting``); the guide says what to do instead.
    solver : {"cplex", "scip"}
        Of ``lattice_cpa``.
    settings : BranchAndBoundSettings or LatticeCPASettings, optional
        Of the engine.
    node_limit : int, optional
        Most nodes of the search tree: unlike a time limit, the same on every machine.
    n_solutions : int, optional
        Find this many of the best risk scores, listed in ``solution_.pool``; needs
        ``branch_and_bound``.
    within : float, optional
        Find all risk scores with an objective of at most (1 + within) times the best one, or the
        best ``n_solutions`` of them; needs ``branch_and_bound``. With ``sensitivity`` or
        ``specificity``: the best rule of each set of features whose other share is at most
        ``within`` less than that of the best rule.
    items : ItemEncoder, optional
        X has raw columns, numbers, text, missing values, and a clone of this encoder makes the
        features of them: 0/1 items such as "age >= 60". ``ItemEncoder(n_thresholds="all",
        round_thresholds=True)`` leaves the choice of cut-offs to the search. Predictions take
        raw columns, too. Parameters that name features name items then. None: X has the
        features.
    items_per_variable : int, optional
        At most so many items of each variable have points. Without ``items`` the variable of
        "age >= 60" is what its name says.
    monotone : "auto" or mapping from variables to {"+", "-", "auto"}, optional
        More of a variable never lowers the risk ("+"), or never raises it ("-"); "auto": the sign
        of its trend in the training rows, see :func:`~riskslim.monotone`. "auto" alone: of all
        variables with thresholds, numbers, 0 and 1, or levels in an order.
    positive_label : optional
        The label whose risk the score is about, such as "dead" of "alive" and "dead". Default: the
        last one in sorted order, with a warning where two texts do not say themselves which is
        meant.
    start : RiskScore, mapping from names to points, or array-like of shape (d + 1,), optional
        A score that the search starts from, such as one that is in use: the result is at least as
        good. It has to meet the requirements. Of a mapping "(intercept)" is the intercept, and the
        best one is taken without it; an array has the intercept first.
    points : {"fitted", "non-negative"}, default "fitted"
        How sheets of the score show points: "non-negative" turns conditions with negative points
        round. Scores are those of the sheet; coefficients, risks and certificate are the same
        (:meth:`RiskScore.with_layout`).
    sensitivity : float, optional
        Find the best rule that must not miss cases: of all scores that call at least this share of
        the positive rows positive, one that calls the fewest of the others positive. What is
        positive is said by ``risk_score_.operating_point``, and ``predict`` goes by it. Weights of
        rows count; weights of classes do not move these shares.
    specificity : float, optional
        The other way round: at least this share of the negative rows is called negative, and most
        of the positive ones are found. One of both may be given.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        Log-odds of the second of ``classes_`` per unit of each feature, of each item where there
        are ``items``: ``X @ coef_.T + intercept_`` is ``decision_function``.
    intercept_ : ndarray of float64, shape (1,)
    points_ : ndarray of int64, shape (1, d)
        Points of each feature, or item, for the positive label, as they were fitted.
    intercept_points_ : ndarray of int64, shape (1,)
        The intercept in points.
    classes_ : ndarray of shape (2,)
        The two labels in sorted order, which is that of the columns of ``predict_proba``.
    positive_label_ : object
        The label whose risk ``risk_score_`` is about: the second of ``classes_`` unless
        ``positive_label`` says otherwise.
    risk_score_ : RiskScore
        Points table, risk table, predictions from the features with points alone, files.
    certificate_ : Certificate
        What is proven: objective, lower bound, optimality gap, status.
    loss_ : float
        Logistic loss on the training data, the objective without the prices of features; with the
        weights of rows and classes.
    solution_ : Solution
        The same with the course of the search, its statistics, and the pool of scores.
    remarks_ : tuple of str
        What is worth knowing about the score, in words: features too coarse for points, points
        at a bound, no features at all, weights that change the risks, cut-offs that could as well
        be others. See :meth:`RiskScoreProblem.remarks` and :meth:`RiskScore.remarks`.
    encoder_ : ItemEncoder or None
        Fitted to the raw columns, where there are ``items``. ``risk_score_`` knows what it learned.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (d,)
        Only where X has names.

    See Also
    --------
    RiskScoreProblem : The same problem for those who want each step by itself.

    Notes
    -----
    Log-odds of the positive label are ``(X @ points_[0] + intercept_points_) / risk_score_.scale``;
    where ``positive_label`` is the first of ``classes_``, ``coef_`` and ``intercept_`` have the
    other sign. A fitted classifier keeps no training data, neither in memory nor in a pickle.
    Ctrl-C ends the search and keeps the best score so far, with a ``ConvergenceWarning``; a second
    one raises ``KeyboardInterrupt``. In scikit-learn's ``GridSearchCV``, and in all else of it that
    fits several copies, the first one does: Ctrl-C ends the grid, not one fit.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, JMLR 20(150), Definition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier
    >>> X = np.array(10 * [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 1], [1, 0]])  # 0/1
    >>> y = 10 * ["no", "yes", "yes", "no", "yes", "no", "no", "yes"]
    >>> classifier = RiskSLIMClassifier(max_size=1, scale=1).fit(X, y)
    >>> classifier.points_, classifier.intercept_points_, classifier.classes_
    (array([[3, 0]]), array([-2]), array(['no', 'yes'], dtype='<U3'))
    >>> print(classifier.certificate_)  # doctest: +NORMALIZE_WHITESPACE
    optimal: objective 0.480887559 = loss 0.368386559 + ridge 0.1125 + prices 1e-06,
    lower bound 0.480887559, gap 0.00%, 80 rows
    >>> classifier.predict([[1, 1], [0, 1]])
    array(['yes', 'no'], dtype='<U3')

    From a table of raw columns, with all cut-offs to choose from:

    >>> import pandas as pd
    >>> from riskslim import ItemEncoder
    >>> ages = np.arange(20, 90)
    >>> raw = pd.DataFrame({"age": ages, "sex": np.where(ages % 2, "f", "m")})
    >>> died = np.where((ages >= 63) & (ages % 7 > 0), "yes", "no")
    >>> encoder = ItemEncoder(n_thresholds="all", round_thresholds=True)
    >>> classifier = RiskSLIMClassifier(max_size=1, items=encoder).fit(raw, died)
    >>> dict(classifier.risk_score_.points), classifier.predict(raw[:1])
    ({'age >= 64': 4}, array(['no'], dtype='<U3'))
    """

    encoder_: ItemEncoder | None

    def __init__(
        self,
        *,
        max_size: int | None = 5,
        max_coef: PerFeature = 5,
        max_intercept: int | None = None,
        l0_penalty: PerFeature = DEFAULT_L0_PENALTY,
        l2_penalty: PerFeature | None = None,
        shrinkage: PerFeature | str = AUTO,
        time_limit: float = DEFAULT_TIME_LIMIT,
        gap_tolerance: float = DEFAULT_GAP_TOLERANCE,
        engine: str = "auto",
        scale: ScaleLike = DEFAULT_SCALE,
        constraints: Sequence[Constraint] = (),
        n_threads: int = 1,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
        min_size: int = 0,
        min_coef: PerFeature | None = None,
        sign: str | PerFeature | None = None,
        fixed: Mapping[str, int] | None = None,
        coef_values: Mapping[str, Iterable[int]] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str = DEFAULT_SOLVER,
        settings: Any = None,
        node_limit: int | None = None,
        n_solutions: int | None = None,
        within: float | None = None,
        items: ItemEncoder | None = None,
        items_per_variable: int | None = None,
        monotone: str | Mapping[str, str] | None = None,
        positive_label: Any = None,
        start: Any = None,
        points: str = "fitted",
        sensitivity: float | None = None,
        specificity: float | None = None,
    ) -> None:
        self.max_size = max_size
        self.max_coef = max_coef
        self.max_intercept = max_intercept
        self.l0_penalty = l0_penalty
        self.l2_penalty = l2_penalty
        self.shrinkage = shrinkage
        self.time_limit = time_limit
        self.gap_tolerance = gap_tolerance
        self.engine = engine
        self.scale = scale
        self.constraints = constraints
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.min_size = min_size
        self.min_coef = min_coef
        self.sign = sign
        self.fixed = fixed
        self.coef_values = coef_values
        self.class_weight = class_weight
        self.solver = solver
        self.settings = settings
        self.node_limit = node_limit
        self.n_solutions = n_solutions
        self.within = within
        self.items = items
        self.items_per_variable = items_per_variable
        self.monotone = monotone
        self.positive_label = positive_label
        self.start = start
        self.points = points
        self.sensitivity = sensitivity
        self.specificity = specificity

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None
    ) -> RiskSLIMClassifier:
        """Find the best risk score for the training data.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), path-like, or TrainingData
            Numbers without missing values: a NumPy array, nested lists, or a data frame of any
            library that narwhals understands. Values that are integers in -128..127 take one byte
            each, whatever their dtype. With ``items``, raw columns as the encoder takes them.
            Paths of CSV or Parquet files and of folders, and Dask collections, are read as
            :func:`riskslim.read` does. Training data that it has read need nothing else.
        y : array-like of shape (n,), or str
            Two distinct labels of any kind; of files the name of their column. The risk is that of
            ``positive_label``, by default the last one in sorted order.
        sample_weight : array-like of shape (n,), or str, optional
            Non-negative weights of the rows. Whole numbers mean repeated rows.

        Returns
        -------
        RiskSLIMClassifier
            This estimator.

        Raises
        ------
        ValueError, TypeError
            Data or parameters are refused, as :class:`~riskslim.TrainingData`,
            :class:`~riskslim.CoefficientSet` and :class:`~riskslim.RiskScoreProblem` say.
        InfeasibleProblemError
            No risk score meets the requirements (a ``ValueError``); the message names constraints
            that contradict each other.
        RiskSLIMError
            A limit was reached before any score was found that meets the constraints; the solver
            cannot be started, or its licence is too small.

        Warns
        -----
        ConvergenceWarning
            The search ended at a limit or by Ctrl-C, with a gap that is stated.
        ConstantFeatureWarning
            Features have one value in all rows.
        PositiveLabelWarning
            The sorted order of two texts decides whose risk it is.
        """
        limits = self._limits()
        if not isinstance(X, TrainingData):
            y = one_column(self, y)
        data = training_data_of(self, X, y, sample_weight)
        self.encoder_ = data.encoder
        self._note_columns(X, data)
        problem, arguments = self._stated(data, limits)
        if self.start is not None:
            arguments["start"] = start_of(self.start, problem)
        log = VerboseLog("riskslim.classifier", "RiskSLIMClassifier", self.verbose)
        log.write("engine: %s, %r", arguments["engine"], problem)
        # Where the engines' own lines are heard, there is no need for any of progress.
        progress = partial(_line_of_progress, log) if log.is_alone else None
        solution = solve(problem, **arguments, progress=progress)
        if solution.is_interrupted and _is_one_of_many():
            raise KeyboardInterrupt
        if solution.certificate.status is Status.INFEASIBLE:
            raise InfeasibleProblemError(solution.certificate.message)
        self._keep(solution, problem)
        self._tell(log)
        return self

    def _tell(self, log: VerboseLog) -> None:
        """Say how the search for the score ended, and warn where it did too early."""
        log.write("%s", self.certificate_)
        for remark in self.remarks_:
            log.write("%s", remark)
        if self.certificate_.status is not Status.OPTIMAL:
            warnings.warn(_unfinished(self.certificate_), ConvergenceWarning, stacklevel=3)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            With the features of the training data in their order.

        Returns
        -------
        ndarray of shape (n,)
            With ``sensitivity`` or ``specificity`` the positive label from the threshold of
            ``risk_score_.operating_point`` on. Otherwise the label of which the risk is above 50%;
            at exactly 50%, where ``decision_function`` is 0, the first of ``classes_``, as
            scikit-learn has it.
        """
        if is_collection(X):
            return self._later(X, type(self).predict, self.classes_.dtype)
        is_second = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[is_second.astype(np.intp)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``.
        """
        if is_collection(X):
            return self._later(X, type(self).predict_proba, np.float64, 2)
        score, rows = self._score_and_rows(X)
        risks = score.predict_proba(rows)
        return risks if self._is_last() else risks[:, ::-1]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Accurate where a probability is too small for float64, too.
        """
        if is_collection(X):
            return self._later(X, type(self).predict_log_proba, np.float64, 2)
        score, rows = self._score_and_rows(X)
        log_odds = score.log_odds(rows) if self._is_last() else -score.log_odds(rows)
        return -np.logaddexp(0.0, np.column_stack((log_odds, -log_odds)))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute what is positive where the second of ``classes_`` is predicted: log-odds.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
            Of the second of ``classes_``, as scikit-learn has it: (score + intercept) / scale, or
            minus that where ``positive_label`` is the first of them. With ``sensitivity`` or
            ``specificity`` in excess of the threshold, as :meth:`RiskScore.decision_function` says.
        """
        if is_collection(X):
            return self._later(X, type(self).decision_function, np.float64)
        score, rows = self._score_and_rows(X)
        found = score.decision_function(rows)
        return found if self._is_last() else 0.0 - found

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Compute the score of each row: the sum of its points, the intercept not included.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            As on the sheet, whose points may be others than ``points_``, see ``points``.
            int64 where all values of features with points are integers, else float64; float64 of
            Dask collections.
        """
        if is_collection(X):
            return self._later(X, type(self).score_samples, np.float64)
        score, rows = self._score_and_rows(X)
        return score.score_samples(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if isinstance(self.items, ItemEncoder):
            tags.input_tags = get_tags(self.items).input_tags
        return tags

    def alternatives(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        within: float = 0.01,
        prices: str | None = None,
        n_sets: int | None = None,
    ) -> Alternatives:
        """Find every set of items whose best score is about as good as the best one.

        The classifier need not be fitted, and is not by this.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        within : float, default 0.01
            Sets are listed whose best score has an objective of at most (1 + within) times the
            best.
        prices : {"used", "all"}, optional
            What it costs to do without each item of the best score, and without each of its
            variables; "all": also, what it costs to use each other one.
        n_sets : int, optional
            List the best so many sets of them only.

        Returns
        -------
        Alternatives
            ``time_limit`` is for all of it. What is known after a limit or Ctrl-C is valid, and
            says what is missing.

        Raises
        ------
        ValueError, TypeError
            As in :meth:`fit`; the engine is ``lattice_cpa``, or the classifier asks for a rule, or
            for another list.
        InfeasibleProblemError
            No risk score meets the requirements.
        RiskSLIMError
            A limit was reached before any score was found that meets the constraints.

        Warns
        -----
        ConstantFeatureWarning, PositiveLabelWarning
            As in :meth:`fit`.

        See Also
        --------
        riskslim.near_optimal.compare : Second criteria of each, and the choice of one.

        Examples
        --------
        >>> import riskslim
        >>> X = {"age >= 60": [0, 1, 1, 0, 1, 0, 1, 0] * 4, "smoker": [1, 0, 1, 0, 1, 0, 1, 1] * 4}
        >>> data = riskslim.read(X, [0, 1, 1, 0, 1, 0, 0, 1] * 4)
        >>> classifier = riskslim.RiskSLIMClassifier(max_size=1)
        >>> found = classifier.alternatives(data, within=0.5)
        >>> [found.items(rank) for rank in range(len(found))]
        [('age >= 60',), ('smoker',), ()]
        >>> found.score(data, 1).points
        mappingproxy({'smoker': 5})
        """
        # A fit needs none of it.
        from riskslim.near_optimal.alternatives import alternatives

        choice = engine_named(self.engine)
        if choice.name == "lattice_cpa":
            raise ValueError(
                "alternatives need engine='branch_and_bound': lattice_cpa finds one risk score"
                f"{choice.remark}"
            )
        _check_list(self)
        limits = self._limits()
        if not isinstance(X, TrainingData):
            y = one_column(self, y)
        problem, arguments = self._stated(training_data_of(self, X, y, sample_weight), limits)
        log = VerboseLog("riskslim.classifier", "RiskSLIMClassifier", self.verbose)
        found = alternatives(
            problem, within, prices=prices, n_sets=n_sets,  # type: ignore[arg-type] # checked there
            time_limit=arguments["time_limit"], n_threads=arguments["n_threads"],
            settings=self.settings,
            start=None if self.start is None else start_of(self.start, problem),
            progress=partial(_line_of_progress, log) if log.is_alone else None,
        )  # fmt: skip
        log.write("%s", found.explain())
        return found

    # -----------------------------------------------------------------------------------------
    # From parameters to an engine's arguments
    # -----------------------------------------------------------------------------------------

    def _limits(self) -> dict[str, Any]:
        """Check what costs nothing to check, before the data are read."""
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.RandomState):
            seed = check_random_state(seed).randint(MAX_SEED)
        elif isinstance(seed, (int, np.integer)) and MAX_SEED < seed < _SEEDS:
            seed = int(seed) % MAX_SEED
        check_solver(self.solver)
        self.required_share()
        if engine_named(self.engine).name == "lattice_cpa":
            import_solver(self.solver)
        checked_points_shown(self.points)
        return checked_limits(
            self.time_limit, self.gap_tolerance, self.node_limit, self.n_threads, seed
        )

    def required_share(self) -> RequiredShare | None:
        """Return the share that the score has to reach, None where it is fitted for the loss.

        Returns
        -------
        RequiredShare or None

        Raises
        ------
        ValueError
            Both shares are given, or one that is none.

        Examples
        --------
        >>> from riskslim import RiskSLIMClassifier
        >>> print(RiskSLIMClassifier(sensitivity=0.95).required_share())
        finds at least 95% of the positive rows
        """
        if self.sensitivity is not None and self.specificity is not None:
            raise ValueError(
                "sensitivity and specificity exclude each other: the score reaches one of them, "
                "and has as much of the other as is possible; operating_point_at_least is a "
                "constraint on both"
            )
        if self.sensitivity is not None:
            return RequiredShare("sensitivity", self.sensitivity)
        return None if self.specificity is None else RequiredShare("specificity", self.specificity)

    def problem_on(self, data: TrainingData) -> RiskScoreProblem:
        """State the problem that is solved when the classifier is fitted to some rows.

        Parameters
        ----------
        data : TrainingData
            With the weights of the rows; ``class_weight`` is applied to them.

        Returns
        -------
        RiskScoreProblem

        Raises
        ------
        ValueError, TypeError
            As in :meth:`fit`.

        Examples
        --------
        >>> from riskslim import RiskSLIMClassifier, TrainingData
        >>> data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
        >>> RiskSLIMClassifier(max_size=1).problem_on(data).max_size
        1
        """
        return stated_by(self, data)[0]

    def _stated(
        self, data: TrainingData, limits: dict[str, Any]
    ) -> tuple[RiskScoreProblem, dict[str, Any]]:
        """The problem, and all that its engine is told."""
        if self.class_weight is not None:
            data = data.with_class_weight(self.class_weight)
        problem = self._problem(data, limits["n_threads"])
        choice = choose_engine(problem, self.engine)
        arguments = engine_arguments(
            choice,
            # The default leaves the solver to the choice of the engine.
            solver=None if self.solver == DEFAULT_SOLVER else self.solver,
            n_solutions=self.n_solutions,
            within=self.within,
            required=self.required_share(),
        )
        return problem, {
            "engine": choice.name, **limits, **arguments, "settings": self.settings,
        }  # fmt: skip

    def _problem(self, data: TrainingData, n_threads: int) -> RiskScoreProblem:
        constraints = self._all_constraints()
        prices: dict[str, Any] = (
            {"l0_penalty": self.l0_penalty} if _is_number(self.l0_penalty) else {}
        )
        return RiskScoreProblem(
            data,
            self._coefficients(data.feature_names),
            max_size=self.max_size,
            min_size=self.min_size,
            l2_penalty=self._l2_penalty(data),
            constraints=constraints,
            scale=choose_scales(self.scale, self.engine, constraints),
            n_threads=n_threads,
            **prices,
        )

    def _l2_penalty(self, data: TrainingData) -> PerFeature:
        """The ridge penalty on some rows, of which ``shrinkage`` is so many times as large."""
        if self.l2_penalty is not None:
            if not is_auto(self.shrinkage):
                raise ValueError(
                    "shrinkage must be left out where l2_penalty is given: it is l2_penalty times "
                    "the total weight of the rows"
                )
            return self.l2_penalty
        strength = strength_on(self, data)
        return checked_ridge(strength, data.feature_names, "shrinkage", data.total_weight)

    def _all_constraints(self) -> Sequence[Constraint]:
        added: list[Constraint] = []
        if self.items_per_variable is not None:
            added.append(items_per_variable(self.items_per_variable))
        if isinstance(self.monotone, Mapping):
            added += [monotone(variable(name), sign) for name, sign in self.monotone.items()]
        elif self.monotone is not None:
            if not isinstance(self.monotone, str) or self.monotone != "auto":
                raise ValueError(
                    "monotone must be 'auto', a mapping such as {'age': '+'}, or None, got "
                    f"{self.monotone!r}"
                )
            added.append(monotone())
        # A problem says what is wrong with constraints that are no list.
        return [*self.constraints, *added] if added else self.constraints

    def _coefficients(self, names: tuple[str, ...]) -> CoefficientSet:
        lower = self.min_coef
        if lower is None:
            upper = _Coefficients(names, -MAX_ABSOLUTE_COEFFICIENT, self.max_coef).upper
            negative = np.flatnonzero(upper < 0)
            if negative.size:
                j = int(negative[0])
                raise ValueError(
                    f"max_coef of {names[j]!r} is {upper[j]}: give min_coef as well, which is "
                    "minus max_coef otherwise"
                )
            lower = -upper
        most = self.max_intercept
        if most is not None:
            if not _is_number(most):
                raise TypeError(f"max_intercept must be an int or None, got {most!r}")
            most = checked_integer(most, "max_intercept")
            if most < 0:
                raise ValueError(f"max_intercept must be at least 0, got {most}")
        return _Coefficients(
            names,
            lower,
            self.max_coef,
            sign=self.sign,
            fixed=self.fixed,
            values=self.coef_values,
            l0_penalty=None if _is_number(self.l0_penalty) else self.l0_penalty,
            intercept_lower=None if most is None else -most,
            intercept_upper=most,
        )

    # -----------------------------------------------------------------------------------------
    # Results and rows to predict
    # -----------------------------------------------------------------------------------------

    def laid_out(self, score: RiskScore) -> RiskScore:
        """Return a score with the layout that ``points`` asks for.

        Parameters
        ----------
        score : RiskScore

        Returns
        -------
        RiskScore
        """
        shown = checked_points_shown(self.points)
        return score if shown == score.layout.points else score.with_layout(points=shown)

    def _note_columns(self, X: Any, data: TrainingData) -> None:
        """Record names and number of the columns that predictions need."""
        if not are_paths(X) and not isinstance(X, TrainingData):
            validate_data(self, columns_of(X), skip_check_array=True)
            return
        names = data.feature_names if self.encoder_ is None else [*self.encoder_.variables_]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)

    def _keep(self, solution: Solution, problem: RiskScoreProblem) -> None:
        data = problem.loss.data
        self.solution_ = solution
        self.certificate_ = solution.certificate
        self.loss_ = solution.certificate.loss
        score = RiskScore.from_solution(
            solution, data, problem=problem, encoder=data.encoder, raw=data.raw
        )
        self.risk_score_ = score = self.laid_out(score)
        self.remarks_ = tuple(dict.fromkeys((*score.fit_remarks, *score.remarks())))
        self.classes_ = class_labels(_in_order(data.classes))
        self.positive_label_ = data.classes[1]
        self._keep_points(solution.coef[np.newaxis, 1:], solution.coef[:1])

    def _keep_points(self, points: NDArray[np.int64], intercept: NDArray[np.int64]) -> None:
        """Keep points, and what they are in log-odds of the second class."""
        self.points_, self.intercept_points_ = points, intercept
        scale = self.risk_score_.scale
        unit = scale if self._is_last() else -scale
        # Without "0.0 +", points of 0 would be -0.0 where the unit is negative.
        self.coef_ = 0.0 + self.points_ / unit
        self.intercept_ = 0.0 + self.intercept_points_ / unit

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "coef_") and not hasattr(self, "points_"):
            # Pickled when these were the points.
            self._keep_points(state["coef_"], state["intercept_"])

    def _is_last(self) -> bool:
        """True if the positive label is the second of ``classes_``."""
        return bool(self.classes_[1] == self.positive_label_)

    def _raw(self, table: Table) -> Table:
        """Raw columns with the names that the encoder has for them."""
        assert self.encoder_ is not None
        return dataclasses.replace(table, names=[*self.encoder_.variables_])

    def _later(
        self, X: Any, method: Callable[..., Any], dtype: Any, n_columns: int | None = None
    ) -> NDArray[Any]:
        """Return a method's results for the rows of a Dask collection, as a Dask array."""
        check_is_fitted(self, "risk_score_")
        validate_data(self, columns_of(X), reset=False, skip_check_array=True)
        call = partial(method, _for_rows(self))
        # To type checkers it is the array that it will be.
        found: NDArray[Any] = of_rows(X, call, dtype=dtype, n_columns=n_columns)
        return found

    def _score_and_rows(self, X: Any) -> tuple[RiskScore, Table]:
        """The risk score, and rows with all columns of the training data, all of them checked."""
        check_is_fitted(self, "risk_score_")
        score = self.risk_score_
        table = open_table(with_columns(X), may_be_empty=True)
        validate_data(self, X, reset=False, skip_check_array=True)
        if self.encoder_ is not None:
            raw = self._raw(table)
            check_rows(self.encoder_, raw)
            return score, score.with_items(raw, handle_unknown=self.encoder_.handle_unknown)
        if not is_finite_array(X):
            check_columns(table, score.feature_names)
        # Columns are in the order of the training data; their names have been compared.
        return score, dataclasses.replace(table, names=None)


def training_data_of(
    classifier: RiskSLIMClassifier, X: Any, y: Any, sample_weight: Any = None
) -> TrainingData:
    """Read the rows that a classifier is fitted to, with items if it makes some.

    Parameters
    ----------
    classifier : RiskSLIMClassifier
    X, y, sample_weight
        As in :meth:`RiskSLIMClassifier.fit`.

    Returns
    -------
    TrainingData
        Its ``encoder`` is fitted to X; None where X has the features.

    Raises
    ------
    TypeError, ValueError
        As in :meth:`RiskSLIMClassifier.fit`.
    """
    if isinstance(X, TrainingData):
        told = {
            "y": y, "sample_weight": sample_weight, "items": classifier.items,
            "positive_label": classifier.positive_label,
        }  # fmt: skip
        given = [name for name, value in told.items() if value is not None]
        if given:
            raise TypeError(
                f"training data have what {listing(given)} would say: leave it out here, and give "
                "it to riskslim.read"
            )
        return X
    encoder = None
    if classifier.items is not None:
        if not isinstance(classifier.items, ItemEncoder):
            raise TypeError(f"items must be an ItemEncoder or None, got {classifier.items!r}")
        encoder = clone(classifier.items)
    return read(
        with_columns(X), y, sample_weight, items=encoder, positive_label=classifier.positive_label
    )


def stated_by(
    classifier: RiskSLIMClassifier, data: TrainingData
) -> tuple[RiskScoreProblem, dict[str, Any]]:
    """State the problem that a classifier solves when it is fitted.

    Parameters
    ----------
    classifier : RiskSLIMClassifier
    data : TrainingData
        With the weights of the rows; the classifier's ``class_weight`` is applied to them.

    Returns
    -------
    problem : RiskScoreProblem
    arguments : dict
        Of :func:`~riskslim.engines.choice.solve`: engine, limits and settings.

    Raises
    ------
    ValueError, TypeError
        As in :meth:`RiskSLIMClassifier.fit`.
    """
    return classifier._stated(data, classifier._limits())


def _check_list(classifier: RiskSLIMClassifier) -> None:
    """Refuse parameters that ask for something else than sets of items of the least objective."""
    asked = ("sensitivity", "specificity", "n_solutions", "within", "node_limit")
    given = [name for name in asked if getattr(classifier, name) is not None]
    if given:
        raise ValueError(
            f"alternatives are sets of items of the least objective: leave out {listing(given)} "
            "of the classifier; within and n_sets are arguments of alternatives"
        )


class _Coefficients(CoefficientSet):
    """A coefficient set whose errors speak of the classifier's parameters."""

    _called = ParameterNames("min_coef", "max_coef", "coef_values")


def _in_order(classes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Labels in sorted order, if they have one: metrics of scikit-learn rely on it."""
    try:
        first, last = sorted(classes)
    except TypeError:
        return classes
    return first, last


def _line_of_progress(log: VerboseLog, record: TraceRecord) -> None:
    log.progress("%s", record.summary())


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number)


def is_auto(value: Any) -> bool:
    """True if a parameter is left to the classifier.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    return isinstance(value, str) and value == AUTO


def strength_on(classifier: RiskSLIMClassifier, data: TrainingData) -> PerFeature:
    """The strength of the prior of a fit to some rows, where ``l2_penalty`` is not given.

    Parameters
    ----------
    classifier : RiskSLIMClassifier
    data : TrainingData

    Returns
    -------
    float, sequence of floats, or mapping
    """
    if not is_auto(classifier.shrinkage):
        return classifier.shrinkage
    is_the_papers = engine_named(classifier.engine).name == "lattice_cpa"
    return 0.0 if is_the_papers or data.n_counted >= MANY_ROWS else DEFAULT_SHRINKAGE


def _for_rows(classifier: RiskSLIMClassifier) -> RiskSLIMClassifier:
    """A classifier that predicts as this one, and takes little to be sent to other processes."""
    other = copy.copy(classifier)
    for name in ("solution_", "certificate_", "remarks_", "shrinkage_path_"):
        other.__dict__.pop(name, None)
    return other


# Packages of scikit-learn that fit many copies of a classifier, one after the other.
_MANY_FITS = (
    "calibration", "ensemble", "feature_selection", "inspection", "model_selection", "multiclass",
    "multioutput",
)  # fmt: skip


def _is_one_of_many() -> bool:
    """True if something in scikit-learn asked for this fit, which has others to do."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        root, _, rest = str(frame.f_globals.get("__name__", "")).partition(".")
        if root == "sklearn" and rest.partition(".")[0] in _MANY_FITS:
            return True
        frame = frame.f_back
    return False


def _unfinished(certificate: Certificate) -> str:
    rule = certificate.rule
    if rule is not None:
        text = f"The search ended early ({certificate.message}). {rule.proven()}"
    else:
        gap = percent(certificate.optimality_gap)
        text = (
            f"The search ended early ({certificate.message}) with an optimality gap of {gap}: a "
            "better risk score may exist, whose objective is at most that much lower."
        )
    if certificate.status is Status.INTERRUPTED:
        return f"{text} The best score so far is kept."
    limit = "node_limit" if certificate.message.startswith("node limit") else "time_limit"
    return (
        f"{text} Raise {limit}, accept a gap with gap_tolerance, or ask for less: a smaller "
        "max_size, fewer features."
    )
