r"""Agreement of the alternatives: ranges of risk, and decisions that depend on the choice.

With the best score :math:`h_0` and all alternatives :math:`h \in S`, each of which calls a row
positive where its risk is at least a threshold, Marx, Calmon & Ustun (2020) measure predictive
multiplicity by two shares of rows, here by weight:

.. math::

    \text{ambiguity} = \frac{\sum_i w_i \max_{h \in S} \mathbb{1}[h(x_i) \ne h_0(x_i)]}{\sum_i w_i},
    \qquad
    \text{discrepancy} = \max_{h \in S}
    \frac{\sum_i w_i \mathbb{1}[h(x_i) \ne h_0(x_i)]}{\sum_i w_i}.

The first is the share of rows whose decision depends on which score is used, the second the most
decisions that one change of the score changes. Their set S has all models whose error is within a
margin; this one has the best score of each set of items whose objective is within a share of the
best, so that other points for the same items are not in it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import int_between
from riskslim._wording import aligned, printable
from riskslim._wording import percent as risk_text
from riskslim.metrics.groups import log_odds_from
from riskslim.metrics.rows import weighted_quantiles
from riskslim.near_optimal.rows import RowKinds, held_out_kinds, pool_of, training_kinds
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.solution import SolutionPool

__all__ = ["RANGES", "Agreement", "AgreementInGroup", "RiskRanges", "agreement", "risk_ranges"]

# Differences of risks at which a class of rows begins.
RANGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
# Differences this much smaller are those, but for rounding.
_ROUNDED = 1e-12
# Risks below it, and above 1 minus it, are printed as bounds, as on the sheet.
_EXTREME = 0.001


class AgreementInGroup(NamedTuple):
    """Agreement of the alternatives on the rows of one group.

    Attributes
    ----------
    group : object
        Its label, "(missing)" for rows without one; None for all rows together.
    n_rows : int
        Rows with weight.
    share : float
        Of all rows, by weight.
    ambiguity : float
        Share of the rows, by weight, whose decision depends on which alternative is used.
    discrepancy : float
        The largest share of the rows whose decision one alternative changes.
    mean_range, median_range, largest_range : float
        Of the differences between the highest and the lowest risk of a row.
    range_shares : tuple of float
        Shares of the rows, by weight, whose difference is at least each of 0, 0.05, 0.1, 0.2, 0.3
        and 0.5, and below the next.

    Examples
    --------
    >>> from riskslim.near_optimal import AgreementInGroup
    >>> shares = (0.7, 0.2, 0.1, 0.0, 0.0, 0.0)
    >>> group = AgreementInGroup("f", 50, 0.5, 0.04, 0.02, 0.03, 0.02, 0.12, shares)
    >>> group.ambiguity
    0.04
    """

    group: Any
    n_rows: int
    share: float
    ambiguity: float
    discrepancy: float
    mean_range: float
    median_range: float
    largest_range: float
    range_shares: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Agreement of the alternatives on some rows.

    Parameters
    ----------
    rows : str
        What the rows are called.
    threshold : float
        The risk from which on rows are called positive.
    n_alternatives : int
        The best score among them.
    groups : tuple of AgreementInGroup
        That of all rows first.

    Examples
    --------
    >>> from riskslim.near_optimal import Agreement, AgreementInGroup
    >>> shares = (0.7, 0.2, 0.1, 0.0, 0.0, 0.0)
    >>> everybody = AgreementInGroup(None, 100, 1.0, 0.042, 0.02, 0.03, 0.02, 0.12, shares)
    >>> print(Agreement("training rows", 0.5, 37, (everybody,)).explain())
    For 4.2% of the training rows the decision (positive from a risk of 50% on) depends on which of
    the 37 scores is used. At most 2.0% of the decisions change if another one is used in place of
    the best. The risks of a row differ by 3.0 percentage points on average, by 12.0 at most.
    """

    rows: str
    threshold: float
    n_alternatives: int
    groups: tuple[AgreementInGroup, ...]

    @property
    def ambiguity(self) -> float:
        """Share of all rows whose decision depends on which alternative is used."""
        return self.groups[0].ambiguity

    @property
    def discrepancy(self) -> float:
        """Largest share of all rows whose decision one alternative changes."""
        return self.groups[0].discrepancy

    def explain(self) -> str:
        """Say in plain words how far the alternatives agree.

        Returns
        -------
        str
        """
        everybody = self.groups[0]
        at = f"positive from a risk of {100 * self.threshold:.4g}% on"
        if self.n_alternatives == 1:
            return f"There is one score only: no decision on the {self.rows} depends on the choice."
        text = (
            f"For {everybody.ambiguity:.1%} of the {self.rows} the decision ({at}) depends on "
            f"which of the {self.n_alternatives} scores is used."
        )
        if everybody.ambiguity:
            text += (
                f" At most {everybody.discrepancy:.1%} of the decisions change if another one is "
                "used in place of the best."
            )
        text += (
            f" The risks of a row differ by {100 * everybody.mean_range:.1f} percentage points on "
            f"average, by {100 * everybody.largest_range:.1f} at most."
        )
        if len(self.groups) > 2:
            most = max(self.groups[1:], key=lambda one: one.ambiguity)
            least = min(self.groups[1:], key=lambda one: one.ambiguity)
            shares = f"{least.ambiguity:.1%}", f"{most.ambiguity:.1%}"
            between = f"between {shares[0]} ({least.group}) and {shares[1]} ({most.group})"
            text += " By group the share of decisions that depend on the choice is "
            text += f"{shares[0]} in each." if shares[0] == shares[1] else f"{between}."
        return text

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each group: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        found = []
        for one in self.groups:
            record = one._asdict()
            shares = record.pop("range_shares")
            names = (f"range_from_{100 * least:g}" for least in RANGES)
            found.append(record | dict(zip(names, shares, strict=True)))
        return found

    def __str__(self) -> str:
        lines = [["Group", "Rows", "Depends", "Largest change", "Mean range", "Largest range"]]
        for one in self.groups:
            label = "all" if one.group is None else printable(str(one.group), lines=False)
            lines.append(
                [
                    label, str(one.n_rows), f"{one.ambiguity:.1%}", f"{one.discrepancy:.1%}",
                    f"{one.mean_range:.3f}", f"{one.largest_range:.3f}",
                ]
            )  # fmt: skip
        return f"{aligned(lines, 1)}\n{self.explain()}"


