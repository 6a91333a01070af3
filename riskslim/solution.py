"""Results of engines: integer coefficients, a certificate, and how they were found."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import printable
from riskslim.operating_point import TOLERANCE, RequiredShare, RuleCertificate, Shares
from riskslim.scale import PAPER_SCALE, ScaleSet, scale_text

__all__ = [
    "Certificate",
    "RulePool",
    "Solution",
    "SolutionPool",
    "SolveStatistics",
    "Status",
    "Trace",
    "TraceRecord",
    "optimality_gap",
]

# Prices of features that are this share of the objective are rounding errors of its parts.
_UNSEEN_PRICE = 1e-13

# A bound more exact than this needs no word about its accuracy.
_UNSEEN_TOLERANCE = 1e-8

# Any loss is above 0: a gap as large as this says next to nothing.
_NOTHING_PROVEN = 0.99

# Scores of a list that are printed.
_SHOWN = 10


class Status(str, enum.Enum):
    """The end of a run."""

    OPTIMAL = "optimal"
    """The gap is within the tolerance that was asked for."""
    FEASIBLE = "feasible"
    """A limit was reached first; the gap says how far the score can be from optimal."""
    INFEASIBLE = "infeasible"
    """No coefficient vector meets the requirements."""
    INTERRUPTED = "interrupted"
    """The user stopped the run; objective and bound are valid as far as they got."""

    def __str__(self) -> str:
        return self.value


@dataclasses.dataclass(frozen=True)
class Certificate:
    r"""A proof about a risk score: its objective, and a bound that none is below.

    Parameters
    ----------
    status : Status
    objective : float
        Objective of the returned coefficients, recomputed on all rows from the coefficients
        alone. inf if there are none.
    loss : float
        Its normalised logistic loss.
    model_size : int
        Number of non-zero coefficients, intercept apart.
    lower_bound : float
        No coefficient vector of the stated problem has a smaller objective (to within
        ``bound_tolerance``).
    gap_tolerance : float
        Gap up to which the user accepts a score as optimal.
    bound_tolerance : float
        Absolute accuracy of ``lower_bound``: the tolerance to which the engine decides
        whether a point satisfies a constraint. 0 for a bound that is exact up to rounding.
    engine : str
        "lattice_cpa" or another engine, with the version of the solver under it.
    n_samples : int
        Rows that the objective was evaluated on.
    message : str
        Why the run ended, in words.
    scale : float, default 1.0
        Scale m of the returned score, for which ``objective`` and ``loss`` are computed.
    scales : ScaleSet, default 1
        All scales that the lower bound is about.
    ridge : float, default 0.0
        Ridge penalty of the weights: ``objective`` is the sum of ``loss``, this, and the prices of
        the features.
    rule : RuleCertificate, optional
        Of a score that was found for its operating point: what is proven about that. The objective
        then decides between rules that are equally good, and ``lower_bound`` holds for these; or
        for all scores, where ``rule.is_tie_proven`` is false.

    Notes
    -----
    The gap is that of Ustun & Rudin (2019), section 2:
    :math:`(V^{\max} - V^{\min}) / V^{\max}`. Over an interval of scales the returned scale is
    rounded to few digits, which may cost a share of 1e-5 of the objective
    (:data:`~riskslim.scale.SCALE_TOLERANCE`); ``gap_tolerance`` is then at least that.

    Examples
    --------
    >>> from riskslim import Certificate
    >>> from riskslim.solution import Status
    >>> certificate = Certificate(Status.FEASIBLE, 0.40, 0.39, 2, 0.38, 0.0, 0.0, "example", 100)
    >>> round(certificate.optimality_gap, 6)
    0.05
    """

    status: Status
    objective: float
    loss: float
    model_size: int
    lower_bound: float
    gap_tolerance: float
    bound_tolerance: float
    engine: str
    n_samples: int
    message: str = ""
    scale: float = 1.0
    scales: ScaleSet = PAPER_SCALE
    ridge: float = 0.0
    rule: RuleCertificate | None = None

    @property
    def optimality_gap(self) -> float:
        """(objective - lower_bound) / objective; 0 if both are 0, NaN without a score."""
        return optimality_gap(self.objective, self.lower_bound)

    @property
    def is_optimal(self) -> bool:
        """True if the gap is within the tolerance that was asked for."""
        return self.status is Status.OPTIMAL

    def explain(self, *, with_scales: bool = True) -> str:
        """Say what the certificate means in plain words.

        Parameters
        ----------
        with_scales : bool, default True
            Say which scales of points it is about, where not the paper's.

        Returns
        -------
        str
            One or two sentences.
        """
        if self.status is Status.INFEASIBLE:
            return f"No risk score meets the requirements: {self.message}."
        if self.rule is not None:
            return self.rule.explain()
        same = f"{self.lower_bound:.6g}" == f"{self.objective:.6g}"
        digits = 10 if same and self.lower_bound < self.objective else 6
        if self.lower_bound >= self.objective:
            proven = "No risk score that meets the requirements has a lower objective"
            # Beyond the digits that are shown, the accuracy of the bound is part of the claim.
            if self.bound_tolerance > _UNSEEN_TOLERANCE * max(1.0, abs(self.objective)):
                proven += f" by more than {self.bound_tolerance:.1g}, the accuracy of the bound"
            proven += "."
        elif not self.is_optimal and self.optimality_gap > _NOTHING_PROVEN:
            proven = (
                "There is no useful lower bound yet: how much better another risk score could be "
                "is not known. More time can tell."
            )
        else:
            proven = (
                f"No risk score that meets the requirements can have an objective below "
                f"{self.lower_bound:.{digits}g}, which is {percent(self.optimality_gap)} lower "
                "than this one's."
            )
        return (
            f"Objective {self.objective:.{digits}g}{self._parts(digits)} on {self.n_samples} rows. "
            f"{proven}"
            f"{self._scales() if with_scales else ''}"
        )

    def _parts(self, digits: int) -> str:
        """The parts of the objective, where a ridge penalty is one of them."""
        if not self.ridge:
            return ""
        prices = self.objective - self.loss - self.ridge
        priced = f" + prices {prices:.3g}" if prices > _UNSEEN_PRICE * self.objective else ""
        return f" = loss {self.loss:.{digits}g} + ridge {self.ridge:.{digits}g}{priced}"

    def _scales(self) -> str:
        """Say what the bound says about scales, where they are not the paper's."""
        if self.scales == PAPER_SCALE:
            return ""
        if self.scales.is_single:
            return f" This is about scores with the scale {self.scale:.10g}."
        return (
            f" This is about scores with any scale of {self.scales.describe()}; this one's is "
            f"{self.scale:.10g}."
        )

    def __str__(self) -> str:
        if self.status is Status.INFEASIBLE:
            return f"infeasible: {self.message}"
        ended = str(self.status)
        if self.status is Status.FEASIBLE and self.message:
            ended = f"{ended} ({self.message})"
        elif self.is_optimal and self.rule is None and self.optimality_gap > 0:
            ended = f"{ended} to within {percent(self.gap_tolerance)}"
        scale = "" if self.scales == PAPER_SCALE else f", scale {self.scale:.10g}"
        if not self.scales.is_single:
            scale += f" (of {self.scales.describe()})"
        return (
            f"{ended}: objective {self.objective:.9g}{self._parts(9)}, "
            f"lower bound {self.lower_bound:.9g}, "
            f"gap {percent(self.optimality_gap)}, {self.n_samples} rows{scale}"
            + (f"; {self.rule}" if self.rule is not None else "")
        )

    def faults(self) -> tuple[str, ...]:
        """Name what no certificate of a score can say: none of an engine has any.

        Returns
        -------
        tuple of str

        Examples
        --------
        >>> from riskslim import Certificate, Status
        >>> Certificate(Status.OPTIMAL, 0.4, 0.39, 1, 99.0, 0.0, 0.0, "example", 100).faults()
        ('the lower bound 99.0 is above the objective 0.4',)
        """
        objective, loss, bound, ridge = self.objective, self.loss, self.lower_bound, self.ridge
        within = 0 <= self.gap_tolerance < 1 and 0 <= self.bound_tolerance < math.inf
        gap = self.optimality_gap if self.rule is None else self.rule.gap
        is_true = {
            "it is about no score": self.status is not Status.INFEASIBLE,
            f"the loss {loss!r} is none": 0 <= loss < math.inf,
            f"the objective {objective!r} is below the loss {loss!r}": not objective < loss,
            f"the objective {objective!r} is none": math.isfinite(objective),
            f"the lower bound {bound!r} is none": not (math.isnan(bound) or bound == math.inf),
            f"the lower bound {bound!r} is above the objective {objective!r}": (
                not bound > objective or not math.isfinite(bound)
            ),
            f"the ridge penalty {ridge!r} is none": 0 <= ridge < math.inf,
            f"the objective {objective!r} is below the sum of loss {loss!r} and ridge penalty "
            f"{ridge!r}": objective < loss or not objective < loss + ridge,
            f"no feature has points, but the ridge penalty is {ridge!r}": (
                self.model_size > 0 or ridge == 0
            ),
            f"the tolerances {self.gap_tolerance!r} and {self.bound_tolerance!r} are none": within,
            f"the gap {gap!r} of an optimal score is above {self.gap_tolerance!r}": (
                self.status is not Status.OPTIMAL
                or gap <= max(self.gap_tolerance, TOLERANCE if self.rule is not None else 0.0)
                or bound > objective
            ),
            f"it is about {self.n_samples} rows": self.n_samples > 0,
            f"the scale {self.scale!r} is not among {self.scales!r}": self.scale in self.scales,
        }
        of_rule = self.rule.faults() if self.rule is not None else ()
        return (*(fault for fault, holds in is_true.items() if not holds), *of_rule)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the gap among them; the ridge penalty where there is one."""
        values = dataclasses.asdict(self)
        if not self.ridge:
            del values["ridge"]
        if self.rule is None:
            del values["rule"]
        values["status"] = self.status.value
        values["scales"] = self.scales.to_plain()
        values["optimality_gap"] = self.optimality_gap
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        values : mapping

        Returns
        -------
        Certificate

        Raises
        ------
        ValueError
            A value is missing or the status is unknown.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        optional = ("message", "scale", "scales", "ridge", "rule")
        missing = [name for name in names if name not in values and name not in optional]
        if missing:
            raise ValueError(f"certificate lacks {', '.join(missing)}")
        chosen = {name: values[name] for name in names if name in values}
        chosen["status"] = Status(chosen["status"])
        if "scales" in chosen:
            chosen["scales"] = ScaleSet.from_plain(chosen["scales"])
        if chosen.get("rule") is not None:
            chosen["rule"] = RuleCertificate.from_dict(chosen["rule"])
        return cls(**chosen)


def percent(gap: float) -> str:
    """Write a gap as a percentage that is zero only if the gap is.

    Parameters
    ----------
    gap : float

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.solution import percent
    >>> percent(0.0321), percent(1e-7), percent(0.0)
    ('3.21%', '<0.01%', '0.00%')
    """
    return "<0.01%" if 0.0 < gap < 5e-5 else f"{gap:.2%}"


def optimality_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / objective, 0 where both are 0.

    Parameters
    ----------
    objective, lower_bound : float

    Returns
    -------
    float
        NaN where the objective is not finite.
    """
    if not math.isfinite(objective):
        return math.nan
    if objective == lower_bound:
        return 0.0
    return (objective - lower_bound) / objective if objective else -math.inf


