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
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import checked_points
from riskslim._wording import listing
from riskslim._writing import write_file
from riskslim.data.class_weights import ClassWeighting
from riskslim.data.csv_format import CsvFormat
from riskslim.data.feature_ranges import FeatureRange
from riskslim.data.training_data import TrainingData
from riskslim.exports.methods import Exports
from riskslim.items.item import COMPARISONS, Item, read_item, source_variable
from riskslim.items.rules import is_level, raw_table
from riskslim.items.variables import RawVariable
from riskslim.rows.excerpts import excerpt_of
from riskslim.scale import PAPER_SCALE, checked_scale
from riskslim.score import json as score_json
from riskslim.score.cutoff_ranges import CutoffRange
from riskslim.score.cutoff_sweep import cutoff_ranges, ranges_with_other_points
from riskslim.score.fields import check_known, check_names, checked_classes
from riskslim.score.fit_remarks import checked_remarks
from riskslim.score.labels import Label, check_labelled, labels_of
from riskslim.score.layout import SheetLayout
from riskslim.score.reasons import Reasons
from riskslim.score.recalibration import Recalibration, checked_prevalence
from riskslim.score.recalibrations import Recalibrations
from riskslim.score.requirements import Requirement, checked_requirements
from riskslim.score.training import agreeing_items, check_scores_of_training, feature_ranges_of
from riskslim.solution import Certificate

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.report.protocols import CrossValidationLike, EstimatorLike, SizePathLike
    from riskslim.solution import Solution

__all__ = ["RiskScore"]

# Fields that are read-only mappings.
_MAPPINGS = ("points", "feature_ranges", "variables", "items", "cutoff_ranges", "labels")


