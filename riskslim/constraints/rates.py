r"""Constraints on error rates among the training records, in all or between groups.

A record is predicted positive if its predicted risk is at least a threshold. Rates of such
predictions are not linear in the points: :func:`~riskslim.lattice_cpa` alone takes these
constraints.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import checked_number
from riskslim._wording import listing, near
from riskslim.constraints.base import Constraint, Resolved, Setting, checked_name, name_part
from riskslim.constraints.rate_checks import Rate, RateCheck, ScoreLevel
from riskslim.data.faults import missing_among
from riskslim.data.tables import values_of
from riskslim.score.table import RiskScale, logistic

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData

__all__ = [
    "RateConstraint",
    "false_negative_rate_at_most",
    "false_positive_rate_at_most",
    "rate_gap_at_most",
]

# Labels of the records that each rate is about.
_CLASSES = {"false_positive": (-1,), "false_negative": (1,), "positive": (-1, 1)}
# Groups of which every two are compared.
MAX_GROUPS = 10
# Beyond this, risks are 0 or 1 whatever the points.
MAX_LOG_ODDS = 1e6


@dataclasses.dataclass(frozen=True)
class _Threshold:
    """From which risk, or which log-odds, on records are predicted positive."""

    value: float
    is_risk: bool

    @property
    def log_odds(self) -> float:
        """The threshold as log-odds."""
        if not self.is_risk:
            return self.value
        return math.log(self.value) - math.log1p(-self.value)

    def level(self, scale: float) -> ScoreLevel:
        """The threshold as a score.

        Integer scores are put to the same test as those of a risk score, in the same arithmetic: a
        threshold that is the predicted risk of a score, as printed with all its digits, is
        reached by that score.
        """
        exact = scale * self.log_odds
        first = math.ceil(exact)
        while self._is_reached(first - 1, scale):
            first -= 1
        while not self._is_reached(first, scale):
            first += 1
        return ScoreLevel(first, exact)

    def _is_reached(self, score: int, scale: float) -> bool:
        log_odds = RiskScale(0, scale).log_odds(np.array([float(score)]))
        predicted = logistic(log_odds) if self.is_risk else log_odds
        return bool(predicted[0] >= self.value)

    def reached_by(self, link: RiskScale, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say which scores are predicted positive."""
        log_odds = link.log_odds(scores)
        return np.asarray((logistic(log_odds) if self.is_risk else log_odds) >= self.value)

    def describe(self) -> str:
        return f"{'risks' if self.is_risk else 'log-odds'} of at least {self.value:.10g}"

    def __repr__(self) -> str:
        return f"{'threshold' if self.is_risk else 'log_odds'}={self.value!r}"


class _RowGroups:
    """Groups that rows belong to, given by a label for each row."""

    def __init__(self, labels: tuple[Any, ...], codes: NDArray[np.intp]) -> None:
        self.labels = labels
        self.codes = codes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _RowGroups):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.labels, self.codes.tobytes()))

    def __repr__(self) -> str:
        return f"<{len(self.codes)} rows: {listing(map(repr, self.labels))}>"


@dataclasses.dataclass(frozen=True, repr=False)
class RateConstraint(Constraint):
    """The base of constraints on rates."""

    limit: float
    rate: str
    threshold: _Threshold

    @property
    def depends_on_scale(self) -> bool:
        """True if the threshold is another score at another scale."""
        return self.threshold.log_odds != 0.0  # a score of 0 at every scale

    def _check_for(
        self, setting: Setting, groups: list[tuple[str, NDArray[np.bool_]]]
    ) -> RateCheck:
        """The check of one rate, or of two; each among some of the rows."""
        data = self._data(setting)
        weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
        counted = np.isin(data.labels, _CLASSES[self.rate])
        shares = np.array([np.where(rows & counted, weights, 0.0) for _, rows in groups])
        for (label, _), of_group in zip(groups, shares, strict=True):
            if not of_group.any():
                raise ValueError(
                    f"the constraint ({self.label}) is about the {self._records()} {label}, and "
                    "there are none with positive weight"
                )
        records, columns, sums = _merged(setting, data, shares)
        rates = tuple(
            Rate(label, own, self.rate == "false_negative")
            for (label, _), own in zip(groups, sums, strict=True)
        )
        level = self.threshold.level(setting.scale)
        return RateCheck(records, columns, level, rates, self.limit)

    def _data(self, setting: Setting) -> TrainingData:
        if setting.data is None:
            raise ValueError(f"the constraint ({self.label}) needs training data")
        return setting.data

    def _records(self) -> str:
        kinds = {"false_positive": "negative records", "false_negative": "positive records"}
        return kinds.get(self.rate, "records")