@dataclasses.dataclass(frozen=True, eq=False)
class RiskRanges:
    """The risk of each row by the best score, and over all alternatives.

    Parameters
    ----------
    threshold : float
        The risk from which on rows are called positive.
    n_alternatives : int
    best, lowest, highest : ndarray of float64, shape (n,)
        Risk by the best score, and the lowest and the highest by any.
    n_positive : ndarray of int64, shape (n,)
        Alternatives that call the row positive.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.near_optimal import RiskRanges
    >>> risks = np.array([0.3]), np.array([0.2]), np.array([0.55])
    >>> print(RiskRanges(0.5, 4, *risks, np.array([1])).explain(0))
    The risk is 30.0% by the best score and between 20.0% and 55.0% by the 4 scores. 1 of them calls
    the row positive (from a risk of 50% on) and 3 do not: the decision depends on the choice.
    """

    threshold: float
    n_alternatives: int
    best: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    n_positive: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.best)

    @property
    def depends(self) -> NDArray[np.bool_]:
        """True for rows whose decision depends on which alternative is used."""
        return (self.n_positive > 0) & (self.n_positive < self.n_alternatives)

    def explain(self, row: int) -> str:
        """Say in plain words what the alternatives predict for a row.

        Parameters
        ----------
        row : int
            Counted from 0.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            There is no such row.
        """
        row = int_between(row, "row", 0, len(self) - 1)
        best, low, high = (
            risk_text(float(one[row]), _EXTREME) for one in (self.best, self.lowest, self.highest)
        )
        if self.n_alternatives == 1:
            return f"The risk is {best} by the only score."
        positive = int(self.n_positive[row])
        others = self.n_alternatives - positive
        at = f"(from a risk of {100 * self.threshold:.4g}% on)"
        text = (
            f"The risk is {best} by the best score and between {low} and {high} by the "
            f"{self.n_alternatives} scores."
        )
        if not positive or not others:
            called = "positive" if positive else "negative"
            return f"{text} All of them call the row {called} {at}."
        calls = "calls" if positive == 1 else "call"
        do = "does" if others == 1 else "do"
        return (
            f"{text} {positive} of them {calls} the row positive {at} and {others} {do} not: the "
            "decision depends on the choice."
        )

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each row: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        columns = {
            "risk": self.best, "lowest_risk": self.lowest, "highest_risk": self.highest,
            "n_positive": self.n_positive, "depends": self.depends,
        }  # fmt: skip
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


def risk_ranges(
    found: Alternatives, data: TrainingData, X: Any = None, *, threshold: float = 0.5
) -> RiskRanges:
    """Find the range of the risk of each row over all alternatives, and how they decide.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        That the alternatives were found on.
    X : array-like, data frame, mapping or list of records, optional
        Rows with features, or with the raw columns that they are made of. Default: those of
        ``data``.
    threshold : float, default 0.5
        The risk from which on rows are called positive.

    Returns
    -------
    RiskRanges

    Raises
    ------
    TypeError, ValueError
        Other data, a threshold that is no risk, rows as :meth:`RiskScore.predict_proba` refuses.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> from riskslim.near_optimal import risk_ranges
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=1)
    >>> found = alternatives(problem, within=1.0)
    >>> ranges = risk_ranges(found, data, {"a": [1], "b": [0]})
    >>> bool(ranges.lowest[0] <= ranges.best[0] <= ranges.highest[0])
    True
    """
    least = log_odds_from(threshold)
    kinds = training_kinds(found, data) if X is None else held_out_kinds(found, data, X)
    pool = pool_of(found)
    kept = _Ranges.of(kinds, pool, least)
    best, lowest, highest = (logistic(one[kinds.place]) for one in kept.log_odds)
    return RiskRanges(
        float(threshold), len(pool), best, lowest, highest, kept.n_positive[kinds.place]
    )