@dataclasses.dataclass(frozen=True, repr=False)
class RiskScore(Reasons, Recalibrations, Exports):
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
        Real numbers in the place of intercept and scale in all risks: see :meth:`recalibrated`.
    requirements : sequence of Requirement, optional
        What the score was found under, in words, each with a mark
        (:meth:`RiskScoreProblem.requirements`).
    fit_remarks : sequence of str, optional
        What the fit said of the score (:meth:`RiskScoreProblem.remarks`). They are of the score
        that the certificate is about: without one there are none.
    labels : mapping from str to str or Label, optional
        What variables, features and levels are called on sheets: see :meth:`with_labels`.
    layout : SheetLayout, optional
        How sheets list the points: see :meth:`with_layout`. Default: by item, as fitted.

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

    def __post_init__(self) -> None:
        if isinstance(self.feature_names, str):
            raise TypeError(f"feature_names must be names, not one str, got {self.feature_names!r}")
        names = tuple(self.feature_names) or tuple(self.points)
        check_names(names)
        check_known(self.points, names, "points")
        points = {
            name: checked_points(self.points[name], f"points of {name!r}")
            for name in names
            if name in self.points
        }
        used = sorted((name for name in points if points[name]), key=lambda name: -points[name])
        ranges = dict(self.feature_ranges)
        check_known(ranges, names, "feature_ranges")
        for name, value in ranges.items():
            if not isinstance(value, FeatureRange):
                raise TypeError(f"feature_ranges[{name!r}] must be a FeatureRange, got {value!r}")
        if not isinstance(self.certificate, Certificate | None):
            raise TypeError(f"certificate must be a Certificate, got {self.certificate!r}")
        if not isinstance(self.class_weighting, ClassWeighting | None):
            raise TypeError(
                f"class_weighting must be a ClassWeighting, got {self.class_weighting!r}"
            )
        if not isinstance(self.csv_format, CsvFormat | None):
            raise TypeError(f"csv_format must be a CsvFormat, got {self.csv_format!r}")
        if not isinstance(self.recalibration, Recalibration | None):
            raise TypeError(f"recalibration must be a Recalibration, got {self.recalibration!r}")
        said = checked_remarks(self.fit_remarks)
        _set(self, fit_remarks=() if self.certificate is None else said)
        _set(self, requirements=checked_requirements(self.requirements))
        if self.prevalence is not None:
            _set(self, prevalence=checked_prevalence(self.prevalence, "prevalence"))
        _set(
            self,
            intercept=checked_points(self.intercept, "intercept"),
            points=MappingProxyType({name: points[name] for name in used}),
            outcome_name=str(self.outcome_name),
            classes=checked_classes(self.classes),
            feature_names=names,
            feature_ranges=MappingProxyType(
                {name: ranges.get(name, FeatureRange(0, 1)) for name in used}
            ),
            scale=checked_scale(self.scale),
        )
        items = _used_items(used, self.items, names, self.variables)
        variables = _used_variables(used, self.variables, items)
        cutoffs = _used_cutoffs(used, self.cutoff_ranges, names)
        _set(
            self,
            items=MappingProxyType(items),
            variables=MappingProxyType(variables),
            cutoff_ranges=MappingProxyType(cutoffs),
            labels=MappingProxyType(self._checked_labels(items, variables)),
        )
        if not isinstance(self.layout, SheetLayout):
            raise TypeError(f"layout must be a SheetLayout, got {self.layout!r}")

    def _checked_labels(
        self, items: Mapping[str, Item], variables: Mapping[str, RawVariable]
    ) -> dict[str, Label]:
        labels = labels_of(self.labels)
        raw = [item.variable for item in items.values()]
        # Those of features without points: their variables may have labels as well.
        raw += [source_variable(name) for name in self.feature_names]
        check_labelled(labels, [*self.feature_names, *variables, *raw])
        return labels

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
        certificate = None if rank else solution.certificate
        requirements: tuple[Requirement, ...] = ()
        if problem is not None:
            single = problem if problem.scales.is_single else problem.at_scale(scale)
            requirements = single.requirements(coef)
        said = problem.remarks(coef) if problem is not None and with_remarks and not rank else ()
        score = cls.from_coefficients(coef, data, scale=scale, certificate=certificate)
        score = dataclasses.replace(score, requirements=requirements, fit_remarks=said)
        if raw is not None and not data.has_each_row:
            raise ValueError(
                "raw columns are looked at row by row, but equal rows of these data were merged "
                "while they were read: leave raw out"
            )
        if raw is not None:
            ranges = cutoff_ranges(
                score,
                raw_table(raw),
                score.score_samples(data),
                data.labels > 0,
                data.sample_weight,
            )
            if rank == 0 and solution.pool is not None and len(solution.pool):
                ranges = ranges_with_other_points(ranges, score, solution.pool, data.items)
            score = dataclasses.replace(score, cutoff_ranges=ranges)
        if encoder is not None and score.points:
            score = score.with_variables(encoder)
        return score

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
        vector = np.asarray(coef)
        if vector.shape != (data.n_features + 1,):
            raise ValueError(
                f"coef must be of shape ({data.n_features + 1},), the intercept and one for each "
                f"feature, got {vector.shape}"
            )
        used = np.flatnonzero(vector[1:]).tolist()
        names = data.feature_names
        rows = excerpt_of(data, used)
        ranges = feature_ranges_of(rows, data, [names[j] for j in used])
        score = cls(
            vector[0].item(),
            {names[j]: vector[1 + j].item() for j in used},
            outcome_name=data.outcome_name,
            classes=data.classes,
            feature_names=names,
            feature_ranges=ranges,
            certificate=certificate,
            scale=scale,
            class_weighting=data.class_weighting,
            prevalence=data.prevalence,
            items=agreeing_items(rows, ranges),
            csv_format=data.csv_format,
        )
        check_scores_of_training(score, rows)
        return score

    def __repr__(self) -> str:
        scale = "" if self.scale == 1.0 else f", scale={self.scale!r}"
        if self.recalibration is not None:
            scale += f", recalibration={self.recalibration!r}"
        return (
            f"RiskScore(intercept={self.intercept}, points={dict(self.points)}, "
            f"outcome_name={self.outcome_name!r}, classes={self.classes!r}{scale})"
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
        cv: CrossValidationLike | None = None,
        problem: RiskScoreProblem | EstimatorLike | None = None,
        size_path: SizePathLike | None = None,
        bins: Any = None,
        n_resamples: int | None = None,
        groups: Sequence[str] = (),
        group_threshold: float = 0.5,
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
        groups : sequence of str, default ()
            Columns of X, and of X_test, such as "sex": metrics are shown for each of their values
            as well, see :func:`~riskslim.metrics.metrics_by_group`.
        group_threshold : float, default 0.5
            The risk from which on rows of groups are called positive.
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
            bins=bins, n_resamples=n_resamples, groups=groups, group_threshold=group_threshold,
            title=title,
        )  # fmt: skip
        write_file(path, text)

    def methods_text(self, cv: CrossValidationLike | None = None) -> str:
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
        from riskslim.report import methods_text

        return methods_text(self, cv)

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
        octets = Path(path).read_bytes()
        try:
            return cls(**score_json.read(octets, str(path)))
        except score_json.NotAScoreError as error:
            raise ValueError(
                f"{path}: {error}; expected a file that riskslim fit --output or RiskScore.save "
                "wrote"
            ) from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    # -----------------------------------------------------------------------------------------
    # Being a value
    # -----------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash((self.intercept, tuple(self.points.items()), self.classes, self.scale))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings cannot be pickled.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in _MAPPINGS:
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
    """Return what is stated of features with points; of raw columns, names say it."""
    stated: dict[str, Item] = {}
    for item in items.values() if isinstance(items, Mapping) else items:
        if not isinstance(item, Item):
            raise TypeError(f"items must be riskslim.items.Item, got {item!r}")
        if item.name in stated:
            raise ValueError(f"items state twice what {item.name!r} is")
        stated[item.name] = item
    if isinstance(items, Mapping) and [*items] != [*stated]:
        raise ValueError(f"items must be by their names, got the keys {listing(map(repr, items))}")
    check_known(stated, tuple(known), "items")
    used = {}
    for name in features:
        item = stated.get(name)
        if item is None and variables and name not in variables:
            item = read_item(name, variables)
            special = () if item is None else variables[item.variable].special
            if item is not None and special and item.kind in COMPARISONS:
                item = dataclasses.replace(item, special=special)
        if item is not None:
            used[name] = item
    _check_special(used.values())
    return used