@dataclasses.dataclass(frozen=True, repr=False)
class _RateLimit(RateConstraint):
    """Requirement of :func:`false_positive_rate_at_most` and similar ones."""

    name: str | None = None

    def describe(self) -> str:
        return (
            f"{_words(self.rate)} rate at most {self.limit:.10g} with {self.threshold.describe()} "
            "predicted positive"
        )

    def resolve(self, setting: Setting) -> Resolved:
        everybody = np.ones(self._data(setting).n_rows, dtype=bool)
        return Resolved(on_data=(self._check_for(setting, [("of the data", everybody)]),))

    def __repr__(self) -> str:
        return f"{self.rate}_rate_at_most({self.limit!r}, {self.threshold!r}{name_part(self.name)})"


@dataclasses.dataclass(frozen=True, repr=False)
class _RateGap(RateConstraint):
    """Requirement of :func:`rate_gap_at_most`."""

    groups: str | _RowGroups
    name: str | None = None

    def describe(self) -> str:
        of = repr(self.groups) if isinstance(self.groups, str) else self._named_groups()
        return (
            f"{_words(self.rate)} rates of {of} differ by at most {self.limit:.10g} with "
            f"{self.threshold.describe()} predicted positive"
        )

    def _named_groups(self) -> str:
        assert isinstance(self.groups, _RowGroups)
        return f"the groups {listing(map(repr, self.groups.labels))}"

    def resolve(self, setting: Setting) -> Resolved:
        pairs = itertools.combinations(self._rows_of_groups(setting), 2)
        checks = [self._check_for(setting, [*pair]) for pair in pairs]
        return Resolved(on_data=tuple(checks))

    def _rows_of_groups(self, setting: Setting) -> list[tuple[str, NDArray[np.bool_]]]:
        """Name each group, with the rows that belong to it."""
        data = self._data(setting)
        if isinstance(self.groups, _RowGroups):
            labels, codes = self.groups.labels, self.groups.codes
            if len(codes) != data.n_rows:
                raise ValueError(
                    f"the constraint ({self.label}) has groups of {len(codes)} rows, the data "
                    f"have {data.n_rows}: give one label per row, or the name of a feature"
                )
            # Labels that only rows of weight 0 have do not count.
            known = np.unique(codes[data.counted])
            return [(f"of {labels[k]!r}", codes == k) for k in known.tolist()]
        if self.groups not in setting.feature_names:
            raise ValueError(
                f"the constraint ({self.label}) names a feature that does not exist: "
                f"{self.groups!r}{near(self.groups, setting.feature_names)}"
            )
        column = data.column(setting.feature_names.index(self.groups))
        values = np.unique(column[data.counted])
        if not np.array_equal(values, [0, 1]):
            raise ValueError(
                f"the constraint ({self.label}) needs a feature of zeros and ones, and "
                f"{self.groups!r} has {len(values)} values from {values[0]:.10g} to "
                f"{values[-1]:.10g}: give groups as one label per row"
            )
        return [(f"with {self.groups!r} = {value:d}", column == value) for value in (0, 1)]

    def __repr__(self) -> str:
        return (
            f"rate_gap_at_most({self.limit!r}, {self.rate!r}, groups={self.groups!r}, "
            f"{self.threshold!r}{name_part(self.name)})"
        )