def agreement(
    found: Alternatives,
    data: TrainingData,
    X: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    threshold: float = 0.5,
    name: str = "test rows",
) -> Agreement:
    """Find for which rows the decision depends on the choice among the alternatives.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        That the alternatives were found on.
    X : array-like, data frame, mapping or list of records, optional
        Other rows, as in :func:`risk_ranges`. Default: those of ``data``, with their weights.
    sample_weight : array-like of shape (n,), optional
        Of X.
    groups : array-like of shape (n,), optional
        A label for each row; at most 100 distinct ones.
    threshold : float, default 0.5
        The risk from which on rows are called positive.
    name : str, default "test rows"
        What X is called.

    Returns
    -------
    Agreement

    Raises
    ------
    TypeError, ValueError
        As :func:`risk_ranges`; weights or groups of another number of rows.

    References
    ----------
    Marx, Calmon & Ustun (2020), Predictive Multiplicity in Classification, ICML.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> from riskslim.near_optimal import agreement
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=1)
    >>> found = alternatives(problem, within=1.0)
    >>> agreement(found, data).n_alternatives == len(found)
    True
    """
    log_odds_from(threshold)
    if X is None:
        if sample_weight is not None:
            raise ValueError("sample_weight is of X: the training data have their own weights")
        kinds = training_kinds(found, data, groups)
    else:
        kinds = held_out_kinds(
            found, data, X, sample_weight=sample_weight, groups=groups, name=name
        )
    return agreement_of(kinds, pool_of(found), threshold)


def agreement_of(kinds: RowKinds, pool: SolutionPool, threshold: float) -> Agreement:
    """Find for which kinds of rows the decision depends on the choice.

    Parameters
    ----------
    kinds : RowKinds
    pool : SolutionPool
    threshold : float

    Returns
    -------
    Agreement
    """
    kept = _Ranges.of(kinds, pool, log_odds_from(threshold), [own for _, own in kinds.members()])
    depends = (kept.n_positive > 0) & (kept.n_positive < len(pool))
    width = logistic(kept.log_odds[2]) - logistic(kept.log_odds[1])
    total = kinds.weight.sum()
    found = []
    for place, (label, own) in enumerate(kinds.members()):
        weight, ranges = kinds.weight[own], width[own]
        whole = weight.sum()
        counted = weight > 0
        begins = np.searchsorted(np.array(RANGES), ranges + _ROUNDED, side="right") - 1
        shares = np.bincount(begins, weight, len(RANGES)) / whole
        found.append(
            AgreementInGroup(
                label,
                int(kinds.numbers[own].sum()),
                float(whole / total),
                float(weight[depends[own]].sum() / whole),
                float(kept.changed[place] / whole),
                float(np.average(ranges, weights=weight)),
                float(weighted_quantiles(ranges[counted], [0.5], weight[counted])[0]),
                float(ranges[counted].max()),
                tuple(shares.tolist()),
            )
        )
    return Agreement(kinds.name, float(threshold), len(pool), tuple(found))


class _Ranges(NamedTuple):
    """Log-odds and decisions for each kind of rows, and how much of a group one score changes."""

    log_odds: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    n_positive: NDArray[np.int64]
    changed: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        kinds: RowKinds,
        pool: SolutionPool,
        least: float,
        groups: list[NDArray[np.bool_]] | None = None,
    ) -> _Ranges:
        lowest, highest = np.full(len(kinds), math.inf), np.full(len(kinds), -math.inf)
        n_positive = np.zeros(len(kinds), np.int64)
        best = np.zeros(0)
        changed = np.zeros(len(groups or ()))
        weights = np.array([np.where(own, kinds.weight, 0.0) for own in groups or ()])
        for first, odds in kinds.log_odds(pool):
            if not first:
                best = odds[0]
            lowest = np.minimum(lowest, odds.min(axis=0))
            highest = np.maximum(highest, odds.max(axis=0))
            called = odds >= least
            n_positive += called.sum(axis=0)
            if groups:
                differs = (called != (best >= least)).astype(np.float64)
                changed = np.maximum(changed, (differs @ weights.T).max(axis=0))
        return cls((best, lowest, highest), n_positive, changed)