def _check_special(items: Iterable[Item]) -> None:
    """Refuse cut-offs on one variable that disagree about what is no number of it."""
    first: dict[str, Item] = {}
    for item in items:
        if item.kind in COMPARISONS:
            other = first.setdefault(item.variable, item)
            if {*item.special} != {*other.special}:
                raise ValueError(
                    f"items state different special values of {item.variable!r}: {other.name!r} "
                    f"has {list(other.special)}, {item.name!r} has {list(item.special)}"
                )


def _used_cutoffs(
    features: Sequence[str], ranges: Mapping[str, CutoffRange], known: Sequence[str]
) -> dict[str, CutoffRange]:
    check_known(ranges, tuple(known), "cutoff_ranges")
    for name, one in ranges.items():
        if not isinstance(one, CutoffRange):
            raise TypeError(f"cutoff_ranges[{name!r}] must be a CutoffRange, got {one!r}")
    return {name: ranges[name] for name in features if name in ranges}


def _used_variables(
    features: Iterable[str], variables: Mapping[str, RawVariable], items: Mapping[str, Item]
) -> dict[str, RawVariable]:
    """Those of which features are made, in the order in which they are given: that of the table."""
    for name, variable in variables.items():
        if not isinstance(variable, RawVariable) or variable.name != name:
            raise TypeError(f"variables[{name!r}] must be its RawVariable, got {variable!r}")
    used = set()
    for feature in features:
        item = items.get(feature)
        name = feature if item is None or not item.is_condition else item.variable
        if name not in variables:
            continue
        if item is not None and item.is_condition:
            _check_condition(item, variables[name])
        used.add(name)
    return {name: variable for name, variable in variables.items() if name in used}


def _check_condition(item: Item, variable: RawVariable) -> None:
    if item.kind == "missing":
        return
    if item.kind in COMPARISONS and {*item.special} != {*variable.special}:
        raise ValueError(
            f"{item.name!r} has the special values {item.special!r}, but the variable "
            f"{variable.name!r} has {variable.special!r}: state the same of both"
        )
    if item.levels and variable.kind == "numeric":
        possible = len(item.numbers) == len(item.levels) and set(item.numbers) <= {
            *variable.special
        }
    elif item.levels:
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