def false_positive_rate_at_most(
    rate: float,
    threshold: float | None = None,
    *,
    log_odds: float | None = None,
    name: str | None = None,
) -> Constraint:
    r"""At most a share of the negative training records is predicted positive.

    Parameters
    ----------
    rate : float
        Between 0 and 1, compared to within 1e-9.
    threshold : float
        A record is predicted positive if its predicted risk is at least this, between 0 and 1, both
        excluded. There is no default: it follows from the harm of a miss against that of a false
        alarm, see the notes.
    log_odds : float
        The same as log-odds, in its place: of a score with the scale 1, points with the intercept.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        Something else than numbers, or out of range; both thresholds, or none; a name that is no
        str.

    Notes
    -----
    Of risks that are true it is best to act from :math:`a / (a + b)` on, where a false alarm does
    the harm a and a miss the harm b: from 1/10 on where a miss is 9 times as bad. With a
    threshold far above the prevalence, such as 0.5 for a rare outcome, only risks that are all too
    high leave few misses; with one far below it, everybody is predicted positive. What
    :meth:`RiskScoreProblem.remarks` says names both.

    Records count by their weights. Integer scores are compared with the threshold as
    ``score.predict_proba(X)[:, 1] >= threshold`` would do, or
    ``score.log_odds(X) >= log_odds``, ties included. Where a record has values other than
    integers, a score reaches the threshold if it falls short of it by no more than a millionth of
    the largest value, at least of 1. ``score.predict`` calls a risk of exactly 0.5 negative: with
    integer scores of scale 1 its rates are those of ``log_odds=1``.

    Examples
    --------
    >>> from riskslim import false_positive_rate_at_most
    >>> false_positive_rate_at_most(0.1, 0.3)
    false_positive_rate_at_most(0.1, threshold=0.3)
    >>> print(false_positive_rate_at_most(0.1, log_odds=-2).describe())
    false positive rate at most 0.1 with log-odds of at least -2 predicted positive
    """
    return _RateLimit(
        _checked_share(rate, "rate"), "false_positive", _checked_threshold(threshold, log_odds),
        checked_name(name),
    )  # fmt: skip


def false_negative_rate_at_most(
    rate: float,
    threshold: float | None = None,
    *,
    log_odds: float | None = None,
    name: str | None = None,
) -> Constraint:
    r"""At most a share of the positive training records is predicted negative.

    Parameters
    ----------
    rate : float
        Between 0 and 1: 1 minus the sensitivity that is asked for.
    threshold, log_odds : float
        One of them, as in :func:`false_positive_rate_at_most`.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        As :func:`false_positive_rate_at_most`.

    Examples
    --------
    >>> from riskslim import false_negative_rate_at_most
    >>> print(false_negative_rate_at_most(0.05, 0.2).describe())
    false negative rate at most 0.05 with risks of at least 0.2 predicted positive
    """
    return _RateLimit(
        _checked_share(rate, "rate"), "false_negative", _checked_threshold(threshold, log_odds),
        checked_name(name),
    )  # fmt: skip


def rate_gap_at_most(
    gap: float,
    rate: str = "false_positive",
    *,
    groups: str | ArrayLike,
    threshold: float | None = None,
    log_odds: float | None = None,
    name: str | None = None,
) -> Constraint:
    r"""Rates of two groups of training records differ by at most a number.

    Parameters
    ----------
    gap : float
        Between 0 and 1; 0 for equal rates.
    rate : {"false_positive", "false_negative", "positive"}
        Share of the negative records that are predicted positive, of the positive records that
        are predicted negative, or of all records that are predicted positive.
    groups : str or array-like of shape (n,)
        A feature of zeros and ones in the training data, which the score need not be allowed to
        use; or a label for each row, kept outside of the features. Of more than two labels every
        two are compared.
    threshold, log_odds : float
        One of them, as in :func:`false_positive_rate_at_most`.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        As :func:`false_positive_rate_at_most`; another rate; labels that are missing, all equal, or
        of more than 10 kinds.

    Examples
    --------
    >>> from riskslim import rate_gap_at_most
    >>> rate_gap_at_most(0.05, "false_negative", groups=["f", "m", "m", "f"], threshold=0.2)
    rate_gap_at_most(0.05, 'false_negative', groups=<4 rows: 'f', 'm'>, threshold=0.2)
    >>> print(rate_gap_at_most(0, "positive", groups="male", threshold=0.5).describe())
    positive rates of 'male' differ by at most 0 with risks of at least 0.5 predicted positive
    """
    if not isinstance(rate, str) or rate not in _CLASSES:
        raise ValueError(f"rate must be one of {', '.join(map(repr, _CLASSES))}, got {rate!r}")
    return _RateGap(
        _checked_share(gap, "gap"), rate, _checked_threshold(threshold, log_odds),
        groups if isinstance(groups, str) else _encoded(groups), checked_name(name),
    )  # fmt: skip