class TraceRecord(NamedTuple):
    """State of the search at one moment.

    Attributes
    ----------
    time : float
        Seconds since the start.
    upper_bound, lower_bound, gap : float
        Best objective, best bound, and their gap at this moment.
    nodes, cuts, incumbent_updates : int
        Counts so far.
    table_share : float
        Share of the sets of items that tables of supports have looked at or excluded, of the
        node that they are at, where there is one that takes long; 1 after it, 0 before.
    """

    time: float
    upper_bound: float
    lower_bound: float
    gap: float
    nodes: int
    cuts: int
    incumbent_updates: int
    table_share: float = 0.0

    @property
    def supports_done(self) -> str:
        """The share of supports in words, empty while there is nothing to count."""
        return f"  supports {self.table_share:.0%}" if 0 < self.table_share < 1 else ""

    def summary(self) -> str:
        """The state in words that fit a line of 80 columns after a time."""
        return (
            f"objective {self.upper_bound:.5f}  bound {self.lower_bound:.5f}  "
            f"gap {self.gap:.2%}  nodes {self.nodes}"
            + (self.supports_done or f"  cuts {self.cuts}")
        )


class Trace:
    """The course of a search: one record per change of a bound.

    Bounds in it only ever improve. Those that a search takes back, since its solver's arithmetic
    did not hold, are taken back in all records; only who was told of them by ``progress`` has seen
    them fall. Iterating yields :class:`TraceRecord` objects; ``trace["lower_bound"]`` is one column
    as an array.

    Examples
    --------
    >>> from riskslim.solution import Trace, TraceRecord
    >>> trace = Trace([TraceRecord(0.0, 0.5, 0.1, 0.8, 0, 3, 1)])
    >>> trace["gap"]
    array([0.8])
    """

    def __init__(self, records: list[TraceRecord] | None = None) -> None:
        self._records = list(records or [])

    def append(self, record: TraceRecord) -> None:
        """Add the newest record.

        Parameters
        ----------
        record : TraceRecord
        """
        self._records.append(record)

    def lowered(self, most: float) -> Trace:
        """The same records with lower bounds that are at most a value.

        Parameters
        ----------
        most : float
            What is proven.

        Returns
        -------
        Trace

        Examples
        --------
        >>> from riskslim.solution import Trace, TraceRecord
        >>> trace = Trace([TraceRecord(0.0, 0.5, 0.1, 0.8, 0, 3, 1)]).lowered(0.05)
        >>> trace["lower_bound"], trace["gap"]
        (array([0.05]), array([0.9]))
        """
        return Trace(
            [
                record
                if record.lower_bound <= most
                else record._replace(lower_bound=most, gap=optimality_gap(record.upper_bound, most))
                for record in self
            ]
        )

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[TraceRecord]:
        return iter(self._records)

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in TraceRecord._fields:
            raise KeyError(f"no column {column!r}; there are {', '.join(TraceRecord._fields)}")
        return np.array([getattr(record, column) for record in self._records])

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists, ready for a data frame or JSON."""
        return {name: self[name].tolist() for name in TraceRecord._fields}

    def __repr__(self) -> str:
        return f"Trace({len(self)} records)"


@dataclasses.dataclass
class SolveStatistics:
    """Counts and times of one run.

    Parameters
    ----------
    total_seconds : float
        Wall-clock time of the whole run.
    data_seconds : float
        Of it, time spent on passes over the data: loss, gradient, line searches.
    initialization_seconds : float
        Of it, time before the tree search began.
    nodes : int
        Nodes processed.
    cuts : int
        Linearisations of the loss: cuts of LCPA, gradients at nodes of branch and bound.
    incumbent_updates : int
        Times that the best score improved.
    loss_evaluations : int
        Evaluations of the loss on all rows.
    refused_candidates : int
        Solutions that the solver wanted to accept with an understated loss.
    subsampled_roundings : int
        LP solutions that were rounded on a sample of the rows.
    subsampled_checks : int
        Of them, those whose rounding was promising and evaluated on all rows.
    subsampling_epsilon : float
        Guarantee of the samples that led to incumbents: the loss on all rows exceeds that of a
        rounding on the sample by this at most, with the probability that the settings ask for;
        infinite if the run was stopped before it was computed.
    table_nodes : int
        Nodes of branch and bound that tables of supports completed.
    table_supports : int
        Sets of items that these tables looked at.
    table_saturated : int
        Of them, those that the saturated loss did not exclude.
    table_left : int
        Of them, those that bounds on their cells did not exclude, either.
    table_vectors : int
        Scores that meet constraints on rates, found on the cells of supports.
    table_share : float
        Of the last node that tables took long for, the share of supports that are looked at or
        excluded: 1 if the run did not end within it, 0 if there was none.
    cutoff_nodes : int
        Nodes of searches over cut-offs: sets of ranges of nested items.
    cutoff_supports : int
        Sets of single items that these searches looked at.
    cutoff_left : int
        Of them, those that were not excluded.
    """

    total_seconds: float = 0.0
    data_seconds: float = 0.0
    initialization_seconds: float = 0.0
    nodes: int = 0
    cuts: int = 0
    incumbent_updates: int = 0
    loss_evaluations: int = 0
    refused_candidates: int = 0
    subsampled_roundings: int = 0
    subsampled_checks: int = 0
    subsampling_epsilon: float = 0.0
    table_nodes: int = 0
    table_supports: int = 0
    table_saturated: int = 0
    table_left: int = 0
    table_vectors: int = 0
    table_share: float = 0.0
    cutoff_nodes: int = 0
    cutoff_supports: int = 0
    cutoff_left: int = 0


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SolutionPool:
    """Several of the best risk scores, and what is proven about all others.

    Printed, it is a table of the first ten with what :meth:`explain` says. Vectors that differ in
    the intercept alone are two scores; over several scales, multiples of others that have the same
    risks are left out. A list by items holds the best score of each set of items, and its ``bound``
    is about all other sets.

    Parameters
    ----------
    coefficients : ndarray of int64, shape (m, d + 1)
        Distinct vectors, intercept first, sorted by objective.
    objectives : ndarray of float64, shape (m,)
        Each at its scale, which is rounded as the certificate's is.
    feature_names : tuple of str, length d
    complete : bool
        Whether these are all scores that were asked for.
    bound : float
        No feasible vector that is not listed has a smaller objective, to within the
        ``bound_tolerance`` of the certificate; infinite if there is no other one. Where the
        search was stopped early, the listed ones below it are certainly the best.
    scales : ndarray of float64, shape (m,), optional
        Scale of each score. None: all have the scale 1.
    intercepts : tuple of two int, optional
        Least and largest intercept of those that were looked at, where the list is incomplete for
        no other reason: its bounds were left open, and fewer scores were found than were asked for.
    distinct : {"scores", "items"}
        Whether these are scores, or each is the best one of its set of items: the features with
        points.
    lower_bounds : ndarray of float64, shape (m,), optional
        Of a list by items: no score with exactly the items of the listed one has a smaller
        objective. Where the listed one is proven to be the best of them, that is its own, less
        what the search does not tell apart.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import SolutionPool
    >>> pool = SolutionPool(np.array([[-3, 2, 0]]), np.array([0.4]), ("age >= 60", "smoker"),
    ...                     complete=True, bound=0.41)
    >>> len(pool), pool.intercept(0), pool.points(0)
    (1, -3, {'age >= 60': 2})
    >>> print(pool)
    rank   objective  intercept  points
       0  0.40000000         -3  age >= 60: 2
    The list is complete: no other risk score that meets the requirements has an objective below
    0.41.
    """

    coefficients: NDArray[np.int64]
    objectives: NDArray[np.float64]
    feature_names: tuple[str, ...]
    complete: bool
    bound: float
    scales: NDArray[np.float64] | None = None
    intercepts: tuple[int, int] | None = None
    distinct: str = "scores"
    lower_bounds: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.objectives)

    def points(self, rank: int) -> dict[str, int]:
        """Non-zero coefficients of one score by feature name.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        dict
        """
        coef = self.coefficients[rank]
        return {self.feature_names[j]: int(coef[1 + j]) for j in np.flatnonzero(coef[1:])}

    def intercept(self, rank: int) -> int:
        """Intercept of one score.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        int
        """
        return int(self.coefficients[rank, 0])

    def scale(self, rank: int) -> float:
        """Scale of one score: what its points are divided by to get log-odds.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        float
        """
        return 1.0 if self.scales is None else float(self.scales[rank])

    def explain(self) -> str:
        """Say in plain words what the list holds and what it may lack.

        Returns
        -------
        str
            A sentence or two.

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim import SolutionPool
        >>> pool = SolutionPool(np.array([[-3, 2], [-2, 2]]), np.array([0.4, 0.42]), ("smoker",),
        ...                     complete=False, bound=0.41)
        >>> print(pool.explain())
        The list is incomplete: the search ended early. It has every risk score with an objective
        below 0.41, of which there is 1; from there on others may be missing.
        """
        if not self.complete:
            why = "the search ended early"
            if self.intercepts is not None:
                low, high = self.intercepts
                why = (
                    f"it has all scores with an intercept from {low} to {high}, and others may "
                    "meet the requirements as well, because no bounds of the intercept were given"
                )
            return f"The list is incomplete: {why}. {self._known_part()}"
        of_sets = "The list has the best score of each set of items. " if self._has_sets else ""
        if math.isinf(self.bound):
            return f"{of_sets}The list is complete: no other {self._kind} meets the requirements."
        has = "has a score with" if self._has_sets else "that meets the requirements has"
        return (
            f"{of_sets}The list is complete: no other {self._kind} {has} an objective below "
            f"{self.bound:.9g}."
        )

    @property
    def _has_sets(self) -> bool:
        return self.distinct == "items"

    @property
    def _kind(self) -> str:
        return "set of items" if self._has_sets else "risk score"

    def _known_part(self) -> str:
        below = int(np.count_nonzero(self.objectives < self.bound))
        if not below:
            return (
                "No risk score that meets the requirements has an objective below "
                f"{self.bound:.9g}, but from there on better ones than these may be missing."
            )
        what = "set of items that has a score" if self._has_sets else "risk score"
        return (
            f"It has every {what} with an objective below {self.bound:.9g}, of which there "
            f"{'is' if below == 1 else 'are'} {below}; from there on others may be missing."
        )

    def table(self, most: int = _SHOWN) -> str:
        """Write the best scores as a table: rank, objective, intercept, points.

        Where scores have other scales than 1, these come after the objective.

        Parameters
        ----------
        most : int, default 10
            Scores to show; a last line counts the others.

        Returns
        -------
        str

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim import SolutionPool
        >>> pool = SolutionPool(np.array([[-7, 5], [-3, 2]]), np.array([0.38, 0.4]), ("smoker",),
        ...                     complete=True, bound=0.42, scales=np.array([2.5, 1.0]))
        >>> print(pool.table())
        rank   objective  scale  intercept  points
           0  0.38000000    2.5         -7  smoker: 5
           1  0.40000000      1         -3  smoker: 2
        """
        objectives = self.objectives[:most].tolist()
        scales = self._scale_column(len(objectives))
        lines = [f"rank   objective{scales[0]}  intercept  points"]
        for rank, objective in enumerate(objectives):
            lines.append(
                f"{rank:>4}  {objective:.8f}{scales[1 + rank]}  {self.intercept(rank):>9}  "
                f"{self._points_text(rank)}"
            )
        return _with_more(lines, len(self) - most)

    def _points_text(self, rank: int) -> str:
        points = self.points(rank).items()
        return ", ".join(f"{printable(name, lines=False)}: {p}" for name, p in points) or "none"

    def _scale_column(self, count: int) -> list[str]:
        """Head and entries of the column of scales, empty where all scales are 1."""
        if self.scales is None or (self.scales == 1.0).all():
            return [""] * (1 + count)
        texts = ["scale", *(scale_text(self.scale(rank)) for rank in range(count))]
        width = max(map(len, texts))
        return [f"  {text:>{width}}" for text in texts]

    def __str__(self) -> str:
        return f"{self.table()}\n{self.explain()}"

    __repr__ = __str__


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class RulePool(SolutionPool):
    """The best rule of each set of items, and what is proven about all other sets.

    A set is the features with points. Of the rules of a set that are equally good, the one of the
    least objective that is known is listed; certificates of the best one say more. ``objectives``
    are those of the scores, ``bound`` is the share below.

    Parameters
    ----------
    bound : float
        No set of items that is not listed has a rule that reaches the required share and calls more
        weight of the other class right.
    required : RequiredShare
    thresholds : ndarray of float64, shape (m,)
        Rows with at least so many points, the intercept not among them, are called positive.
    shares : tuple of Shares, length m
        On the training rows; that of the other class descends.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.operating_point import RequiredShare, Shares
    >>> from riskslim.solution import RulePool
    >>> pool = RulePool(np.array([[-3, 2, 0]]), np.array([0.4]), ("age >= 60", "smoker"),
    ...                 complete=True, bound=50.0, required=RequiredShare("sensitivity", 0.9),
    ...                 thresholds=np.array([2.0]), shares=(Shares(19, 20, 60, 100),))
    >>> print(pool)
    rank  sensitivity  specificity   objective  positive from  points
       0        95.0%        60.0%  0.40000000              2  age >= 60: 2
    The list has the best rule of each set of items. It is complete: no other set has a rule that
    finds at least 90% of the positive rows and leaves out more than 50 (50.0%) of the others.
    """

    required: RequiredShare = dataclasses.field(kw_only=True)
    thresholds: NDArray[np.float64] = dataclasses.field(kw_only=True)
    shares: tuple[Shares, ...] = dataclasses.field(kw_only=True)

    def explain(self) -> str:
        """Say in plain words what the list holds and what it may lack.

        Returns
        -------
        str
        """
        other = self.required.other
        verb, whose = ("leaves out", "of the others") if other == "specificity" else ("finds", "")
        most = f"{self.bound:,.10g} ({self.bound / self.shares[0].total(other):.1%}) {whose}"
        better = f"no other set has a rule that {self.required} and {verb} more than {most}"
        text = "The list has the best rule of each set of items. It is"
        if self.complete:
            return f"{text} complete: {better.strip()}."
        return f"{text} incomplete: the search ended early. As far as is known, {better.strip()}."

    def table(self, most: int = _SHOWN) -> str:
        """Write the best rules as a table: rank, shares, objective, threshold, points.

        Parameters
        ----------
        most : int, default 10
            Rules to show; a last line counts the others.

        Returns
        -------
        str
        """
        lines = ["rank  sensitivity  specificity   objective  positive from  points"]
        for rank, shares in enumerate(self.shares[:most]):
            lines.append(
                f"{rank:>4}  {shares.sensitivity:>11.1%}  {shares.specificity:>11.1%}  "
                f"{self.objectives[rank]:.8f}  {self.thresholds[rank]:>13.10g}  "
                f"{self._points_text(rank)}"
            )
        return _with_more(lines, len(self) - most)


def _with_more(lines: list[str], more: int) -> str:
    """Lines of a table, and how many are not shown."""
    return "\n".join([*lines, f"... and {more} more"] if more > 0 else lines)


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A risk score's coefficients with their certificate.

    Parameters
    ----------
    coefficients : ndarray of int64, shape (d,), or None
        Points per feature. None if the problem is infeasible.
    intercept : int or None
    certificate : Certificate
    feature_names : tuple of str, length d
    trace : Trace
    statistics : SolveStatistics
    settings : dict
        Everything the engine was told, limits included.
    pool : SolutionPool, optional
        The best scores, where several were asked for.
    scale : float, default 1.0
        Scale m: a total of s points means a risk of 1 / (1 + exp(-s / m)).
    is_interrupted : bool, default False
        The user asked for the end of the search. It may have come to its end by then: the
        certificate's status says that.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import Certificate, Solution, Status
    >>> certificate = Certificate(Status.OPTIMAL, 0.4, 0.39, 1, 0.4, 0.0, 0.0, "example", 100)
    >>> solution = Solution(np.array([2, 0]), -3, certificate, ("age >= 60", "smoker"))
    >>> solution.points, solution.coef
    ({'age >= 60': 2}, array([-3,  2,  0]))
    """

    coefficients: NDArray[np.int64] | None
    intercept: int | None
    certificate: Certificate
    feature_names: tuple[str, ...]
    trace: Trace = dataclasses.field(default_factory=Trace)
    statistics: SolveStatistics = dataclasses.field(default_factory=SolveStatistics)
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    pool: SolutionPool | None = None
    scale: float = 1.0
    is_interrupted: bool = False

    @property
    def coef(self) -> NDArray[np.int64]:
        """Intercept and coefficients in one vector, shape (d + 1,).

        Raises
        ------
        ValueError
            The problem was infeasible: there are no coefficients.
        """
        if self.coefficients is None or self.intercept is None:
            raise ValueError(f"there is no risk score: {self.certificate.message}")
        return np.concatenate(([self.intercept], self.coefficients)).astype(np.int64)

    @property
    def points(self) -> dict[str, int]:
        """Non-zero coefficients by feature name."""
        if self.coefficients is None:
            return {}
        return {
            self.feature_names[j]: int(self.coefficients[j])
            for j in np.flatnonzero(self.coefficients)
        }

    def __repr__(self) -> str:
        certificate = self.certificate
        scale = "" if certificate.scales == PAPER_SCALE else f", scale={self.scale:g}"
        return (
            f"Solution({certificate.status}, objective={certificate.objective:.8g}, "
            f"lower_bound={certificate.lower_bound:.8g}, gap={certificate.optimality_gap:.2%}, "
            f"intercept={self.intercept}, points={self.points}{scale})"
        )
