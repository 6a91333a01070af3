"""The choice among alternatives: second criteria of each, filters, the chosen one as a score.

The objective cannot tell alternatives apart, or hardly: they are within a share of the best. What
else speaks for one of them are measures on rows that were not used to find them, differences
between groups, the number of variables, and what these cost to measure.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_number, is_int, is_number
from riskslim._wording import aligned, listing, near, printable
from riskslim.metrics.calibration import calibration_error
from riskslim.metrics.discrimination import logistic_loss, operating_points
from riskslim.metrics.groups import log_odds_from
from riskslim.metrics.performance import metric_text
from riskslim.near_optimal.agreement import agreement_of
from riskslim.near_optimal.rows import (
    TRAINING,
    RowKinds,
    check_losses,
    held_out_kinds,
    pool_of,
    training_kinds,
)
from riskslim.score.table import logistic
from riskslim.solution import percent

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.risk_score import RiskScore
    from riskslim.solution import SolutionPool

__all__ = ["CRITERIA", "Choice", "Measures", "check_costs", "compare"]

# Measures of each alternative on rows.
OF_ROWS = (
    "loss", "auc", "cal", "sensitivity", "sensitivity_gap", "specificity_gap", "called_gap",
)  # fmt: skip
# Of the score alone.
OF_SCORE = ("objective", "model_size", "n_variables", "cost")
# By which alternatives are ordered: those on the test rows begin with "test_".
CRITERIA = (*OF_SCORE, *OF_ROWS, *(f"test_{name}" for name in OF_ROWS))
_LARGER_IS_BETTER = {"auc", "sensitivity"}
_SHOWN = 10
# Values that differ by no more than this are the same, but for rounding.
_SAME = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Measures:
    """Measures of all alternatives on some rows, in the order of their objective.

    Parameters
    ----------
    rows : str
        What the rows are called.
    n_rows : int
        Rows with weight.
    threshold : float
        The risk from which on rows are called positive, for the gaps.
    specificity : float
        That the sensitivity is at.
    groups : tuple
        Labels; empty where rows have none.
    loss, auc, cal : ndarray of float64, shape (m,)
        As in :func:`~riskslim.metrics.logistic_loss`, :func:`~riskslim.metrics.auc` and
        :func:`~riskslim.calibration_error`; the AUC is NaN where the rows are of one class.
    sensitivity : ndarray of float64, shape (m,)
        The largest one at which the specificity is at least that, by thresholds on the score; NaN
        where none is, and where the rows are of one class.
    sensitivity_gap, specificity_gap, called_gap : ndarray of float64, shape (m,)
        Largest difference between two groups of sensitivity, specificity and share of rows that
        are called positive, at the threshold; NaN with fewer than two groups that have them.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=2)
    >>> choice = alternatives(problem, within=1.0).compare(data)
    >>> choice.found.measures[0].auc.round(3)
    array([0.978, 0.933])
    """

    rows: str
    n_rows: int
    threshold: float
    specificity: float
    groups: tuple[Any, ...]
    loss: NDArray[np.float64]
    auc: NDArray[np.float64]
    cal: NDArray[np.float64]
    sensitivity: NDArray[np.float64]
    sensitivity_gap: NDArray[np.float64]
    specificity_gap: NDArray[np.float64]
    called_gap: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.loss)


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """Alternatives with their second criteria, of which one is chosen.

    Parameters
    ----------
    found : Alternatives
        With measures.
    data : TrainingData
        That they were found on.
    ranks : tuple of int
        Those that are left, in the order of their objective.
    filters : tuple of str
        Why the others are not, in words.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> from riskslim.near_optimal import compare
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=2)
    >>> choice = compare(alternatives(problem, within=1.0), data, costs={"a": 1, "b": 20})
    >>> choice.at_most(1).chosen("auc").points
    mappingproxy({'b': 5})
    """

    found: Alternatives
    data: TrainingData
    ranks: tuple[int, ...]
    filters: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ranks)

    # ---- filters ---------------------------------------------------------------------------------

    def without(self, name: str) -> Choice:
        """Leave out alternatives that have an item, or any item of a variable.

        Parameters
        ----------
        name : str
            Of the item or variable.

        Returns
        -------
        Choice

        Raises
        ------
        ValueError
            There is no such item or variable; no alternative is left.
        """
        members = self._members(name)
        return self._kept(
            [rank for rank in self.ranks if not members & self._used(rank)], f"without {name!r}"
        )

    def with_(self, name: str) -> Choice:
        """Keep alternatives that have an item, or at least one item of a variable.

        Parameters
        ----------
        name : str

        Returns
        -------
        Choice

        Raises
        ------
        ValueError
            There is no such item or variable; no alternative is left.
        """
        members = self._members(name)
        return self._kept(
            [rank for rank in self.ranks if members & self._used(rank)], f"with {name!r}"
        )

    def at_most(self, n: int, names: Iterable[str] | None = None) -> Choice:
        """Keep alternatives that have at most so many of some variables or items.

        Parameters
        ----------
        n : int
        names : iterable of str, optional
            Variables or items, each of which counts once. Default: all variables.

        Returns
        -------
        Choice

        Raises
        ------
        TypeError, ValueError
            A number below 0; no names, or some that there are not; no alternative is left.
        """
        if not is_int(n) or n < 0:
            raise ValueError(f"n must be an int of at least 0, got {n!r}")
        if isinstance(names, str):
            raise TypeError(f"names must be several names, got one str, {names!r}")
        given = None if names is None else [*dict.fromkeys(names)]
        if given == []:
            raise ValueError("names is empty: name variables or items, or leave it out")
        wanted = [*dict.fromkeys(self.found.variables)] if given is None else given
        members = [self._members(name) for name in wanted]
        what = "variables" if given is None else f"of {listing(map(repr, wanted))}"
        return self._kept(
            [
                rank
                for rank in self.ranks
                if sum(bool(own & self._used(rank)) for own in members) <= n
            ],
            f"at most {n} {what}",
        )

    def within(self, share: float) -> Choice:
        """Keep alternatives whose objective exceeds the best by no more than a share of it.

        Parameters
        ----------
        share : float
            0.001 for 0.1%.

        Returns
        -------
        Choice

        Raises
        ------
        ValueError
            A share below 0; no alternative is left, for example after others were left out.
        """
        share = as_number(share, "share")
        if not share >= 0:
            raise ValueError(f"share must be at least 0, got {share!r}")
        most = share + _SAME
        return self._kept(
            [rank for rank in self.ranks if self.found.share(rank) <= most],
            f"at most {percent(share)} above the best",
        )

    def _kept(self, ranks: list[int], why: str) -> Choice:
        filters = (*self.filters, why)
        if not ranks:
            raise ValueError(
                f"no alternative is left: none of {len(self.found)} is {', '.join(filters)}. "
                f"A larger share than within={self.found.within:g} finds more"
            )
        return dataclasses.replace(self, ranks=tuple(ranks), filters=filters)

    def _members(self, name: Any) -> frozenset[str]:
        """The items that a name stands for: its own, or those of a variable."""
        return members_of(self.found, name)

    def _used(self, rank: int) -> frozenset[str]:
        return frozenset(self.found.items(rank))

    # ---- criteria --------------------------------------------------------------------------------

    def value(self, criterion: str, rank: int) -> float:
        """Return a criterion of an alternative.

        Parameters
        ----------
        criterion : str
            One of "objective", "model_size", "n_variables", "cost", "loss", "auc", "cal",
            "sensitivity", "sensitivity_gap", "specificity_gap", "called_gap"; on the test rows
            "test_loss" and so on.
        rank : int

        Returns
        -------
        float
            NaN where it is not defined.

        Raises
        ------
        ValueError
            There is no such criterion, or no costs, or no test rows.
        """
        if criterion not in CRITERIA:
            raise ValueError(
                f"there is no criterion {criterion!r}{near(criterion, CRITERIA)}; there are "
                f"{', '.join(CRITERIA)}"
            )
        found = self.found
        if criterion == "objective":
            return float(found.objective(rank))
        if criterion == "model_size":
            return float(len(found.items(rank)))
        if criterion == "n_variables":
            return float(len(variables_of(found, rank)))
        if criterion == "cost":
            if found.costs is None:
                raise ValueError("no costs are known: compare(..., costs={'glucose': 2})")
            return found.cost(rank)
        is_test = criterion.startswith("test_")
        if is_test and len(found.measures) < 2:
            raise ValueError(
                f"there are no test rows to measure {criterion!r} on: "
                "compare(..., X_test=X_test, y_test=y_test)"
            )
        measured = found.measures[1 if is_test else 0]
        return float(getattr(measured, criterion.removeprefix("test_"))[rank])

    def best(self, by: str = "objective") -> int:
        """Choose an alternative by a criterion.

        Parameters
        ----------
        by : str, default "objective"
            As in :meth:`value`: the largest AUC or sensitivity, the least of all others.

        Returns
        -------
        int
            Its rank; of equals that with the least objective.

        Raises
        ------
        ValueError
            There is no such criterion, or no alternative has it.
        """
        sign = -1.0 if by.removeprefix("test_") in _LARGER_IS_BETTER else 1.0
        values = {rank: sign * self.value(by, rank) for rank in self.ranks}
        defined = {rank: value for rank, value in values.items() if not math.isnan(value)}
        if not defined:
            raise ValueError(f"no alternative has the criterion {by!r}: it is not defined there")
        least = min(defined.values())
        return next(rank for rank, value in defined.items() if value <= least + _SAME)

    def chosen(self, by: str | int = "objective", **options: Any) -> RiskScore:
        """Return the chosen alternative as a risk score.

        Parameters
        ----------
        by : str or int, default "objective"
            A criterion, as in :meth:`best`; or a rank of those that are left.
        **options
            As :meth:`RiskScore.from_solution` has them: ``problem``, ``raw``. The encoder is that
            of the data.

        Returns
        -------
        RiskScore

        Raises
        ------
        ValueError
            There is no such criterion, or no such rank is left.
        """
        if isinstance(by, str):
            rank = self.best(by)
        elif is_int(by) and by in self.ranks:
            rank = int(by)
        else:
            raise ValueError(
                f"{by!r} is none of the ranks that are left: {listing(map(str, self.ranks))}"
            )
        return self.found.score(self.data, rank, **{"encoder": self.data.encoder, **options})

    # ---- words -----------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each alternative that is left: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return [self._record(rank) for rank in self.ranks]

    def _record(self, rank: int) -> dict[str, Any]:
        found = self.found
        record: dict[str, Any] = {
            "rank": rank,
            "items": found.items(rank),
            "variables": variables_of(found, rank),
            "objective": found.objective(rank),
            "above_best": found.share(rank),
        }
        if found.costs is not None:
            record["cost"] = found.cost(rank)
        for prefix, measured in zip(("", "test_"), found.measures, strict=False):
            record |= {f"{prefix}{name}": self.value(f"{prefix}{name}", rank) for name in OF_ROWS}
            if len(measured.groups) < 2:
                for name in OF_ROWS:
                    if name.endswith("_gap"):
                        del record[f"{prefix}{name}"]
        return record

    def table(self, most: int = _SHOWN) -> str:
        """Write the alternatives that are left as a table.

        Parameters
        ----------
        most : int, default 10
            Alternatives to show; a last line counts the others.

        Returns
        -------
        str
        """
        lines = [["Rank", "Above best", *self._heads(), "Variables", "Items"]]
        for rank in self.ranks[:most]:
            names = ", ".join(printable(name, lines=False) for name in self.found.items(rank))
            lines.append(
                [
                    str(rank), percent(max(self.found.share(rank), 0.0)), *self._cells(rank),
                    str(len(variables_of(self.found, rank))), names or "none",
                ]
            )  # fmt: skip
        # The last column is on the left.
        widths = max(len(line[-1]) for line in lines)
        for line in lines:
            line[-1] = line[-1].ljust(widths)
        text = "\n".join(line.rstrip() for line in aligned(lines).splitlines())
        more = len(self) - most
        return f"{text}\n... and {more} more" if more > 0 else text

    def _heads(self) -> list[str]:
        heads = ["AUC", "CAL", "Test AUC", "Test CAL"][: 2 * len(self.found.measures)]
        return [*heads, *(["Cost"] if self.found.costs is not None else [])]

    def _cells(self, rank: int) -> list[str]:
        cells = [
            metric_text(name, float(getattr(measured, name)[rank]))
            for measured in self.found.measures
            for name in ("auc", "cal")
        ]
        if self.found.costs is not None:
            cells.append(f"{self.found.cost(rank):.6g}")
        return cells

    def count(self) -> str:
        """Say how many alternatives are left, and why the others are not.

        Returns
        -------
        str
        """
        said = f" ({', '.join(self.filters)})" if self.filters else ""
        return f"{len(self)} of {len(self.found)} alternatives{said}."

    def __str__(self) -> str:
        return f"{self.table()}\n{self.count()}"


def compare(
    found: Alternatives,
    data: TrainingData,
    *,
    groups: ArrayLike | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight_test: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
    threshold: float = 0.5,
    specificity: float = 0.9,
    costs: Mapping[str, float] | None = None,
    name: str = TRAINING,
) -> Choice:
    """Measure all alternatives by what the objective does not say.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        That they were found on.
    groups : array-like of shape (n,), optional
        A label for each row; at most 100 distinct ones.
    X_test, y_test, sample_weight_test, groups_test : optional
        Rows that were not used to find the alternatives, as features or as the raw columns that
        these are made of.
    threshold : float, default 0.5
        The risk from which on rows are called positive, for gaps between groups and for decisions
        that depend on the choice.
    specificity : float, default 0.9
        At which the sensitivity is measured.
    costs : mapping from str to float, optional
        What it costs to measure variables, or items; others cost nothing. A variable costs once,
        however many of its items are used.
    name : str, default "training rows"
        What the rows of ``data`` are called, where they are a sample for example.

    Returns
    -------
    Choice
        ``choice.found`` has the measures, and how far the alternatives agree.

    Raises
    ------
    TypeError, ValueError
        Other data; rows, labels, weights or groups as :meth:`RiskScore.report` refuses; thresholds
        and specificities that are not between 0 and 1; costs of what there is not, or below 0.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> from riskslim.near_optimal import compare
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=2)
    >>> choice = compare(alternatives(problem, within=1.0), data)
    >>> choice.found.agreement[0].rows
    'training rows'
    """
    log_odds_from(threshold)
    if not (is_number(specificity) and 0 < specificity < 1):
        raise ValueError(f"specificity must be between 0 and 1, got {specificity!r}")
    checked = None if costs is None else check_costs(found, costs)
    kinds = [training_kinds(found, data, groups, name)]
    if X_test is not None:
        if y_test is None and not hasattr(X_test, "labels"):
            raise ValueError("y_test is None, but test rows need labels")
        kinds.append(held_out_kinds(found, data, X_test, y_test, sample_weight_test, groups_test))
    elif y_test is not None or sample_weight_test is not None or groups_test is not None:
        raise ValueError("X_test is None, but labels, weights or groups of test rows are given")
    pool = pool_of(found)
    measures = tuple(_measured(one, pool, threshold, specificity) for one in kinds)
    if name == TRAINING:  # a sample of the rows has another loss
        check_losses(found, measures[0].loss)
    measured = dataclasses.replace(
        found,
        measures=measures,
        agreement=tuple(agreement_of(one, pool, threshold) for one in kinds),
        costs=checked,
    )
    return Choice(measured, data, tuple(range(len(pool))))


def check_costs(found: Alternatives, costs: Mapping[str, float]) -> Mapping[str, float]:
    """Check what it costs to measure variables or items.

    Parameters
    ----------
    found : Alternatives
    costs : mapping from str to float

    Returns
    -------
    mapping from str to float

    Raises
    ------
    TypeError, ValueError
        No mapping; names that there are not; costs that are below 0 or not finite.
    """
    if not isinstance(costs, Mapping):
        raise TypeError(f"costs must be a mapping from names to numbers, got {costs!r}")
    checked: dict[str, float] = {}
    for name, cost in costs.items():
        members_of(found, name)
        checked[name] = checked_cost(name, cost)
    return MappingProxyType(checked)


def checked_cost(name: str, cost: Any) -> float:
    """Check what it costs to measure one variable or item.

    Parameters
    ----------
    name : str
    cost : float

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        It is no number, or below 0, or not finite.
    """
    value = as_number(cost, f"the cost of {name!r}")
    if not 0 <= value < math.inf:
        raise ValueError(f"the cost of {name!r} must be at least 0 and finite, got {cost!r}")
    return value


def members_of(found: Alternatives, name: Any) -> frozenset[str]:
    """Return the items that a name stands for.

    Parameters
    ----------
    found : Alternatives
    name : str
        Of an item, which stands for itself, or of a variable, which stands for all of its items.

    Returns
    -------
    frozenset of str

    Raises
    ------
    ValueError
        There is neither such an item nor such a variable.
    """
    return members_among(found.solution.feature_names, found.variables, name)


def members_among(names: Sequence[str], variables: Sequence[str], name: Any) -> frozenset[str]:
    """Return the items that a name stands for, as :func:`members_of` does.

    Parameters
    ----------
    names, variables : sequence of str
        All items, and the variable of each.
    name : str

    Returns
    -------
    frozenset of str

    Raises
    ------
    ValueError
        There is neither such an item nor such a variable.
    """
    of_variable = frozenset(
        feature for feature, variable in zip(names, variables, strict=True) if variable == name
    )
    if of_variable:
        return of_variable
    if name in names:
        return frozenset((name,))
    known = [*dict.fromkeys((*names, *variables))]
    raise ValueError(f"there is no item and no variable {name!r}{near(name, known)}")


def variables_of(found: Alternatives, rank: int) -> tuple[str, ...]:
    """Return the variables of an alternative, in the order of its items.

    Parameters
    ----------
    found : Alternatives
    rank : int

    Returns
    -------
    tuple of str
    """
    variable = dict(zip(found.solution.feature_names, found.variables, strict=True))
    return tuple(dict.fromkeys(variable[name] for name in found.items(rank)))


def _measured(
    kinds: RowKinds, pool: SolutionPool, threshold: float, specificity: float
) -> Measures:
    """Measure all scores on rows with labels."""
    assert kinds.positive is not None
    assert kinds.negative is not None
    least = log_odds_from(threshold)
    each: list[tuple[float, float, float, float]] = []
    gaps: list[NDArray[np.float64]] = []
    members = [own for label, own in kinds.members() if label is not None]
    for _, odds in kinds.log_odds(pool):
        each += [_of_score(one, kinds.positive, kinds.negative, specificity) for one in odds]
        gaps.append(_gaps(kinds, odds >= least, members))
    loss, auc, cal, sensitivity = np.array(each).T
    return Measures(
        kinds.name, kinds.n_rows, float(threshold), float(specificity), kinds.groups,
        loss, auc, cal, sensitivity, *np.concatenate(gaps, axis=1),
    )  # fmt: skip


def _of_score(
    odds: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    specificity: float,
) -> tuple[float, float, float, float]:
    """Loss, AUC, CAL, and sensitivity at a specificity."""
    distinct, place = np.unique(odds, return_inverse=True)
    weight = np.concatenate([np.bincount(place, own) for own in (positive, negative)])
    labels = np.repeat([True, False], len(distinct))
    z = np.concatenate([distinct, distinct])
    auc = sensitivity = math.nan
    if weight[labels].any() and weight[~labels].any():
        points = operating_points(labels, z, weight)
        auc = points.auc
        if (points.specificity[1:] >= specificity - _SAME).any():
            sensitivity = points.at(specificity=specificity).sensitivity
    return (
        logistic_loss(labels, z, weight), auc,
        calibration_error(labels, logistic(z), weight, z), sensitivity,
    )  # fmt: skip


def _gaps(
    kinds: RowKinds, called: NDArray[np.bool_], members: list[NDArray[np.bool_]]
) -> NDArray[np.float64]:
    """Largest differences between groups of sensitivity, specificity and share called positive."""
    assert kinds.positive is not None
    assert kinds.negative is not None
    if len(members) < 2:
        return np.full((3, len(called)), math.nan)
    is_called = called.astype(np.float64)
    of_group = np.array(members, dtype=np.float64).T
    found = []
    for weight, right in (
        (kinds.positive, is_called), (kinds.negative, 1.0 - is_called), (kinds.weight, is_called),
    ):  # fmt: skip
        own = of_group * weight[:, np.newaxis]
        total = own.sum(axis=0)
        shares = (right @ own)[:, total > 0] / total[total > 0]
        gap = np.full(len(called), math.nan)
        if shares.shape[1] > 1:
            gap = shares.max(axis=1) - shares.min(axis=1)
        found.append(gap)
    return np.array(found)