def _merged(
    setting: Setting, data: TrainingData, shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Distinct records of the features that can be used, where they lie, and sums of shares."""
    usable = np.ones(data.n_features, dtype=bool)
    if setting.lower is not None and setting.upper is not None:
        usable = (setting.lower != 0) | (setting.upper != 0)
    features = np.flatnonzero(usable)
    rows = np.flatnonzero(shares.any(axis=0))
    # One byte per value sorts faster than eight.
    kind = np.int8 if data.is_integer[features].all() else np.float64
    values = np.zeros((len(rows), len(features)), dtype=kind)
    for k, j in enumerate(features.tolist()):
        values[:, k] = data.column(j)[rows]
    records, place = np.unique(values, axis=0, return_inverse=True)
    sums = np.array([np.bincount(place.ravel(), own[rows], len(records)) for own in shares])
    return records.astype(np.float64), 1 + features, sums


def _encoded(groups: Any) -> _RowGroups:
    """Labels of rows as numbers of groups."""
    values = values_of(groups, "groups")
    listed = values.tolist()
    missing = missing_among(listed)
    if missing.any():
        raise ValueError(
            f"groups has no label in {missing.sum()} of {len(listed)} rows, first at row "
            f"{missing.argmax()} (rows counted from 0)"
        )
    distinct = list(dict.fromkeys(listed))
    if len(distinct) < 2:
        raise ValueError(f"groups needs two labels at least, got {listing(map(repr, distinct))}")
    if len(distinct) > MAX_GROUPS:
        raise ValueError(
            f"groups has {len(distinct)} labels, at most {MAX_GROUPS} are compared: merge some"
        )
    labels = sorted(distinct, key=lambda label: (type(label).__name__, label))
    number = {label: k for k, label in enumerate(labels)}
    codes = np.array([number[label] for label in listed], dtype=np.intp)
    codes.setflags(write=False)
    return _RowGroups(tuple(labels), codes)


def _checked_share(value: Any, what: str) -> float:
    share = checked_number(value, what)
    if not 0 <= share <= 1:
        raise ValueError(f"{what} must be between 0 and 1, got {value!r}")
    return share


def _checked_threshold(threshold: Any, log_odds: Any) -> _Threshold:
    if log_odds is None:
        if threshold is None:
            raise TypeError(
                "a constraint on rates needs the threshold (a risk, or log_odds) from which on "
                "records are predicted positive. It has no default: if a false alarm does the harm "
                "a and a miss the harm b, it is a / (a + b), such as 0.1 where a miss is 9 times "
                "as bad"
            )
        risk = checked_number(threshold, "threshold")
        if not 0 < risk < 1:
            raise ValueError(
                f"threshold must be a risk between 0 and 1, both excluded, got {threshold!r}; "
                "log-odds are given by log_odds"
            )
        return _Threshold(risk, is_risk=True)
    if threshold is not None:
        raise ValueError("give threshold or log_odds, not both")
    value = checked_number(log_odds, "log_odds")
    if not abs(value) <= MAX_LOG_ODDS:
        raise ValueError(f"log_odds must be between +-{MAX_LOG_ODDS:g}, got {log_odds!r}")
    return _Threshold(value, is_risk=False)


def _words(rate: str) -> str:
    return rate.replace("_", " ")
