r"""The risk score: what people take away, print, and compute with by hand.

A :class:`RiskScore` holds the points of a few features and an intercept :math:`\lambda_0`.
A row with feature values :math:`x_j` has the

.. math::

    \text{score} = \sum_j \lambda_j x_j, \qquad
    \text{risk} = \frac{1}{1 + \exp(-(\lambda_0 + \text{score}) / m)}

with the scale m, which is 1 in the paper.
It knows nothing of the engine that found it: it can be built by hand, saved, loaded and printed
with NumPy alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number, checked_points
from riskslim._wording import listing
from riskslim.data.class_weights import ClassWeighting
from riskslim.data.feature_ranges import FeatureRange
from riskslim.data.tables import Table
from riskslim.data.training_data import TrainingData, user_stacklevel
from riskslim.exceptions import ExtrapolationWarning
from riskslim.items.columns import missing_in
from riskslim.items.families import condition_families, note_on_sums
from riskslim.items.item import Item, read_item
from riskslim.items.rules import HandleUnknown, check_names, computed_items, is_level, raw_table
from riskslim.items.variables import RawVariable, note_on_missing
from riskslim.scale import PAPER_SCALE, checked_scale, scale_text
from riskslim.score import json as score_json
from riskslim.score.boolean_rule import BooleanRule, boolean_rule
from riskslim.score.explanation import Explanation, explanation, fixed_features
from riskslim.score.observations import class_labels, observations_of
from riskslim.score.rows import ScoredRows, as_row, remarks_on_ranges
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import (
    AttainableScores,
    RiskRow,
    RiskScale,
    checked_extreme,
    checked_max_rows,
    logistic,
    risk_rows,
)
from riskslim.score.training import agreeing_items, check_scores_of_training
from riskslim.score.typesetting import one_line, score_line
from riskslim.solution import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.exports.terms import Inputs
    from riskslim.items.encoder import ItemEncoder
    from riskslim.metrics.discrimination import OperatingPoints
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.model_selection.size_path import ModelSizePath
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.solution import Solution

__all__ = ["RiskScore"]

# Risks below it, and above 1 minus it, are printed as bounds.
_EXTREME = 0.001
# Entries of the risk table on a sheet.
_MAX_ROWS = 30

# Units of log-odds per point for which it is said what the point does to the odds.
_LEAST_POINT, _MOST_POINT = 0.001, 10.0


@dataclasses.dataclass(frozen=True, repr=False)
class RiskScore:
    r"""A risk score: points per feature, an intercept, and the risk of every score.

    Parameters
    ----------
    intercept : int
        :math:`\lambda_0`. It is no part of the score: it says which score has a risk of 50%.
    points : mapping from str to int
        Points :math:`\lambda_j` per feature. Features with 0 points are left out. Kept with the
        largest points first and ties in the order of ``feature_names``.
    outcome_name : str, default "outcome"
        What is predicted.
    classes : (negative label, positive label), default (0, 1)
        The risk is the probability of the positive label.
    feature_names : sequence of str, optional
        All features that the score was chosen from, in the order of the columns that the
        prediction methods expect of arrays. Default: the features in ``points``.
    feature_ranges : mapping from str to FeatureRange, optional
        Values of the features in the training data. Features left out are taken to be 0 or 1.
    certificate : Certificate, optional
        What is proven about the score. None for a score made by hand.
    scale : float, default 1.0
        The scale m: a point is worth 1 / m units of log-odds.
    variables : mapping from str to RawVariable, optional
        The raw columns in the training data that items were made of, by name, as
        :meth:`with_variables` takes them from an encoder: the score then applies to raw records,
        and checks them.
    class_weighting : ClassWeighting, optional
        What weights of classes made of the prevalence in training. Sheets, remarks, reports and
        exports then say that the risks are not calibrated. None if classes were not weighted.
    items : iterable of Item, or mapping from str to Item, optional
        What features are, as data: a condition on which raw column. :class:`~riskslim.ItemEncoder`
        states it, and so can you (:class:`riskslim.items.Item`, :func:`riskslim.items.read_items`).
        Of conditions on one variable it is known which can hold together. Names alone state
        nothing: "symptom = cough" and "symptom = fever" may both hold. With ``variables``,
        features of which nothing is stated are what their names say of these.

    Attributes
    ----------
    intercept : int
    points : mapping from str to int
        Read-only, non-zero.
    outcome_name : str
    classes : tuple
    feature_names : tuple of str
    feature_ranges : mapping from str to FeatureRange
        Read-only, one for each feature in ``points``.
    certificate : Certificate or None
    scale : float
    variables : mapping from str to RawVariable
        Read-only, those that features with points are computed from.
    class_weighting : ClassWeighting or None
    items : mapping from str to Item
        Read-only, of features with points.

    Raises
    ------
    TypeError, ValueError
        Points or intercept that are no integers, names that are unknown, empty or given twice,
        anything but two different classes, a scale that is not between 1e-6 and 1e9.

    Notes
    -----
    With the scale 1, score and risk are those of Ustun & Rudin (2019), section 2. Predictions for
    values outside of ``feature_ranges`` follow the same formula.

    Examples
    --------
    The points of the CHADS2 score; the intercept is made up:

    >>> from riskslim import RiskScore
    >>> score = RiskScore(
    ...     -4,
    ...     {
    ...         "congestive heart failure": 1,
    ...         "hypertension": 1,
    ...         "age >= 75": 1,
    ...         "diabetes mellitus": 1,
    ...         "prior stroke": 2,
    ...     },
    ...     outcome_name="stroke",
    ... )
    >>> print(score)
    RISK SCORE: probability that stroke = 1
    +-----------------------------+----------+-------+
    | 1. prior stroke             | 2 points |   ... |
    | 2. congestive heart failure | 1 point  | + ... |
    | 3. hypertension             | 1 point  | + ... |
    | 4. age >= 75                | 1 point  | + ... |
    | 5. diabetes mellitus        | 1 point  | + ... |
    +-----------------------------+----------+-------+
    |    ADD THE POINTS OF ROWS 1 TO 5 SCORE | = ... |
    +-----------------------------+----------+-------+
    <BLANKLINE>
    +-------+------+------+-------+-------+-------+-------+-------+
    | SCORE |    0 |    1 |     2 |     3 |     4 |     5 |     6 |
    | RISK  | 1.8% | 4.7% | 11.9% | 26.9% | 50.0% | 73.1% | 88.1% |
    +-------+------+------+-------+-------+-------+-------+-------+
    risk = 1 / (1 + exp(4 - score))
    >>> row = {
    ...     "congestive heart failure": 0,
    ...     "hypertension": 1,
    ...     "age >= 75": 1,
    ...     "diabetes mellitus": 0,
    ...     "prior stroke": 1,
    ... }
    >>> score.score_samples(row), score.predict(row)
    (array([4]), array([0]))
    >>> score.predict_proba(row)
    array([[0.5, 0.5]])

    With another scale the points are added up as before; the table has other risks:

    >>> print(RiskScore(-4, {"smoker": 3, "age >= 60": 2}, scale=2.5))
    RISK SCORE: probability that outcome = 1
    +-----------------------------+----------+-------+
    | 1. smoker                   | 3 points |   ... |
    | 2. age >= 60                | 2 points | + ... |
    +-----------------------------+----------+-------+
    |    ADD THE POINTS OF ROWS 1 TO 2 SCORE | = ... |
    +-----------------------------+----------+-------+
    <BLANKLINE>
    +-------+-------+-------+-------+-------+
    | SCORE |     0 |     2 |     3 |     5 |
    | RISK  | 16.8% | 31.0% | 40.1% | 59.9% |
    +-------+-------+-------+-------+-------+
    risk = 1 / (1 + exp(-(score - 4) / 2.5))
    Scale 2.5: one point adds 0.4 to the log-odds and multiplies the odds by 1.492.
    """

    intercept: int
    points: Mapping[str, int]
    _: dataclasses.KW_ONLY
    outcome_name: str = "outcome"
    classes: tuple[Any, Any] = (0, 1)
    feature_names: Sequence[str] = ()
    feature_ranges: Mapping[str, FeatureRange] = dataclasses.field(default_factory=dict)
    certificate: Certificate | None = None
    scale: float = 1.0
    variables: Mapping[str, RawVariable] = dataclasses.field(default_factory=dict)
    class_weighting: ClassWeighting | None = None
    items: Mapping[str, Item] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.feature_names, str):
            raise TypeError(f"feature_names must be names, not one str, got {self.feature_names!r}")
        names = tuple(self.feature_names) or tuple(self.points)
        _check_names(names)
        _check_known(self.points, names, "points")
        points = {
            name: checked_points(self.points[name], f"points of {name!r}")
            for name in names
            if name in self.points
        }
        used = sorted((name for name in points if points[name]), key=lambda name: -points[name])
        ranges = dict(self.feature_ranges)
        _check_known(ranges, names, "feature_ranges")
        for name, value in ranges.items():
            if not isinstance(value, FeatureRange):
                raise TypeError(f"feature_ranges[{name!r}] must be a FeatureRange, got {value!r}")
        if not isinstance(self.certificate, Certificate | None):
            raise TypeError(f"certificate must be a Certificate, got {self.certificate!r}")
        if not isinstance(self.class_weighting, ClassWeighting | None):
            raise TypeError(
                f"class_weighting must be a ClassWeighting, got {self.class_weighting!r}"
            )
        _set(
            self,
            intercept=checked_points(self.intercept, "intercept"),
            points=MappingProxyType({name: points[name] for name in used}),
            outcome_name=str(self.outcome_name),
            classes=_checked_classes(self.classes),
            feature_names=names,
            feature_ranges=MappingProxyType(
                {name: ranges.get(name, FeatureRange(0, 1)) for name in used}
            ),
            scale=checked_scale(self.scale),
        )
        items = _used_items(used, self.items, names, self.variables)
        variables = _used_variables(used, self.variables, items)
        _set(self, items=MappingProxyType(items), variables=MappingProxyType(variables))

    @classmethod
    def from_solution(cls, solution: Solution, data: TrainingData, *, rank: int = 0) -> RiskScore:
        """Build the risk score of an engine's solution.

        Parameters
        ----------
        solution : Solution
        data : TrainingData
            The data that the problem was stated on.
        rank : int, default 0
            Which score of ``solution.pool``, 0 for the best. The certificate is about the best
            one: others have none.

        Returns
        -------
        RiskScore

        Raises
        ------
        TypeError
            ``data`` is no TrainingData.
        ValueError
            The problem was infeasible, so that there is no score; the solution has no score of
            this rank; its features are not those of the data; its scale is not the one that its
            certificate is about; or the scale of the score of this rank is not known.

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim import Certificate, RiskScore, Solution, Status, TrainingData
        >>> data = TrainingData({"age": [40, 62, 55, 71], "smoker": [0, 1, 0, 1]}, [0, 1, 0, 1])
        >>> certificate = Certificate(Status.FEASIBLE, 0.3, 0.3, 1, 0.1, 0.0, 0.0, "example", 4)
        >>> solution = Solution(np.array([0, 3]), -2, certificate, data.feature_names)
        >>> RiskScore.from_solution(solution, data)
        RiskScore(intercept=-2, points={'smoker': 3}, outcome_name='outcome', classes=(0, 1))
        """
        if not isinstance(data, TrainingData):
            raise TypeError(
                f"data must be the TrainingData that the problem was stated on, got "
                f"{type(data).__name__}"
            )
        if solution.feature_names != data.feature_names:
            raise ValueError(
                f"the solution is for {len(solution.feature_names)} features that are not the "
                f"{data.n_features} features of the data; pass the data that it was fitted to"
            )
        coef, scale = _ranked(solution, rank)
        used = np.flatnonzero(coef[1:]).tolist()
        names = data.feature_names
        ranges = {names[j]: FeatureRange.of(data.column(j)) for j in used}
        score = cls(
            int(coef[0]),
            {names[j]: int(coef[1 + j]) for j in used},
            outcome_name=data.outcome_name,
            classes=data.classes,
            feature_names=names,
            feature_ranges=ranges,
            certificate=None if rank else solution.certificate,
            scale=scale,
            class_weighting=data.class_weighting,
            items=agreeing_items(data, ranges),
        )
        check_scores_of_training(score, data)
        return score

    # -----------------------------------------------------------------------------------------
    # Predictions
    # -----------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[Any]:
        r"""Compute the score, the sum of the points, of each row.

        Parameters
        ----------
        X : array-like of shape (n, d), data frame, mapping, or list of mappings
            An array or nested lists with all features in the order of ``feature_names``; or
            anything with names, of which only the features with points are read: any data frame
            that narwhals understands, :class:`~riskslim.TrainingData`, a mapping from names to
            columns, a mapping or a pandas series from names to the values of one row, or a list
            of such rows. Of a score that knows its ``variables``, raw columns will do: features
            that X lacks are computed from them as by :meth:`with_items`.

        Returns
        -------
        ndarray of shape (n,)
            int64 where all values that were read are integers, else float64.

        Raises
        ------
        ValueError, TypeError
            Features are missing, the number of columns is wrong, or values are missing, infinite
            or no numbers; columns are named, rows counted. Raw columns have levels that the
            training data did not have.

        Warns
        -----
        ExtrapolationWarning
            As :meth:`with_items` does.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2, "exercise": -1}).score_samples([[1, 0], [1, 1], [0, 1]])
        array([ 2,  1, -1])
        """
        return self._rows(X).scores(self.points)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the log-odds :math:`(\lambda_0 + \sum_j \lambda_j x_j) / m` of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n,)
            Natural logarithm of risk / (1 - risk): positive where the positive class is more
            likely. Of a score with the scale 1 these are points, intercept included; with another
            scale m, points divided by m.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 5}, scale=2.5).decision_function([[0], [1]])
        array([-1.2,  0.8])
        """
        return RiskScale(self.intercept, self.scale).log_odds(
            self.score_samples(X).astype(np.float64)
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the probability of each class.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes``: the second one is the risk. With the scale 1 both
            columns are accurate to a few units in the last place, however small they are; with
            another one, to a few units of it times the log-odds, which are rounded.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2}).predict_proba([[0], [1]]).round(4)
        array([[0.9526, 0.0474],
               [0.7311, 0.2689]])
        """
        odds = self.decision_function(X)
        return np.column_stack((logistic(-odds), logistic(odds)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (n,)
            The positive label where the risk is above 50%, else the negative one.
        """
        labels = class_labels(self.classes)
        return np.asarray(labels[(self.decision_function(X) > 0).astype(np.intp)])

    def remarks(self, X: Any) -> tuple[str, ...]:
        """What is worth knowing before the predictions for some rows are used, in words.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        tuple of str
            One sentence for each feature with points that has values outside of its range in
            the training data, and for each raw column of the score's ``variables`` that
            has: predictions for these rows extrapolate, or the unit is another one. One for each
            variable with
            conditions that contradict each other, such as "age >= 60" without "age >= 40": neither
            sheets nor rules are about such rows. One if the classes were weighted in training,
            so that risks are not calibrated. Empty if there is nothing to say.

        Raises
        ------
        ValueError, TypeError
            As in :meth:`score_samples`.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.risk_score import FeatureRange
        >>> score = RiskScore(-5, {"visits": 2}, feature_ranges={"visits": FeatureRange(0, 7)})
        >>> for remark in score.remarks({"visits": [3, 0, 12]}):
        ...     print(remark)
        1 of 3 rows have values outside of the training range of 'visits' (0 to 7), first at row 2
        (rows counted from 0).
        """
        if self.variables:
            X, _ = self._with_items(X, "error")
        rows = ScoredRows.open(X, tuple(self.points), self.feature_names)
        return (
            *self._weighting(),
            *rows.remarks(self.feature_ranges, self.items),
            *remarks_on_ranges(rows.table, self._columns_of_items()),
        )

    def _weighting(self) -> tuple[str, ...]:
        if self.class_weighting is None:
            return ()
        return (self.class_weighting.describe(self._positive),)

    def with_items(self, X: Any, *, handle_unknown: HandleUnknown = "error") -> Table:
        """Add the conditions that raw records lack, computed from their columns by name.

        Parameters
        ----------
        X : data frame, mapping, or list of mappings
            Records with raw columns: for the feature "age >= 60" the column "age", for "sex = male"
            the column "sex".
        handle_unknown : {"error", "ignore"}, default "error"
            Levels that did not occur in the training data, where the score knows its
            ``variables``: refuse them, or let them meet no condition and log a warning.

        Returns
        -------
        Table
            The columns of X and, behind them, the features with points that X lacked, as 0 and
            1: for the methods of the score and its rules.

        Raises
        ------
        ValueError, TypeError
            Missing values, unless the score knows what they mean; unknown levels; text where
            numbers are needed; names that are conditions on several columns; conditions that X
            has with other values than 0 and 1.

        Warns
        -----
        ExtrapolationWarning
            A raw column that items are computed from has values outside of its range in the
            training data: it says how many, and both ranges. The unit may be another one.

        See Also
        --------
        riskslim.items.rules.with_items : what it is computed by, with all details.
        riskslim.ItemEncoder : makes such conditions.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
        >>> raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"]}
        >>> score.score_samples(score.with_items(raw))
        array([1, 2, 3])
        """
        table, sources = self._with_items(X, handle_unknown)
        computed_from = set(sources.values())
        used = [one for name, one in self.variables.items() if name in computed_from]
        for remark in remarks_on_ranges(table, used):
            warnings.warn(remark, ExtrapolationWarning, stacklevel=user_stacklevel())
        return table

    def _with_items(self, X: Any, handle_unknown: HandleUnknown) -> tuple[Table, dict[str, str]]:
        return computed_items(
            X,
            tuple(self.points),
            self.feature_names,
            self.variables,
            self.items,
            handle_unknown=handle_unknown,
        )

    def _columns_of_items(self) -> list[RawVariable]:
        """Variables that are no features themselves."""
        return [one for name, one in self.variables.items() if name not in self.points]

    def with_variables(self, encoder: ItemEncoder | Iterable[RawVariable]) -> RiskScore:
        """Take over what is known of the raw columns that items were made of.

        The score then applies to raw records by itself, checks them, says how missing values
        count, and is exported as a function of raw columns. What it knows is saved with it.

        Parameters
        ----------
        encoder : ItemEncoder or iterable of RawVariable
            The fitted encoder whose items the features are, or what its ``variables_`` are.

        Returns
        -------
        RiskScore
            The same score with ``variables``.

        Raises
        ------
        ValueError
            No feature with points is an item of these columns; or an item has the name of one of
            these columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from riskslim import ItemEncoder, RiskScore
        >>> raw = pd.DataFrame({"age": [38, 72, 61, 50], "sex": ["f", "m", "m", "f"]})
        >>> encoder = ItemEncoder(thresholds={"age": [60]}).fit(raw)
        >>> score = RiskScore(-2, {"age >= 60": 2, "sex = m": 1}).with_variables(encoder)
        >>> score.variables["sex"].levels
        ('f', 'm')
        >>> score.score_samples({"age": 64, "sex": "m"})
        array([3])
        >>> try:
        ...     score.score_samples({"age": 64, "sex": "male"})
        ... except ValueError as error:
        ...     print(str(error)[:49])
        Found unknown categories 'male' during transform.
        """
        known = getattr(encoder, "variables_", encoder)
        known = known if isinstance(known, Mapping) else {one.name: one for one in known}
        items = {item.name: item for item in getattr(encoder, "items_", ())}
        items = {name: items[name] for name in self.points if name in items}
        check_names(items.values(), known)
        score = dataclasses.replace(self, variables=known, items={**self.items, **items})
        if self.points and not score.variables:
            raise ValueError(
                f"no feature with points ({listing(map(repr, self.points))}) is made of the "
                f"columns {listing(map(repr, known))}: pass the encoder whose items they are"
            )
        return score

    def _rows(self, X: Any) -> ScoredRows:
        if self.variables:
            X = self.with_items(X)
        return ScoredRows.open(X, tuple(self.points), self.feature_names)

    # -----------------------------------------------------------------------------------------
    # Tables
    # -----------------------------------------------------------------------------------------

    def risk_table(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = _EXTREME,
        max_rows: int | None = None,
    ) -> tuple[RiskRow, ...]:
        """List the risk of every attainable score, and with data what was observed.

        Where all features with points are integers with few values, the scores are all sums that
        their values in the training data allow, without conditions that contradict each
        other, such as "age >= 60" without "age >= 40"; those with a risk below 0.1% share one
        entry, and so do those above 99.9%. With other features the entries are
        for scores at equal steps, from a risk of 0.1% to one of 99.9% or
        to the ends of what the training data allow. The larger the scale, the further apart
        are these scores.

        With data every row has an entry: scores that only the data have are listed as well, and
        where scores are not enumerated, the entries are for all scores from one step to the next.

        Parameters
        ----------
        X, optional
            Rows, as in :meth:`score_samples`.
        y : array-like of shape (n,), optional
            Their labels, which must be those in ``classes``. Given with X.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows. Without them all rows weigh the same.
        extreme : float, default 0.001
            Risks below it are printed as "<0.1%", those above 1 minus it as ">99.9%".
        max_rows : int, optional
            Most entries, at least 5: more scores are put into groups such as "2 to 5". By default
            scores have entries of their own however many they are.

        Returns
        -------
        tuple of RiskRow
            In order of the score.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`score_samples`; X is given without y or the reverse; y has labels that
            are not in ``classes``; weights are negative or not finite; there are no rows;
            ``extreme`` or ``max_rows`` is out of range.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> for row in score.risk_table():
        ...     print(row.score, row.risk)
        -1 1.8%
        0 4.7%
        1 11.9%
        2 26.9%
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> for row in score.risk_table(X, [1, 0, 0, 0, 0]):
        ...     print(row.score, row.risk, row.observed, row.n_positive, row.n_samples)
        -1 1.8% None 0 0
        0 4.7% 0.0 0 2
        1 11.9% 0.0 0 1
        2 26.9% 0.5 1 2
        """
        return risk_rows(
            self._attainable,
            RiskScale(self.intercept, self.scale),
            extreme=checked_extreme(extreme),
            max_rows=checked_max_rows(max_rows),
            observations=observations_of(self, X, y, sample_weight),
        )

    @property
    def _attainable(self) -> AttainableScores:
        return AttainableScores(self.points, self.feature_ranges, self.items)

    def __str__(self) -> str:
        return str(self.sheet())

    def sheet(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = _EXTREME,
        max_rows: int | None = _MAX_ROWS,
    ) -> ScoreSheet:
        """Write the words and numbers of a sheet on which people add up points.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`risk_table`. By default there are at most 30 entries.

        Returns
        -------
        ScoreSheet
            What is rendered: as text by ``str``, and with ``to_markdown``, ``to_html``,
            ``to_latex`` and ``plot``. The methods of the score with these names render
            ``score.sheet()``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> print(score.sheet(X, [1, 0, 0, 0, 0], extreme=0.05))
        RISK SCORE: probability that outcome = 1
        +----------------------------+-----------+-------+
        | 1. smoker                  |  2 points |   ... |
        | 2. exercise                | -1 point  | + ... |
        +----------------------------+-----------+-------+
        |    ADD THE POINTS OF ROWS 1 TO 2 SCORE | = ... |
        +----------------------------+-----------+-------+
        <BLANKLINE>
        +----------+------+-------+-------+
        | SCORE    | <= 0 |     1 |     2 |
        | RISK     |  <5% | 11.9% | 26.9% |
        | OBSERVED | 0.0% |  0.0% | 50.0% |
        | CASES    |  0/2 |   0/1 |   1/2 |
        +----------+------+-------+-------+
        risk = 1 / (1 + exp(3 - score))
        Observed: share of rows with outcome = 1. Cases: number of such rows / of all rows.
        """
        risks = self.risk_table(X, y, sample_weight, extreme=extreme, max_rows=max_rows)
        return ScoreSheet(
            outcome=f"probability that {self._positive}",
            lines=tuple(
                score_line(name, points, self.feature_ranges[name])
                for name, points in self.points.items()
            ),
            risks=risks,
            formula=self._formula(),
            notes=tuple(
                one_line(note) for note in self._notes(risks, is_weighted=sample_weight is not None)
            ),
        )

    @property
    def _positive(self) -> str:
        return f"{self.outcome_name} = {self.classes[1]}"

    def _notes(self, risks: tuple[RiskRow, ...], *, is_weighted: bool) -> Iterator[str]:
        yield from self._weighting()
        for family in condition_families(self.points, self.feature_ranges, self.items):
            if note := note_on_sums(family, self.items):
                yield note
        chosen = self.certificate is not None and self.certificate.scales != PAPER_SCALE
        if chosen or self.scale != 1.0:
            yield self._worth_of_a_point()
        yield from _notes_on_scores(risks, self._attainable)
        if risks[0].n_samples is not None:
            share = "share, by weight," if is_weighted else "share"
            yield (
                f"Observed: {share} of rows with {self._positive}. "
                "Cases: number of such rows / of all rows."
            )
        for name, variable in self.variables.items():
            if note := note_on_missing(variable, self._computed_from(name)):
                yield note
        if not all(values.is_binary for values in self.feature_ranges.values()):
            yield "[a to b]: the values of the feature in the training data."
        if self.certificate is not None:
            yield str(self.certificate)

    def _computed_from(self, variable: str) -> dict[str, Item | None]:
        """Features with points that are computed from a raw column, and what they are."""
        items = {name: self.items.get(name) for name in self.points}
        return {
            name: item
            for name, item in items.items()
            if name == variable or (item is not None and item.variable == variable)
        }

    def to_markdown(self) -> str:
        """Write the sheet in Markdown: :meth:`ScoreSheet.to_markdown` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_markdown()

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML: :meth:`ScoreSheet.to_html` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """Write the sheet in LaTeX: :meth:`ScoreSheet.to_latex` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_latex()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sheet: :meth:`ScoreSheet.plot` of :meth:`sheet`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, by default in a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        return self.sheet().plot(ax)

    def with_units(self, units: Mapping[str, str | None]) -> RiskScore:
        """Say what the values of features count.

        Parameters
        ----------
        units : mapping from str to str
            Unit per feature, as in :class:`FeatureRange`; None removes it. Features without
            points are ignored, since nothing is printed of them.

        Returns
        -------
        RiskScore
            The same score, printed with "x 2 points per Hz" in place of "2 points x value".

        Raises
        ------
        TypeError, ValueError
            Features that are not in ``feature_names``, units that are no text, empty, or of
            a feature that is 0 or 1.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.risk_score import FeatureRange
        >>> ranges = {"frequency": FeatureRange(0, 3)}
        >>> score = RiskScore(-3, {"frequency": 2}, feature_ranges=ranges)
        >>> print(str(score.with_units({"frequency": "Hz"})).splitlines()[2])
        | 1. frequency [0 to 3 Hz] | x 2 points per Hz |   ... |
        """
        _check_known(units, tuple(self.feature_names), "units")
        ranges = dict(self.feature_ranges)
        for name in units:
            if name in ranges:
                try:
                    ranges[name] = dataclasses.replace(ranges[name], unit=units[name])
                except (TypeError, ValueError) as error:
                    raise type(error)(f"units[{name!r}]: {error}") from None
        return dataclasses.replace(self, feature_ranges=ranges)

    def __repr__(self) -> str:
        scale = "" if self.scale == 1.0 else f", scale={self.scale!r}"
        return (
            f"RiskScore(intercept={self.intercept}, points={dict(self.points)}, "
            f"outcome_name={self.outcome_name!r}, classes={self.classes!r}{scale})"
        )

    def _formula(self) -> str:
        if self.scale != 1.0:
            sign = "-" if self.intercept < 0 else "+"
            sum_of_all = f"(score {sign} {abs(self.intercept)})" if self.intercept else "score"
            return f"risk = 1 / (1 + exp(-{sum_of_all} / {scale_text(self.scale)}))"
        if self.intercept == 0:
            return "risk = 1 / (1 + exp(-score))"
        return f"risk = 1 / (1 + exp({-self.intercept} - score))"

    def _worth_of_a_point(self) -> str:
        worth = 1.0 / self.scale
        text = f"Scale {scale_text(self.scale)}: one point adds {worth:.4g} to the log-odds"
        if _LEAST_POINT <= worth <= _MOST_POINT:
            text += f" and multiplies the odds by {math.exp(worth):.4g}"
        return f"{text}."

    # -----------------------------------------------------------------------------------------
    # Explanations
    # -----------------------------------------------------------------------------------------

    def explain(
        self, record: Any, threshold: float | None = None, *, fixed: Sequence[str] = ()
    ) -> Explanation:
        """Explain the score of one record: what it is made of, and what would change it.

        Parameters
        ----------
        record : mapping, pandas series, array-like of shape (d,), or X of one row
            A row as in :meth:`score_samples`.
        threshold : float, optional
            The score from which on something is done: the explanation says which few changes of
            items take the record to the other side. By default the other side of a risk of
            50%, as in :meth:`predict`.
        fixed : sequence of str, default ()
            What cannot change, such as "age": features, or variables with all of the conditions on
            them. Whatever is fixed, no change makes a value missing that is known.

        Returns
        -------
        Explanation
            ``str`` of it is readable.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`score_samples`, there is not exactly one row, the threshold is no
            finite number, or ``fixed`` names what the score does not have.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> points = {"prior stroke": 3, "age >= 75": 2, "exercise": -2}
        >>> score = RiskScore(-4, points, outcome_name="stroke")
        >>> print(score.explain({"prior stroke": 1, "age >= 75": 1, "exercise": 0}))
        Score 5: the risk of stroke = 1 is 73.1%.
        Points by item:
          +3  prior stroke: yes (3 points)
          +2  age >= 75: yes (2 points)
          +0  exercise: no (-2 points)
        What would change it, all else equal:
          prior stroke: no in place of yes (score 2, risk 11.9%)
          age >= 75: no in place of yes (score 3, risk 26.9%)
          exercise: yes in place of no (score 3, risk 26.9%)
        Fewest changes that lead to a risk of 50% or less (score 3, risk 26.9%):
          age >= 75: no in place of yes
        """
        rows = self._rows(as_row(record))
        if rows.n_samples != 1:
            raise ValueError(f"one record is explained at a time, got {rows.n_samples} rows")
        (score,) = rows.scores(self.points).tolist()
        values = {name: _plain_number(column.item()) for name, column in rows.values().items()}
        return explanation(
            values,
            score,
            points=self.points,
            feature_ranges=self.feature_ranges,
            items=self.items,
            risks=RiskScale(self.intercept, self.scale),
            outcome=self._positive,
            threshold=None if threshold is None else checked_number(threshold, "threshold"),
            missing=self._missing_in(record),
            fixed=fixed_features(
                fixed, self.points, (*self.feature_names, *self.variables), self.items
            ),
        )

    def _missing_in(self, record: Any) -> tuple[str, ...]:
        """Raw columns in which one record has no value."""
        if not self.variables:
            return ()
        table = raw_table(as_row(record), self.variables)
        names = [str(name) for name in table.names or ()]
        there = [name for name in self.variables if name in names]
        return tuple(name for name in there if missing_in(table.values(names.index(name))).all())

    def operating_points(self, X: Any, y: Any, sample_weight: Any = None) -> OperatingPoints:
        """What happens at each threshold on the score: sensitivity, specificity, PPV and NPV.

        Parameters
        ----------
        X
            Rows, as in :meth:`score_samples`.
        y : array-like of shape (n,)
            Their labels, both of ``classes``.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.

        Returns
        -------
        OperatingPoints
            One for each score in the data, and one at which no row is positive, with the risk of
            each. ``print`` shows a table; ``at(sensitivity=0.9)`` chooses one of them.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; the rows have one class only.

        See Also
        --------
        riskslim.metrics.operating_points : what it is computed by.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> points = score.operating_points(X, [1, 0, 0, 0, 0])
        >>> print(points)
        Score   Risk  Sensitivity  Specificity    PPV     NPV  TP  FP  TN  FN
         >= 2  26.9%       100.0%        75.0%  50.0%  100.0%   1   1   3   0
         >= 1  11.9%       100.0%        50.0%  33.3%  100.0%   1   2   2   0
         >= 0   4.7%       100.0%         0.0%  20.0%       -   1   4   0   0
        >>> points.at(sensitivity=0.9).threshold
        2.0
        """
        from riskslim.metrics.discrimination import operating_points

        observed = observations_of(self, X, y, sample_weight)
        if observed is None:
            raise ValueError("X and y are None, but rows and labels are needed")
        points = operating_points(observed.is_positive, observed.scores, observed.weights)
        scores = np.where(np.isinf(points.thresholds), np.nan, points.thresholds)
        log_odds = RiskScale(self.intercept, self.scale).log_odds(scores)
        return dataclasses.replace(points, risk=logistic(log_odds))

    def boolean_rule(self, threshold: float, *, max_terms: int = 1000) -> BooleanRule:
        """Write a threshold on a score over conditions as a Boolean rule.

        Parameters
        ----------
        threshold : float
            The rule holds where the score is at least this.
        max_terms : int, default 1000
            Most terms. A score of k items has up to k choose k / 2 of them: 924 of 12 items.

        Returns
        -------
        BooleanRule
            The minimal disjunctive normal form. It equals the score on all values of the
            conditions, but for those that contradict each other, such as "age >= 60" without
            "age >= 40". No other such form has fewer terms or literals, unless there are
            conditions on one variable in both directions ("age >= 40" and "age <= 60"), of which
            some contradictions may not be made use of. Negative points negate.

        Raises
        ------
        ValueError
            Some features with points are not 0 or 1; the threshold is not finite; the rule has
            more terms than ``max_terms``.

        Notes
        -----
        Ustun & Rudin (2019), section 6. That the form is minimal is proven in
        :func:`riskslim.score.boolean_rule.boolean_rule`.

        Examples
        --------
        The score for seizures in section 6 of the paper:

        >>> from riskslim import RiskScore
        >>> points = {"BriefRhythmicDischarge": 2, "PatternsIncludeLPD": 2, "PriorSeizure": 1}
        >>> score = RiskScore(-3, {**points, "EpileptiformDischarge": 1})
        >>> print(score.boolean_rule(2))
        BriefRhythmicDischarge OR PatternsIncludeLPD OR (PriorSeizure AND EpileptiformDischarge)
        """
        return boolean_rule(
            self.points, self.feature_ranges, self.items, threshold, max_terms=max_terms
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        sample_weight_test: Any = None,
        cv: CrossValidation | None = None,
        problem: RiskScoreProblem | RiskSLIMClassifier | None = None,
        size_path: ModelSizePath | None = None,
        bins: Any = None,
        n_resamples: int | None = None,
        title: str | None = None,
    ) -> None:
        """Write a report on the score as one HTML file: sheet, calculator, certificate, metrics.

        The file needs nothing else, no network either; it can be printed. It is replaced as a
        whole.

        Parameters
        ----------
        path : str or path-like
            The file, which should end in ``.html``.
        X
            Rows, as in :meth:`score_samples`, on which the score is judged: most often the training
            data.
        y : array-like of shape (n,)
            Their labels. :class:`~riskslim.TrainingData` as X has its own, and weights.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.
        X_test, y_test, sample_weight_test : optional
            The same for rows that were not used to find the score.
        cv : CrossValidation, optional
            Of :func:`~riskslim.cross_validate_risk_score`, or of an entry of a
            :class:`~riskslim.model_selection.ModelSizePath`, with this score as the final model.
        problem : RiskScoreProblem or RiskSLIMClassifier, optional
            What the score had to satisfy; each requirement is checked on its points.
        size_path : ModelSizePath, optional
            The best scores of all sizes, from :func:`~riskslim.model_size_path`.
        bins : int or "auto" or None
            Of calibration errors, as in :func:`~riskslim.calibration_error`.
        n_resamples : int, optional
            Bootstrap resamples behind the 95% intervals of the metrics, see
            :func:`~riskslim.metrics.bootstrap_intervals`; 0 leaves the intervals out. Default:
            1000, or 200 where more than 100,000 rows differ in score or weight. The seed is 0.
        title : str, optional
            Default: what is predicted.

        Raises
        ------
        ImportError
            jinja2 or matplotlib is not installed.
        OSError
            The file cannot be written.
        TypeError, ValueError
            As in :meth:`risk_table`; the rows have one class only; ``cv`` or ``problem`` is about
            another score, other rows or other features.

        See Also
        --------
        riskslim.report.render : the same as a text.
        """
        from riskslim.report import render

        text = render(
            self, X, y, sample_weight, X_test=X_test, y_test=y_test,
            sample_weight_test=sample_weight_test, cv=cv, problem=problem, size_path=size_path,
            bins=bins, n_resamples=n_resamples, title=title,
        )  # fmt: skip
        score_json.write_atomically(Path(path), text)

    # -----------------------------------------------------------------------------------------
    # Files
    # -----------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write the score as JSON text.

        Returns
        -------
        str
            Everything that the score holds, the certificate included. :meth:`from_json` reads it
            back without any loss.

        Raises
        ------
        TypeError
            The classes are neither bool, int, float nor str.
        ValueError
            One of the classes is infinite or NaN; the certificate is about another score.
        """
        return score_json.write(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> RiskScore:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        RiskScore
            Equal to the one that was written; predictions are the same to the last bit.

        Raises
        ------
        ValueError
            The text is no JSON, no risk score, from a newer version of the format, or
            incomplete, a value in it is out of range, or its certificate is about another score.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2}, classes=("no", "yes"))
        >>> RiskScore.from_json(score.to_json()) == score
        True
        """
        return cls(**score_json.read(text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the score to a JSON file.

        The file is replaced as a whole: whoever reads it sees the old or the new content.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            The file cannot be written.
        TypeError
            As in :meth:`to_json`.
        """
        score_json.write_atomically(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RiskScore:
        """Read a score from a JSON file.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        RiskScore

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            As in :meth:`from_json`; the message names the file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from riskslim import RiskScore
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "score.json")
        ...     RiskScore(-3, {"smoker": 2}).save(path)
        ...     RiskScore.load(path)
        RiskScore(intercept=-3, points={'smoker': 2}, outcome_name='outcome', classes=(0, 1))
        """
        octets = Path(path).read_bytes()
        try:
            return cls.from_json(octets)
        except score_json.NotAScoreError as error:
            raise ValueError(
                f"{path}: {error}; expected a file that riskslim fit --output or RiskScore.save "
                "wrote"
            ) from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    # -----------------------------------------------------------------------------------------
    # Exports: riskslim.exports says what they promise
    # -----------------------------------------------------------------------------------------

    def to_python(
        self, *, function_name: str = "predict_risk", inputs: Inputs | None = None
    ) -> str:
        """Write the score as a Python function that needs no package.

        Parameters
        ----------
        function_name : str, default "predict_risk"
        inputs : {"raw", "items"}, optional
            What records have: the raw columns, of which items are computed, or the features
            with points. Default: "raw" where the score knows its ``variables``.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_python`.

        Raises
        ------
        ValueError
            The name of the function is no identifier, or that of a builtin; ``inputs="raw"`` of a
            score that does not know its variables.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> namespace = {}
        >>> exec(RiskScore(-3, {"smoker": 3}).to_python(), namespace)
        >>> namespace["predict_risk"]({"smoker": 1})
        (0.5, 3)
        """
        from riskslim.exports.python import to_python

        return to_python(self, function_name=function_name, inputs=inputs)

    def to_javascript(
        self, *, function_name: str = "predictRisk", inputs: Inputs | None = None
    ) -> str:
        """Write the score as a JavaScript function.

        Parameters
        ----------
        function_name : str, default "predictRisk"
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_javascript`.

        Raises
        ------
        ValueError
            The name of the function is no identifier of ASCII characters, or is reserved;
            ``inputs`` as in :meth:`to_python`.
        """
        from riskslim.exports.javascript import to_javascript

        return to_javascript(self, function_name=function_name, inputs=inputs)

    def to_sql(
        self,
        dialect: str = "ansi",
        *,
        table: str | Sequence[str] | None = None,
        boolean_columns: Iterable[str] = (),
        inputs: Inputs | None = None,
    ) -> str:
        """Write the score as an SQL expression, or as a query of a table.

        Parameters
        ----------
        dialect : {"ansi", "duckdb", "postgresql", "sqlite"}, default "ansi"
        table : str or sequence of str, optional
            Name of a table, or the parts of a qualified one. Default: the expression alone.
        boolean_columns : iterable of str, optional
            Inputs whose columns are of type BOOLEAN.
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_sql`.

        Raises
        ------
        ValueError
            An unknown dialect, a name that no column can have, names that the database does not
            tell apart, a boolean column that is no input of numbers, or ``inputs`` as in
            :meth:`to_python`.
        """
        from riskslim.exports.sql import to_sql

        return to_sql(self, dialect, table=table, boolean_columns=boolean_columns, inputs=inputs)

    def to_pmml(self, *, inputs: Inputs | None = None) -> str:
        """Write the score as a PMML 4.4 document.

        Parameters
        ----------
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.

        Returns
        -------
        str
            See :func:`riskslim.exports.to_pmml`.

        Raises
        ------
        ValueError
            A name or a label has characters that XML cannot hold, both labels read the same, or
            ``inputs`` as in :meth:`to_python`.
        """
        from riskslim.exports.pmml import to_pmml

        return to_pmml(self, inputs=inputs)

    # -----------------------------------------------------------------------------------------
    # Being a value
    # -----------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash((self.intercept, tuple(self.points.items()), self.classes, self.scale))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings cannot be pickled.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in ("points", "feature_ranges", "variables", "items"):
            fields[name] = dict(fields[name])
        return _rebuilt, (fields,)


def _rebuilt(fields: dict[str, Any]) -> RiskScore:
    return RiskScore(**fields)


def _ranked(solution: Solution, rank: int) -> tuple[NDArray[np.int64], float]:
    """Coefficient vector and scale of one of a solution's scores."""
    best = solution.coef  # raises where there is no score
    count = 1 if solution.pool is None else len(solution.pool)
    if not 0 <= rank < count:
        raise ValueError(
            f"rank must be between 0 and {count - 1}, got {rank}: the solution has {count} risk "
            f"score{'s' if count > 1 else ''}; branch_and_bound(problem, n_solutions=...) finds "
            "several"
        )
    if rank and solution.pool is not None:
        if solution.pool.scales is None and solution.certificate.scales != PAPER_SCALE:
            raise ValueError(
                "the scores of the pool were chosen with scales of "
                f"{solution.certificate.scales.describe()}, but it does not say which each has"
            )
        return solution.pool.coefficients[rank], solution.pool.scale(rank)
    if solution.scale != solution.certificate.scale:
        raise ValueError(
            f"the solution has the scale {solution.scale!r}, but its certificate is about the "
            f"scale {solution.certificate.scale!r}"
        )
    return best, solution.scale


def _plain_number(value: float) -> float:
    return int(value) if value.is_integer() else value


def _notes_on_scores(risks: tuple[RiskRow, ...], attainable: AttainableScores) -> Iterator[str]:
    """What the entries of a risk table do not say of the scores that they are for."""
    has_data = risks[0].n_samples is not None
    if any(" to " in row.score and not row.highest.is_integer() for row in risks):
        yield "Scores a to b: from a up to, but not including, b."
    elif not has_data and _skips_scores(risks, attainable):
        yield "The table shows some of the scores: between them, use the formula."


def _skips_scores(risks: tuple[RiskRow, ...], attainable: AttainableScores) -> bool:
    if not attainable.are_integers:
        return True
    gaps = (after.lowest - row.highest for row, after in itertools.pairwise(risks))
    return attainable.enumerated() is None and any(gap > 1 for gap in gaps)


# ---------------------------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------------------------


def _set(instance: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is built."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def _used_items(
    features: Sequence[str],
    items: Mapping[str, Item] | Iterable[Item],
    known: Sequence[str],
    variables: Mapping[str, RawVariable],
) -> dict[str, Item]:
    """What is stated of features with points; with raw columns, names are taken at their word."""
    stated: dict[str, Item] = {}
    for item in items.values() if isinstance(items, Mapping) else items:
        if not isinstance(item, Item):
            raise TypeError(f"items must be riskslim.items.Item, got {item!r}")
        if item.name in stated:
            raise ValueError(f"items state twice what {item.name!r} is")
        stated[item.name] = item
    if isinstance(items, Mapping) and [*items] != [*stated]:
        raise ValueError(f"items must be by their names, got the keys {listing(map(repr, items))}")
    _check_known(stated, tuple(known), "items")
    used = {}
    for name in features:
        item = stated.get(name)
        if item is None and variables and name not in variables:
            item = read_item(name, variables)
        if item is not None:
            used[name] = item
    return used


def _used_variables(
    features: Iterable[str], variables: Mapping[str, RawVariable], items: Mapping[str, Item]
) -> dict[str, RawVariable]:
    """Those of which features are made, in the order of the features."""
    for name, variable in variables.items():
        if not isinstance(variable, RawVariable) or variable.name != name:
            raise TypeError(f"variables[{name!r}] must be its RawVariable, got {variable!r}")
    used: dict[str, RawVariable] = {}
    for feature in features:
        item = items.get(feature)
        name = feature if item is None or not item.is_condition else item.variable
        if name not in variables:
            continue
        if item is not None and item.is_condition:
            _check_condition(item, variables[name])
        used[name] = variables[name]
    return used


def _check_condition(item: Item, variable: RawVariable) -> None:
    if item.kind == "missing":
        return
    if item.levels:
        possible = any(is_level(level, item.levels) for level in variable.levels)
    else:
        possible = variable.kind == "numeric"
    if not possible:
        has = f"the levels {listing(map(repr, variable.levels))}" if variable.levels else "numbers"
        if variable.kind == "boolean":
            has = "0 and 1, so that it is a feature itself"
        raise ValueError(
            f"{item.name!r} cannot be computed from the variable {variable.name!r}, which has {has}"
        )


def _check_names(names: tuple[Any, ...]) -> None:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"feature names must be non-empty str, got {name!r}")
        if name in seen:
            raise ValueError(f"feature name {name!r} is given more than once")
        seen.add(name)


def _check_known(given: Iterable[str], names: tuple[str, ...], what: str) -> None:
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"{what} names features that are not among feature_names: {unknown}")


def _checked_classes(classes: Any) -> tuple[Any, Any]:
    labels = tuple(
        label.item() if isinstance(label, np.generic) else label
        for label in (classes if not isinstance(classes, str) else ())
    )
    # NaN is no label: no label is equal to it.
    if len(labels) != 2 or labels[0] == labels[1] or any(label != label for label in labels):
        raise ValueError(
            f"classes must be two different labels, the negative one first, got {classes!r}"
        )
    return labels
