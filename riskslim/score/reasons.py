"""Explanations of scores, and thresholds on them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.data.weights import checked_weights
from riskslim.items.columns import missing_in
from riskslim.items.rules import raw_table
from riskslim.score.boolean_rule import BooleanRule, boolean_rule
from riskslim.score.cutoff_ranges import SHARE
from riskslim.score.cutoff_sweep import cutoff_ranges
from riskslim.score.explanation import Explanation, explanation, fixed_features
from riskslim.score.link import link_of
from riskslim.score.observations import observations_of
from riskslim.score.presentation import Presentation
from riskslim.score.reason_codes import checked_average, reasons_of
from riskslim.score.rows import ScoredRows, as_row, numbers_of
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from typing_extensions import Self

    from riskslim.metrics.discrimination import OperatingPoints

__all__ = ["Reasons"]


def _plain_number(value: float) -> float:
    return int(value) if value.is_integer() else value


class Reasons(Presentation):
    """The methods of a risk score that explain it."""

    def _special_values(self) -> dict[str, set[float]]:
        """Values of raw columns that are no measurements, as items and columns state them."""
        special = {name: {*variable.special} for name, variable in self.variables.items()}
        for item in self.items.values():
            special.setdefault(item.variable, set()).update(item.special)
        return special

    def explain(
        self,
        record: Any,
        threshold: float | None = None,
        *,
        fixed: Sequence[str] = (),
        average: Mapping[str, float] | None = None,
    ) -> Explanation:
        """Explain the score of one record: what it is made of, and what would change it.

        Parameters
        ----------
        record : mapping, pandas series, array-like of shape (d,), or X of one row
            A row as in :meth:`score_samples`.
        threshold : float, optional
            The score, of the fitted points as in :meth:`score_samples`, from which on something is
            done: the explanation says which few changes of items take the record to the other side.
            By default the other side of a risk of 50%, as in :meth:`predict`.
        fixed : sequence of str, default ()
            What cannot change, such as "age": features, or variables with all of the conditions on
            them. Whatever is fixed, no change makes a value missing that is known.
        average : mapping from str to float, optional
            Mean points of some rows by feature, from :meth:`average_points`: the explanation then
            ranks reasons against them as well, and prints both rankings.

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
        X = as_row(record)
        rows = self._rows(X)
        if rows.n_samples != 1:
            raise ValueError(f"one record is explained at a time, got {rows.n_samples} rows")
        return self._explained(rows, X, threshold, fixed, average)[0]

    def explain_rows(
        self,
        X: Any,
        threshold: float | None = None,
        *,
        fixed: Sequence[str] = (),
        average: Mapping[str, float] | None = None,
    ) -> list[Explanation]:
        """Explain the scores of several records.

        Parameters
        ----------
        X
            Rows, as in :meth:`score_samples`.
        threshold, fixed, average
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
        return self._explained(self._rows(X), X, threshold, fixed, average)

    def _explained(
        self,
        rows: ScoredRows,
        X: Any,
        threshold: float | None,
        fixed: Sequence[str],
        average: Mapping[str, float] | None,
    ) -> list[Explanation]:
        """Explain rows that were opened; each kind of them once."""
        against = None if average is None else checked_average(average, tuple(self.points))
        limit = None if threshold is None else checked_number(threshold, "threshold")
        stays = fixed_features(
            fixed, self.points, (*self.feature_names, *self.variables), self.items
        )
        special = self._special_values()
        names, columns = list(self.points), rows.values()
        lacking = self._missing_in(X)
        measured = self._measured_in(X, lacking)
        lists = [
            rows.scores(self.points), *(columns[name] for name in names),
            *lacking.values(), *measured.values(),
        ]  # fmt: skip
        known: dict[tuple[float, ...], Explanation] = {}
        found = []
        for kind in zip(*(one.tolist() for one in lists), strict=True):
            if kind not in known:
                score, parts = kind[0], kind[1 : 1 + len(names)]
                gaps, values_there = np.split(np.array(kind[1 + len(names) :], np.bool_), 2)
                values = dict(zip(names, map(_plain_number, parts), strict=True))
                explained = explanation(
                    self, values, score, threshold=limit, fixed=stays, special=special,
                    missing=tuple(name for name, gap in zip(lacking, gaps, strict=True) if gap),
                    measured=frozenset(itertools.compress(measured, values_there)),
                )  # fmt: skip
                known[kind] = dataclasses.replace(
                    explained,
                    reasons=reasons_of(self, values),
                    reasons_against_average=None
                    if against is None
                    else reasons_of(self, values, against),
                )
            found.append(known[kind])
        return found

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
        rows = self._rows(X)
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, rows.n_samples)
            if not weights.sum() > 0:
                raise ValueError("no row has a positive weight: there is no average")
        return {
            name: float(np.average(self.points[name] * values, weights=weights))
            for name, values in rows.values().items()
        }

    def _missing_in(self, X: Any) -> dict[str, NDArray[np.bool_]]:
        """Rows in which raw columns have no value, by column."""
        if not self.variables:
            return {}
        table = raw_table(self._named(X), self.variables)
        names = [str(name) for name in table.names or ()]
        there = [name for name in self.variables if name in names]
        return {name: missing_in(table.values(names.index(name))) for name in there}

    def _measured_in(
        self, X: Any, lacking: Mapping[str, NDArray[np.bool_]]
    ) -> dict[str, NDArray[np.bool_]]:
        """Rows in which columns of numbers have one that is no special value, by column."""
        found = {name: np.zeros_like(gaps) for name, gaps in lacking.items()}
        if found:
            table = raw_table(self._named(X), self.variables)
            for one, values in numbers_of(table, self.variables.values()):
                found[one.name] = np.isfinite(values) & ~np.isin(values, one.special)
        return found

    def with_cutoff_ranges(
        self, X: Any, y: Any, sample_weight: Any = None, *, share: float = SHARE
    ) -> Self:
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
        if X is None or y is None:
            raise ValueError("rows and labels are needed, got None")
        table = self._table_with_items(X)
        observed = observations_of(self, table, y, sample_weight)
        assert observed is not None
        ranges = cutoff_ranges(
            self,
            table.counted(sample_weight),
            observed.scores,
            observed.is_positive,
            observed.weights,
            share=checked_number(share, "share"),
        )
        return self._replaced(cutoff_ranges=ranges)

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
        from riskslim.metrics.discrimination import operating_points

        observed = observations_of(self, X, y, sample_weight)
        if observed is None:
            raise ValueError("X and y are None, but rows and labels are needed")
        points = operating_points(observed.is_positive, observed.scores, observed.weights)
        scores = np.where(np.isinf(points.thresholds), np.nan, points.thresholds)
        log_odds = link_of(self).log_odds(scores)
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
