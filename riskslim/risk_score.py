r"""The risk score: what people take away, print, and compute with by hand.

A :class:`RiskScore` holds the points of a few features and an intercept :math:`\lambda_0`.
A row with feature values :math:`x_j` has the

.. math::

    \text{score} = \sum_j \lambda_j x_j, \qquad
    \text{risk} = \frac{1}{1 + \exp(-(\lambda_0 + \text{score}) / m)}

with the scale m, which is 1 in the paper.
A sheet may list other points that make the same risks, none of them negative: all scores are
then larger by one number, in predictions, exports and thresholds as on the sheet
(:meth:`RiskScore.with_layout`). A score
knows nothing of the engine that found it: it can be built by hand, saved, loaded and printed
with NumPy alone.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._writing import write_file
from riskslim.data.class_weights import ClassWeighting
from riskslim.data.csv_format import CsvFormat
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items.item import Item
from riskslim.items.rules import HandleUnknown
from riskslim.items.variables import RawVariable
from riskslim.operating_point import DecisionThreshold
from riskslim.score import changes, explaining, predictions, presentation, training
from riskslim.score import json as score_json
from riskslim.score.band import VariableBands
from riskslim.score.bands import bands_of
from riskslim.score.boolean_rule import BooleanRule, boolean_rule
from riskslim.score.checks import checked_fields
from riskslim.score.cutoff_ranges import SHARE, CutoffRange
from riskslim.score.cutoff_sweep import with_cutoff_ranges
from riskslim.score.explanation import Explanation
from riskslim.score.labels import Label, LabelLike
from riskslim.score.layout import PointsShown, SheetLayout, ShownBy
from riskslim.score.observations import operating_points
from riskslim.score.operating_point import with_operating_point
from riskslim.score.presentation import EXTREME, MAX_ROWS
from riskslim.score.reason_codes import Best
from riskslim.score.recalibration import Recalibration, recalibrated
from riskslim.score.requirements import Requirement
from riskslim.score.scorecard import HigherIs, Scorecard, scorecard_of
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import RiskRow
from riskslim.solution import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.data.training_data import TrainingData
    from riskslim.exports.terms import Inputs
    from riskslim.items.encoder import ItemEncoder
    from riskslim.metrics.discrimination import OperatingPoints
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.model_selection.shrinkage import ShrinkagePath
    from riskslim.model_selection.size_path import ModelSizePath
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.report.validation import Validation
    from riskslim.solution import Solution

__all__ = ["RiskScore"]

# Fields that are read-only mappings.
_MAPPINGS = ("points", "feature_ranges", "variables", "items", "cutoff_ranges", "labels")


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
    csv_format : CsvFormat, optional
        How the file of the training data was written, so that the command line reads others in the
        same way. None for the usual format, and where there was no such file.
    cutoff_ranges : mapping from str to CutoffRange, optional
        How far cut-offs can be moved before the objective changes, by feature, as
        :meth:`with_cutoff_ranges` finds it.
    prevalence : float, optional
        Share of the training rows that had the positive label, by the weights that the score was
        fitted with: what :meth:`recalibrated` starts from.
    recalibration : Recalibration, optional
        Real numbers in place of intercept and scale in all risks: see :meth:`recalibrated`.
    requirements : sequence of Requirement, optional
        What the score was found under, in words, each with a mark
        (:meth:`RiskScoreProblem.requirements`).
    fit_remarks : sequence of str, optional
        What the fit said of the score (:meth:`RiskScoreProblem.remarks`). They are of the score
        that the certificate is about: without one there are none.
    labels : mapping from str to str or Label, optional
        What variables, features and levels are called on sheets: see :meth:`with_labels`.
    layout : SheetLayout, optional
        How sheets list the points, and with that what scores are: see :meth:`with_layout`.
        Default: by item, as fitted.
    operating_point : DecisionThreshold, optional
        From which score on rows are positive, and whom that finds: see
        :meth:`with_operating_point`. None: where the risk is above 50%.

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
        Read-only, those that features with points are computed from, in the order in which they
        were given, which is that of the encoder's table.
    class_weighting : ClassWeighting or None
    items : mapping from str to Item
        Read-only, of features with points.
    csv_format : CsvFormat or None
    cutoff_ranges : mapping from str to CutoffRange
        Read-only, of features with points.
    prevalence : float or None
    recalibration : Recalibration or None
    requirements : tuple of Requirement
    fit_remarks : tuple of str
    labels : mapping from str to Label
        Read-only.
    layout : SheetLayout
    operating_point : DecisionThreshold or None

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
    RISK SCORE: risk of stroke
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
    Risk: the probability that stroke = 1.
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
    RISK SCORE: risk of outcome
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
    Risk: the probability that outcome = 1.
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
    csv_format: CsvFormat | None = None
    cutoff_ranges: Mapping[str, CutoffRange] = dataclasses.field(default_factory=dict)
    prevalence: float | None = None
    recalibration: Recalibration | None = None
    requirements: Sequence[Requirement] = ()
    fit_remarks: Sequence[str] = ()
    labels: Mapping[str, Label] = dataclasses.field(default_factory=dict)
    layout: SheetLayout = dataclasses.field(default_factory=SheetLayout)
    operating_point: DecisionThreshold | None = None

    def __post_init__(self) -> None:
        for name, value in checked_fields(self).items():
            object.__setattr__(self, name, value)

    # ---- made of fits ----------------------------------------------------------------------------

    @classmethod
    def from_solution(
        cls,
        solution: Solution,
        data: TrainingData,
        *,
        rank: int = 0,
        problem: RiskScoreProblem | None = None,
        encoder: ItemEncoder | None = None,
        raw: Any = None,
        with_remarks: bool = True,
    ) -> RiskScore:
        """Build the risk score of an engine's solution.

        Parameters
        ----------
        solution : Solution
        data : TrainingData
            The data that the problem was stated on.
        rank : int, default 0
            Which score of ``solution.pool``, 0 for the best. The certificate is about the best
            one: others have none.
        problem : RiskScoreProblem, optional
            The problem that was solved: the score then knows its ``requirements``, and
            ``fit_remarks`` if it is the best one.
        encoder : ItemEncoder, optional
            The fitted encoder that made the features of ``data``: the score then applies to raw
            records, as :meth:`with_variables` says.
        raw : data frame, mapping from names to columns, or Table, optional
            The raw columns that they were made of, row by row: the score then knows how far its
            cut-offs can be moved, as :meth:`with_cutoff_ranges` says.
        with_remarks : bool, default True
            Look for ``fit_remarks``, which takes a few passes over the rows.

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
        return training.from_solution(
            cls, solution, data, rank=rank, problem=problem, encoder=encoder, raw=raw,
            with_remarks=with_remarks,
        )  # fmt: skip

    @classmethod
    def from_coefficients(
        cls,
        coef: ArrayLike,
        data: TrainingData,
        *,
        scale: float = 1.0,
        certificate: Certificate | None = None,
    ) -> RiskScore:
        """Build the risk score of an integer vector, with what the training rows say of it.

        Parameters
        ----------
        coef : array-like of int, shape (d + 1,)
            Intercept first.
        data : TrainingData
            The rows that it was fitted to. What is stated of features (``data.items``) is taken
            over as far as no row contradicts it.
        scale : float, default 1.0
        certificate : Certificate, optional
            What is proven about the score.

        Returns
        -------
        RiskScore

        Raises
        ------
        TypeError, ValueError
            Coefficients that are no integers, or another number of them.

        Examples
        --------
        >>> from riskslim import RiskScore, TrainingData
        >>> data = TrainingData({"age": [40, 62, 55, 71], "smoker": [0, 1, 0, 1]}, [0, 1, 0, 1])
        >>> RiskScore.from_coefficients([-2, 0, 3], data)
        RiskScore(intercept=-2, points={'smoker': 3}, outcome_name='outcome', classes=(0, 1))
        """
        return training.from_coefficients(cls, coef, data, scale=scale, certificate=certificate)

    # ---- applied to rows -------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[Any]:
        r"""Compute the score of each row: the sum of the points, as the sheet lists them.

        Parameters
        ----------
        X : array-like of shape (n, d), data frame, mapping, or list of records
            An array or nested lists with all features in the order of ``feature_names``; or
            anything with names, of which only the features with points are read: any data frame
            that narwhals understands, :class:`~riskslim.TrainingData`, a mapping from names to
            columns, a structured array, a record (a mapping from names to values, a row of a
            pandas data frame or of a database, a named tuple, a data class), or a list of records.
            A Dask data frame or array: what is returned is then a Dask array, and
            nothing is computed before it is asked for. Of a score that knows its ``variables``, raw
            columns will do: features that X lacks are computed from them as by :meth:`with_items`;
            and arrays and nested lists have the raw columns, in the order of ``variables`` (then
            features with points that are computed from none of these), never items.

        Returns
        -------
        ndarray of shape (n,)
            int64 where all values that were read are integers, else float64; float64 of Dask
            collections.

        Raises
        ------
        ValueError, TypeError
            Features are missing, the number of columns is wrong, or values are missing, infinite
            or no numbers; an item, of which it is stated what it is, has other values than 0 and 1;
            columns are named, rows counted. Raw columns have levels that the training data did not
            have.

        Warns
        -----
        ExtrapolationWarning
            Features, or raw columns that they are computed from, have values far outside of their
            range in the training data, by more than its width: the unit may be another one. One
            warning names them all.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2, "exercise": -1}).score_samples([[1, 0], [1, 1], [0, 1]])
        array([ 2,  1, -1])
        """
        return predictions.score_samples(self, X)

    def log_odds(self, X: Any) -> NDArray[np.float64]:
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
        >>> RiskScore(-3, {"smoker": 5}, scale=2.5).log_odds([[0], [1]])
        array([-1.2,  0.8])
        """
        return predictions.log_odds(self, X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        r"""Compute what is positive where :meth:`predict` says so: log-odds, less a constant.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n,)
            The :meth:`log_odds` of a score without an ``operating_point``. With one, by how much
            they exceed those of the threshold, of whole scores those half a point below it: never
            0, and positive from the threshold on.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 5}, scale=2.5)
        >>> score.decision_function([[0], [1]])
        array([-1.2,  0.8])
        >>> score.with_operating_point(threshold=5).decision_function([[0], [1]])
        array([-1.8,  0.2])
        """
        return predictions.decision_function(self, X)

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
        return predictions.predict_proba(self, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (n,)
            The positive label where the score is at least the threshold of the
            ``operating_point``, or, without one, where the risk is above 50%; else the negative
            one.
        """
        return predictions.predict(self, X)

    def remarks(self, X: Any = None) -> tuple[str, ...]:
        """Return what is worth knowing about the score, or about predictions for some rows.

        Parameters
        ----------
        X, optional
            As in :meth:`score_samples`.

        Returns
        -------
        tuple of str
            One sentence if the classes were weighted in training, so that risks are not calibrated;
            in its place, one that says for which rows the score was recalibrated.
            Without rows, one on how far cut-offs can be moved before the objective changes, where
            that is known (:meth:`with_cutoff_ranges`). With rows, one for each feature with points
            that has values outside of its range in the training data, and for each raw column of
            the score's ``variables`` that has: predictions for these rows extrapolate, or the unit
            is another one. One for each variable with conditions that contradict each other, such
            as "age >= 60" without "age >= 40": neither sheets nor rules are about such rows.
            Empty if there is nothing to say.

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
        return predictions.remarks(self, X)

    def with_items(self, X: Any, *, handle_unknown: HandleUnknown = "error") -> Any:
        """Add the conditions that raw records lack, computed from their columns by name.

        Parameters
        ----------
        X : data frame, mapping, list of mappings, or array-like of shape (n, d)
            Records with raw columns: for the feature "age >= 60" the column "age", for "sex = male"
            the column "sex". Arrays have no names: those of raw columns are as in
            :meth:`score_samples`.
        handle_unknown : {"error", "ignore"}, default "error"
            Levels that did not occur in the training data, where the score knows its
            ``variables``: refuse them, or let them meet no condition and log a warning.

        Returns
        -------
        data frame, or dict from str to ndarray of shape (n,)
            The columns of X and, behind them, the features with points that X lacked, as 0 and
            1: for the methods of the score and its rules. A data frame of the library of X, if
            that is one, with the same labels of rows; otherwise a mapping.

        Raises
        ------
        ValueError, TypeError
            Missing values, unless the score knows what they mean; unknown levels; text where
            numbers are needed; names that are conditions on several columns; conditions that X
            has with other values than 0 and 1.

        Warns
        -----
        ExtrapolationWarning
            Raw columns that items are computed from have values far outside of their range in the
            training data (:func:`riskslim.data.extrapolation.far_values`): the unit may be another
            one. One warning names them all.

        See Also
        --------
        riskslim.items.rules.with_items : what it is computed by, with all details.
        riskslim.ItemEncoder : makes such conditions.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
        >>> raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"]}
        >>> score.with_items(raw)["age >= 60"]
        array([0, 1, 1], dtype=int8)
        >>> score.score_samples(score.with_items(raw))
        array([1, 2, 3])
        """
        return predictions.with_items(self, X, handle_unknown=handle_unknown)

    # ---- shown -----------------------------------------------------------------------------------

    def risk_table(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = EXTREME,
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
        return presentation.risk_table(
            self, X, y, sample_weight, extreme=extreme, max_rows=max_rows
        )

    def sheet(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = EXTREME,
        max_rows: int | None = MAX_ROWS,
        by: ShownBy | None = None,
        points: PointsShown | None = None,
    ) -> ScoreSheet:
        """Write the words and numbers of a sheet on which people add up points.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`risk_table`. By default there are at most 30 entries.
        by : {"item", "variable"}, optional
            One line for each item, or one row for each variable with its bands, as scorecards
            have them: "< 66: 0, 66 to 70: 1, >= 71: 3". Default: the ``layout`` of the score.
        points : {"fitted", "non-negative"}, optional
            Points as they were fitted; or conditions with negative points turned round, so that
            the least that an item, or a variable, adds is 0. Risks are the same. Default: the
            ``layout`` of the score; in another one the sheet says how far its scores are from
            those of :meth:`score_samples`.

        Returns
        -------
        ScoreSheet
            What is rendered: as text by ``str``, and with ``to_markdown``, ``to_html``,
            ``to_latex`` and ``plot``. The methods of the score with these names render
            ``score.sheet()``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; another ``by`` or ``points``.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> print(score.sheet(X, [1, 0, 0, 0, 0], extreme=0.05))
        RISK SCORE: risk of outcome
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
        Risk: the probability that outcome = 1.
        Observed: share of rows with outcome = 1. Cases: number of such rows / of all rows.

        With conditions turned round, by variable:

        >>> sheet = score.sheet(by="variable", points="non-negative")
        >>> for one in sheet.variables:
        ...     print(one)
        smoker: no: 0, yes: 2
        exercise: no: 1, yes: 0
        """
        return presentation.sheet(
            self, X, y, sample_weight, extreme=extreme, max_rows=max_rows, by=by, points=points
        )

    def bands(self, points: PointsShown | None = None) -> tuple[VariableBands, ...]:
        """List the points by variable: the ranges or levels of each that have the same points.

        Parameters
        ----------
        points : {"fitted", "non-negative"}, optional
            As in :meth:`sheet`.

        Returns
        -------
        tuple of VariableBands
            Those whose points differ most first. ``str`` of one is readable.

        Raises
        ------
        ValueError
            Another ``points``.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age >= 66": 1, "age >= 71": 2, "sex = male": 1}
        >>> for one in RiskScore(-3, points, items=read_items(points)).bands():
        ...     print(one)
        age: < 66: 0, 66 to < 71: 1, >= 71: 3
        sex: male: 1, other: 0
        """
        return bands_of(self, self.layout.changed(None, points).points)[0]

    def scorecard(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        base_points: float = 600,
        base_odds: float = 50,
        pdo: float = 20,
        higher_is: HigherIs = "safer",
        span: tuple[int, int] | None = None,
        extreme: float = EXTREME,
        max_rows: int | None = MAX_ROWS,
    ) -> Scorecard:
        """Write the score in the points of scorecards: 600 at odds of 50 to 1, 20 double them.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`sheet`.
        base_points : float, default 600
            The total at which the odds are ``base_odds``.
        base_odds : float, default 50
            Odds against the outcome where a higher total is safer, for it where it is riskier.
        pdo : float, default 20
            Points that double the odds. Those of the score itself are its scale times ln 2.
        higher_is : {"safer", "riskier"}, default "safer"
            Of a higher total, whether the risk is lower or higher.
        span : (int, int), optional
            The lowest total, and the highest one at most, such as (300, 850), in place of
            ``base_points``, ``base_odds`` and ``pdo``: points are worth as much as fits in between.

        Returns
        -------
        Scorecard
            A sheet by variable with whole points, none of which is negative but for base points.
            Each total is a whole multiple of the score, plus a constant: totals are in the order of
            risks, and each has the risk that :meth:`predict_proba` gives, the same bits. In
            exchange odds and points that double them are as near to what is asked for as whole
            points allow; the sheet states them.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`sheet`; features with points are no conditions; numbers out of range; a
            ``pdo`` for which a fitted point would be worth less than half a point.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age < 25": 2, "age < 35": 1, "defaulted before": 3}
        >>> score = RiskScore(-5, points, outcome_name="default", items=read_items(points))
        >>> card = score.scorecard(base_points=600, base_odds=50, pdo=20)
        >>> for one in card.variables:
        ...     print(one)
        Base points: 458
        defaulted before: no: 87, yes: 0
        age: < 25: 0, 25 to < 35: 58, >= 35: 87
        >>> for row in card.risks:
        ...     print(row.score, row.risk)
        458 73.1%
        516 26.9%
        545 11.9%
        603 1.8%
        632 0.7%
        >>> print(card.notes[0])
        600 points are odds of 49.23 to 1 against the outcome, and 20.1 points more double them
        (asked for: 50 to 1 and 20; points are whole). Total = 632 - 29 x the score, with the same
        risk.
        """
        return scorecard_of(
            self, X, y, sample_weight, base_points=base_points, base_odds=base_odds, pdo=pdo,
            higher_is=higher_is, span=span, extreme=extreme, max_rows=max_rows,
        )  # fmt: skip

    def __str__(self) -> str:
        return str(self.sheet())

    def __repr__(self) -> str:
        scale = "" if self.scale == 1.0 else f", scale={self.scale!r}"
        if self.recalibration is not None:
            scale += f", recalibration={self.recalibration!r}"
        return (
            f"RiskScore(intercept={self.intercept}, points={dict(self.points)}, "
            f"outcome_name={self.outcome_name!r}, classes={self.classes!r}{scale})"
        )

    def to_markdown(self) -> str:
        """Write the sheet in Markdown.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_markdown` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_markdown()

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_html` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """Write the sheet in LaTeX.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_latex` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_latex()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sheet: :meth:`~riskslim.score.sheet.ScoreSheet.plot` of :meth:`sheet`.

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

    # ---- explained and judged --------------------------------------------------------------------

    def explain(
        self,
        record: Any,
        threshold: float | None = None,
        *,
        fixed: Sequence[str] = (),
        average: Mapping[str, float] | None = None,
        best: Best = "measured",
    ) -> Explanation:
        """Explain the score of one record: what it is made of, and what would change it.

        Parameters
        ----------
        record : mapping, pandas series, array-like of shape (d,), or X of one row
            A row as in :meth:`score_samples`.
        threshold : float, optional
            The score, as on the sheet and in :meth:`score_samples`, from which on something is
            done: the explanation says which few changes of items take the record to the other side.
            By default the threshold of the ``operating_point``, or, where there is none, the other
            side of the mean risk: the share of the training rows with the
            outcome, or the prevalence of a recalibration; 50% where neither is known.
        fixed : sequence of str, default ()
            What cannot change, such as "age": features, or variables with all of the conditions on
            them. It is no reason, either. Whatever is fixed, no change makes a value missing that
            is known.
        average : mapping from str to float, optional
            Mean points of some rows by feature, from :meth:`average_points`: the explanation then
            ranks reasons against them as well, and prints both rankings.
        best : {"measured", "any"}, default "measured"
            Which values of a variable reasons compare with, by their least points: measured ones,
            or missing and special ones as well.

        Returns
        -------
        Explanation
            ``str`` of it is readable: in the rows, words and points of the sheet in the ``layout``
            of the score, so that the points printed add up to the score printed.

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
        return explaining.explain(self, record, threshold, fixed=fixed, average=average, best=best)

    def explain_rows(
        self,
        X: Any,
        threshold: float | None = None,
        *,
        fixed: Sequence[str] = (),
        average: Mapping[str, float] | None = None,
        best: Best = "measured",
    ) -> list[Explanation]:
        """Explain the scores of several records.

        Parameters
        ----------
        X
            Rows, as in :meth:`score_samples`.
        threshold, fixed, average, best
            As in :meth:`explain`.

        Returns
        -------
        list of Explanation
            One for each row, in their order; rows of equal values share theirs.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`explain`, but for the number of rows.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"age >= 60": 2, "smoker": 1})
        >>> rows = {"age >= 60": [1, 0], "smoker": [1, 1]}
        >>> for explained in score.explain_rows(rows):
        ...     print(explained.score, *explained.reasons, sep="; ")
        3; age (>= 60): 2; smoker (yes): 1
        1; smoker (yes): 1
        """
        return explaining.explain_rows(self, X, threshold, fixed=fixed, average=average, best=best)

    def average_points(self, X: Any, sample_weight: Any = None) -> dict[str, float]:
        """Compute the points that rows get on average, by feature.

        Parameters
        ----------
        X
            Rows, as in :meth:`score_samples`.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.

        Returns
        -------
        dict from str to float
            What explanations and exports compare a record with.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`score_samples`; no row has a positive weight.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"age >= 60": 2, "smoker": 1})
        >>> X = {"age >= 60": [1, 0, 0, 0], "smoker": [1, 1, 0, 0]}
        >>> average = score.average_points(X)
        >>> average
        {'age >= 60': 0.5, 'smoker': 0.5}
        >>> explained = score.explain({"age >= 60": 1, "smoker": 1}, average=average)
        >>> print(*explained.reasons_against_average, sep="; ")
        age (>= 60): 1.5; smoker (yes): 0.5
        """
        return explaining.average_points(self, X, sample_weight)

    def operating_points(self, X: Any, y: Any, sample_weight: Any = None) -> OperatingPoints:
        """List what happens at each threshold: sensitivity, specificity, PPV and NPV.

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
        return operating_points(self, X, y, sample_weight)

    def boolean_rule(self, threshold: float | None = None, *, max_terms: int = 1000) -> BooleanRule:
        """Write a threshold on a score over conditions as a Boolean rule.

        Parameters
        ----------
        threshold : float, optional
            The rule holds where the score is at least this, as :meth:`score_samples` computes it.
            Default: that of the ``operating_point``.
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
            Some features with points are not 0 or 1; the threshold is not finite, or left out of a
            score without an operating point; the rule has
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
        return boolean_rule(self, threshold, max_terms=max_terms)

    def methods_text(self, cv: CrossValidation | None = None) -> str:
        """Write the paragraph on methods that a paper on the score needs.

        Data sizes, points and what they minimise, requirements, software, what is proven,
        validation, and the reference: what the score itself states. What was done to the data
        before is the authors' to add.

        Parameters
        ----------
        cv : CrossValidation, optional
            Of :func:`~riskslim.cross_validate_risk_score`.

        Returns
        -------
        str
            Sentences in one line.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> text = RiskScore(-1, {"smoker": 2}, outcome_name="death").methods_text()
        >>> print(text.partition(" Reference")[0])
        The risk score predicts the probability that death = 1 from 1 of 1 candidate feature. Points
        and intercept are integers that were given, not learned.
        """
        from riskslim.report.methods import methods_text

        return methods_text(self, cv)

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
        size_path: ModelSizePath | ShrinkagePath | None = None,
        bins: Any = None,
        n_resamples: int | None = None,
        groups: Sequence[str] = (),
        group_threshold: float | None = None,
        alternatives: Alternatives | None = None,
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
        size_path : ModelSizePath or ShrinkagePath, optional
            The best scores of all sizes, from :func:`~riskslim.model_size_path`, or of all
            strengths and sizes, from :func:`~riskslim.shrinkage_path`.
        bins : int or "auto" or None
            Of calibration errors, as in :func:`~riskslim.calibration_error`.
        n_resamples : int, optional
            Bootstrap resamples behind the 95% intervals of the metrics, see
            :func:`~riskslim.metrics.bootstrap_intervals`; 0 leaves the intervals out. Default:
            1000, or 200 where more than 100,000 rows differ in score or weight. The seed is 0.
        groups : sequence of str, default ()
            Columns of X, and of X_test, such as "sex": metrics are shown for each of their values
            as well, see :func:`~riskslim.metrics.metrics_by_group`.
        group_threshold : float, optional
            The risk from which on rows of groups are called positive. By default the threshold of
            the score decides; where it has none, the risk 0.5.
        alternatives : Alternatives, optional
            Of :func:`riskslim.alternatives`: other sets of items that are as good, with what was
            measured of them.
        title : str, optional
            Default: what is predicted.

        Raises
        ------
        ImportError
            jinja2 or matplotlib is not installed.
        OSError
            The file cannot be written.
        TypeError, ValueError
            As in :meth:`risk_table`; the rows have one class only; ``cv``, ``problem`` or
            ``alternatives`` is about another score, other rows or other features.

        See Also
        --------
        riskslim.report.render : the same as a text.
        """
        from riskslim.report.page import render

        page = render(
            self, X, y, sample_weight, X_test=X_test, y_test=y_test,
            sample_weight_test=sample_weight_test, cv=cv, problem=problem, size_path=size_path,
            bins=bins, n_resamples=n_resamples, groups=groups, group_threshold=group_threshold,
            alternatives=alternatives, title=title,
        )  # fmt: skip
        write_file(path, page)

    def validate(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        thresholds: Sequence[float] | None = None,
        n_resamples: int | None = None,
    ) -> Validation:
        """Judge the score on rows of another place or time: external validation.

        Parameters
        ----------
        X, y, sample_weight
            Rows, labels and weights, as in :meth:`report`.
        thresholds : sequence of float, optional
            Risks at which the net benefit is wanted. Default: a quarter of the observed risk, half
            of it, itself, twice and four times.
        n_resamples : int, optional
            Bootstrap resamples, as in :meth:`report`.

        Returns
        -------
        Validation
            Discrimination, calibration and net benefit with their intervals, and what a
            recalibration would change; printed, it is a page.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`report`; thresholds out of range.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-1, {"x": 2}, outcome_name="stroke")
        >>> found = score.validate({"x": [0, 0, 0, 1, 1, 1]}, [0, 0, 1, 0, 1, 1], n_resamples=0)
        >>> round(found.metrics["auc"], 3), found.advised
        (0.667, None)
        """
        from riskslim.report.validation import validated

        return validated(self, X, y, sample_weight, thresholds=thresholds, n_resamples=n_resamples)

    # ---- changed ---------------------------------------------------------------------------------

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
        TypeError
            ``encoder`` is neither a fitted encoder nor what describes columns.
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
        return changes.with_variables(self, encoder)

    def with_cutoff_ranges(
        self, X: Any, y: Any, sample_weight: Any = None, *, share: float = SHARE
    ) -> RiskScore:
        """Find out how far the cut-offs of the score can be moved before the objective changes.

        Which of nearly equal cut-offs is best on some rows is often chance. For each condition such
        as "age >= 50" all cut-offs of its column are tried, everything else left as it is: points,
        intercept, scale, and the other features.

        Parameters
        ----------
        X
            The rows that the score was fitted to, as in :meth:`with_items`, with the raw columns
            of its conditions.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        share : float, default 0.001
            By how much the objective may change, relative to what it is.

        Returns
        -------
        RiskScore
            The same score with ``cutoff_ranges``. Without rows, :meth:`remarks` says what they
            are; reports do so, too. Conditions whose column X lacks have none.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; a share that is not between 0 and 1.

        Notes
        -----
        :class:`~riskslim.RiskSLIMClassifier` with ``items``, and ``riskslim fit --items``, have
        found them already. It takes one pass over the rows in the order of the column for each
        condition.

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> ages = np.arange(20, 90)
        >>> died = (ages >= 50) & (ages % 4 > 0) | (ages % 7 == 0)
        >>> points = {"age >= 50": 2}
        >>> score = RiskScore(-1, points, items=read_items(points), classes=(False, True))
        >>> score = score.with_cutoff_ranges({"age": ages}, died, share=0.05)
        >>> print(score.remarks()[0])
        age >= 50: any cut-off from 47 to 51 gives an objective within 5%, all else as it is.
        """
        return with_cutoff_ranges(self, X, y, sample_weight, share=share)

    def recalibrated(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        prevalence: float | None = None,
        from_prevalence: float | None = None,
        with_scale: bool = False,
    ) -> RiskScore:
        r"""Fit the risks to rows of another kind: points stay as they are, risks change.

        The intercept, and the scale if it is asked for, get real numbers in their place, which are
        stored with the score (``recalibration``). Predictions, sheets, exports, reports and files
        have the new risks. Three ways lead to them:

        - rows with labels (X, y): the intercept of greatest likelihood, with which the mean risk of
          the rows is the share of them that have the outcome;
        - rows without labels (X) and a prevalence: the intercept with which the mean risk of the
          rows is the prevalence;
        - a prevalence alone: all odds are multiplied by its odds over those of the prevalence that
          the risks are for, which is right where the outcome is rarer or more common,
          but rows with it, and rows without, are as they were (Bayes' rule).

        Parameters
        ----------
        X, optional
            Rows, as in :meth:`score_samples`, that the score was not fitted to.
        y : array-like of shape (n,), optional
            Their labels, both of ``classes``.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.
        prevalence : float, optional
            Share of rows with the positive label, where the score will be used. In the place of y.
        from_prevalence : float, optional
            The share that the present risks are for. Default: what is known of it, from the
            training rows (``prevalence``, with weights of classes if there were some) or from an
            earlier recalibration.
        with_scale : bool, default False
            Fit the scale as well, which needs X and y: risks that are too extreme, or too
            much alike, are set right, too (logistic recalibration).

        Returns
        -------
        RiskScore
            The same points with ``recalibration``. The certificate stays: it is about the points
            with the integer intercept on the training data, and sheets say so.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; neither y nor a prevalence, or both; a prevalence alone for a
            score that does not know the one it is for; a share that is not between 0 and 1; rows
            of one class; rows that no scale fits best.

        See Also
        --------
        sklearn.calibration.CalibratedClassifierCV : Puts another model behind the risks.

        Notes
        -----
        The scores from which on something is done are best chosen anew: the same score has
        another risk.

        Examples
        --------
        One of five had the outcome in training, where it will be used one of twenty:

        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"smoker": 2}, prevalence=0.2)
        >>> print(score.recalibrated(prevalence=0.05))
        RISK SCORE: risk of outcome
        +-----------+----------+-------+
        | 1. smoker | 2 points |   ... |
        +-----------+----------+-------+
        |                SCORE | = ... |
        +-----------+----------+-------+
        <BLANKLINE>
        +-------+------+-------+
        | SCORE |    0 |     2 |
        | RISK  | 2.8% | 17.4% |
        +-------+------+-------+
        risk = 1 / (1 + exp(3.55814 - score))
        Recalibrated to rows of which 5.0% have outcome = 1: the risks are new, by a new
        intercept, the points are as they were.
        Risk: the probability that outcome = 1.
        """
        return recalibrated(
            self, X, y, sample_weight, prevalence=prevalence, from_prevalence=from_prevalence,
            with_scale=with_scale,
        )  # fmt: skip

    def with_operating_point(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        sensitivity: float | None = None,
        specificity: float | None = None,
        threshold: float | None = None,
        X_test: Any = None,
        y_test: Any = None,
        sample_weight_test: Any = None,
    ) -> RiskScore:
        """Choose the score from which on rows are positive.

        Predictions, sheets, exports and reports then know it; the risks are as they were. A score
        of :class:`~riskslim.RiskSLIMClassifier` with ``sensitivity`` or ``specificity`` has such a
        threshold already, and no other score is better there. This gives one to any score.

        Parameters
        ----------
        X, y, sample_weight
            Rows, as in :meth:`operating_points`, most often the training rows: the shares are
            theirs.
        sensitivity : float, optional
            The threshold with the largest specificity of those with at least this sensitivity.
        specificity : float, optional
            The threshold with the largest sensitivity of those with at least this specificity.
        threshold : float, optional
            The score itself, as on the sheet and in :meth:`score_samples`; rows may be left out
            then.
        X_test, y_test, sample_weight_test
            Other rows, of which the shares at this threshold are kept as well; given alone, those
            at the threshold that the score has.

        Returns
        -------
        RiskScore
            The same score with the same risks. Without any arguments one without an operating
            point.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`operating_points` and :meth:`~riskslim.metrics.OperatingPoints.at`; a share
            without rows.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> score = score.with_operating_point(X, [1, 1, 0, 0, 0], sensitivity=0.9)
        >>> score.predict(X)
        array([1, 1, 0, 0, 0])
        >>> for sentence in score.sheet().rule:
        ...     print(sentence)
        Score of 2 or more: positive.
        Finds 2 of 2 (100.0%), leaves out 3 of 3 (100.0%) of the others.
        """
        return with_operating_point(
            self, X, y, sample_weight, sensitivity=sensitivity, specificity=specificity,
            threshold=threshold, X_test=X_test, y_test=y_test,
            sample_weight_test=sample_weight_test,
        )  # fmt: skip

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
        return changes.with_units(self, units)

    def with_labels(self, labels: Mapping[str, LabelLike]) -> RiskScore:
        """Say what variables, features and levels are called on sheets, and what they count.

        Parameters
        ----------
        labels : mapping from str to str, Label or mapping
            By raw column or feature: a text; or :class:`~riskslim.score.labels.Label`, or a
            mapping, with ``text``, ``unit`` and ``levels``. Labels that the score has of other
            names stay.

        Returns
        -------
        RiskScore
            The same score; predictions, files of data, requirements and remarks of the fit know
            the names as they are.

        Raises
        ------
        TypeError, ValueError
            Names that the score does not have; labels that are no text.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age >= 66": 1, "sex = m": 1}
        >>> score = RiskScore(-3, points, items=read_items(points)).with_labels(
        ...     {
        ...         "age": {"text": "Age", "unit": "years"},
        ...         "sex": {"text": "Sex", "levels": {"m": "male", "other": "female"}},
        ...     }
        ... )
        >>> for one in score.bands():
        ...     print(one)
        Age (years): < 66: 0, >= 66: 1
        Sex: male: 1, female: 0
        """
        return changes.with_labels(self, labels)

    def with_layout(
        self, *, by: ShownBy | None = None, points: PointsShown | None = None
    ) -> RiskScore:
        """Choose how sheets of the score list its points, and with that what scores are.

        Parameters
        ----------
        by, points
            As in :meth:`sheet`; None leaves it as it is.

        Returns
        -------
        RiskScore
            The same score with the same risks; reports and files have the layout, too. The score
            that its sheet shows is that of :meth:`score_samples`, exports and thresholds.
            ``points`` and ``intercept`` are those of the fitted points.

        Raises
        ------
        ValueError
            Something else.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(1, {"exercise": -2}).with_layout(points="non-negative")
        >>> for k in (2, -2):
        ...     print(str(score).splitlines()[k])
        | 1. exercise: no | 2 points |   ... |
        risk = 1 / (1 + exp(1 - score))
        >>> score.score_samples({"exercise": [0, 1]})
        array([2, 0])
        """
        layout = self.layout.changed(by, points)
        return self if layout == self.layout else dataclasses.replace(self, layout=layout)

    def with_dummies(self, groups: Mapping[str, Mapping[str, Any]]) -> RiskScore:
        """State that features are levels of a variable, so that one row shows them together.

        Parameters
        ----------
        groups : mapping from str to mapping from str to object
            By variable: its features of 0 and 1, each with its level.

        Returns
        -------
        RiskScore
            With ``items`` for the features that have points: of the levels of one variable one at
            most holds.

        Raises
        ------
        ValueError
            Features that the score does not have, that are not 0 or 1, or of which something is
            stated already.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"ward_icu": 2, "ward_er": 1})
        >>> grouped = score.with_dummies({"ward": {"ward_icu": "ICU", "ward_er": "ER"}})
        >>> print(*grouped.bands(), len(score.risk_table()), len(grouped.risk_table()))
        ward: ICU: 2, ER: 1, other: 0 4 3
        """
        return changes.with_dummies(self, groups)

    # ---- exported --------------------------------------------------------------------------------

    def to_python(
        self,
        *,
        function_name: str = "predict_risk",
        inputs: Inputs | None = None,
        reasons: int | None = None,
        average: Mapping[str, float] | None = None,
        best: Best | None = None,
        fixed: Sequence[str] = (),
    ) -> str:
        """Write the score as a Python function that needs no package.

        Parameters
        ----------
        function_name : str, default "predict_risk"
        inputs : {"raw", "items"}, optional
            What records have: the raw columns, of which items are computed, or the features
            with points. Default: "raw" where the score knows its ``variables``.
        reasons : int, optional
            The function returns at most so many variables, too, those that cost most points first.
        average : mapping from str to float, optional
            What points are compared with, from :meth:`average_points`. Default: the least ones.
        best : {"measured", "any"}, optional
            Of which values, as in :meth:`explain`.
        fixed : sequence of str, default ()
            What cannot change, as in :meth:`explain`, and is no reason.

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

        return to_python(
            self, function_name=function_name, inputs=inputs, reasons=reasons, average=average,
            best=best, fixed=fixed,
        )  # fmt: skip

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
        score_column: str | None = None,
        risk_column: str | None = None,
        reasons: int | None = None,
        average: Mapping[str, float] | None = None,
        best: Best | None = None,
        fixed: Sequence[str] = (),
    ) -> str:
        """Write the score as an SQL expression, or as a query of a table.

        Parameters
        ----------
        dialect : {"ansi", "bigquery", "databricks", "duckdb", "mariadb", "mysql", "postgresql", \
                "snowflake", "spark", "sqlite", "sqlserver"}, default "ansi"
        table : str or sequence of str, optional
            Name of a table, or the parts of a qualified one. Default: the expression alone.
        boolean_columns : iterable of str, optional
            Inputs whose columns are of type BOOLEAN.
        inputs : {"raw", "items"}, optional
            As in :meth:`to_python`.
        score_column, risk_column : str, optional
            Names of what the query adds: "score" and "risk". The database refuses a table with
            columns of these names.
        reasons : int, optional
            The query adds so many columns with the variables that cost most points.
        average, best, fixed : optional
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

        return to_sql(
            self, dialect, table=table, boolean_columns=boolean_columns, inputs=inputs,
            score_column=score_column, risk_column=risk_column, reasons=reasons, average=average,
            best=best, fixed=fixed,
        )  # fmt: skip

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

    # ---- written and read ------------------------------------------------------------------------

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
            incomplete, a value in it is out of range, or its certificate contradicts itself.

        Warns
        -----
        UnboundCertificateWarning
            Points, intercept, scale, labels or certificate were changed since they were written, or
            the text is in a version of the format that does not bind them to each other: the score
            has no certificate.

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
        write_file(path, self.to_json())

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

        Warns
        -----
        UnboundCertificateWarning
            As in :meth:`from_json`.

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
        return score_json.load(cls, path)

    # ---- being a value ---------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash((self.intercept, tuple(self.points.items()), self.classes, self.scale))

    def __getstate__(self) -> dict[str, Any]:
        # Read-only mappings cannot be pickled, nor written by skops.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**fields, **{name: dict(fields[name]) for name in _MAPPINGS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        RiskScore.__init__(self, **state)  # with all checks
