r"""Side information: bounds on the risk of some records.

A risk of at least p means a score of at least :math:`m \log(p / (1 - p))` at the scale m: a linear
row on intercept and points for every record that is meant.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_float, as_number
from riskslim._wording import listing
from riskslim.constraints.base import (
    INTERCEPT,
    Constraint,
    Resolved,
    Setting,
    checked_feature,
    checked_name,
    name_part,
)
from riskslim.constraints.linear import MAX_TERM, LinearConstraint, number_text
from riskslim.data.tables import is_row

__all__ = ["MAX_RECORDS", "risk_at_least", "risk_at_most"]

# Rows that one constraint may become; each of them is looked at by every propagation.
MAX_RECORDS = 2000
# Different records among which those are searched that imply the others.
MAX_DISTINCT = 20_000
# Error of a risk's log-odds that is allowed for: a risk written as 0.8807970779778823 means 2.
LOG_ODDS_TOLERANCE = 1e-9

_OPERATORS: dict[str, Callable[[Any, float], Any]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class _Condition(NamedTuple):
    """A condition on a record's value of a feature."""

    feature: str
    operator: str
    value: float

    def describe(self) -> str:
        return f"{self.feature!r} {self.operator} {self.value:.10g}"

    def __repr__(self) -> str:
        value = number_text(self.value)
        stated = value if self.operator == "=" else f"({self.operator!r}, {value})"
        return f"{self.feature!r}: {stated}"


@dataclasses.dataclass(frozen=True, repr=False)
class _RiskBound(Constraint):
    """Requirement of :func:`risk_at_least` and :func:`risk_at_most`."""

    is_lower: bool
    p: float
    conditions: tuple[_Condition, ...]
    is_profile: bool
    name: str | None = None

    @property
    def depends_on_scale(self) -> bool:
        return self.p != 0.5  # a score of 0 at every scale

    def describe(self) -> str:
        words = " and ".join(condition.describe() for condition in self.conditions)
        where = f"where {words}"
        if self.is_profile:
            where = f"of a record with {words or 'zeros'}"
        return f"risk at {'least' if self.is_lower else 'most'} {self.p:.10g} {where}"

    def resolve(self, setting: Setting) -> Resolved:
        setting.check_known([condition.feature for condition in self.conditions], self.label)
        if INTERCEPT in setting.feature_names:
            raise ValueError(
                f"the constraint ({self.label}) needs the intercept, and a feature is named "
                f"{INTERCEPT!r}: rename the feature"
            )
        log_odds = math.log(self.p) - math.log1p(-self.p)
        bound, room = setting.scale * log_odds, LOG_ODDS_TOLERANCE * max(1.0, abs(log_odds))
        usable = _usable(setting)
        records = self._profile(setting) if self.is_profile else self._matching(setting, usable)
        names = [setting.feature_names[j] for j in usable]
        self._check_values(records[:, usable], names)
        room *= setting.scale
        low, high = (bound - room, math.inf) if self.is_lower else (-math.inf, bound + room)
        rows = [
            LinearConstraint(
                points={INTERCEPT: 1.0, **dict(zip(names, record.tolist(), strict=True))},
                lower=low,
                upper=high,
            )
            for record in records[:, usable]
        ]
        return Resolved(rows=tuple(rows))

    def _check_values(self, records: NDArray[np.float64], names: list[str]) -> None:
        """Refuse records whose values are too large for coefficients of a row."""
        largest = np.abs(records).max(axis=0, initial=0.0)
        if not np.any(largest > MAX_TERM):
            return
        j = int(largest.argmax())
        value = records[np.abs(records[:, j]).argmax(), j]
        raise ValueError(
            f"the constraint ({self.label}) is about a record with {names[j]!r} = {value:.10g}; "
            f"at most {MAX_TERM:g} in absolute value is allowed: rescale the feature"
        )

    def _profile(self, setting: Setting) -> NDArray[np.float64]:
        """The record that is described, shape (1, d)."""
        values = {condition.feature: condition.value for condition in self.conditions}
        return np.array([[values.get(name, 0.0) for name in setting.feature_names]])

    def _matching(self, setting: Setting, usable: NDArray[np.intp]) -> NDArray[np.float64]:
        """Records that satisfy the conditions, without those that others imply, shape (n, d)."""
        data = setting.data
        if data is None:
            raise ValueError(f"the constraint ({self.label}) needs training data")
        met = np.ones(data.n_rows, dtype=bool)
        for feature, comparison, value in self.conditions:
            column = data.column(setting.feature_names.index(feature))
            met &= _OPERATORS[comparison](column, value)
        if not met.any():
            raise ValueError(
                f"no training record satisfies the conditions of the constraint ({self.label}); "
                "describe a record by profile={...}"
            )
        records = np.zeros((int(np.count_nonzero(met)), data.n_features))
        for j in usable.tolist():
            records[:, j] = data.column(j)[met]
        distinct = np.unique(records, axis=0)
        if len(distinct) <= MAX_DISTINCT:
            distinct = self._binding(distinct, setting, usable)
        if len(distinct) > MAX_RECORDS:
            raise ValueError(
                f"the constraint ({self.label}) is about {len(distinct)} different records, more "
                f"than the {MAX_RECORDS} that are allowed: state narrower conditions, or describe "
                "a record by profile={...}"
            )
        return distinct

    def _binding(
        self, records: NDArray[np.float64], setting: Setting, usable: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Leave out records whose score is never on the wrong side of another one's.

        That is so where they differ only in features whose points have one sign, each of them in
        the direction of the bound.
        """
        assert setting.lower is not None
        assert setting.upper is not None
        signs = np.where(setting.lower >= 0, 1.0, np.where(setting.upper <= 0, -1.0, 0.0))[usable]
        if not signs.any():
            return records
        direction = 1.0 if self.is_lower else -1.0
        values = records[:, usable] * np.where(signs == 0, 1.0, direction * signs)
        signed, free = values[:, signs != 0], values[:, signs == 0]
        # Whatever implies a record comes before it.
        order = np.argsort(signed.sum(axis=1), kind="stable")
        kept: list[int] = []
        for i in order.tolist():
            implied = (free[kept] == free[i]).all(axis=1) & (signed[kept] <= signed[i]).all(axis=1)
            if not implied.any():
                kept.append(i)
        return records[kept]

    def __repr__(self) -> str:
        stated = f"{{{', '.join(map(repr, self.conditions))}}}"
        kind = "profile" if self.is_profile else "where"
        call = "risk_at_least" if self.is_lower else "risk_at_most"
        return f"{call}({self.p!r}, {kind}={stated}{name_part(self.name)})"


def risk_at_least(
    p: float,
    where: Any = None,
    *,
    profile: Any = None,
    name: str | None = None,
) -> Constraint:
    r"""The risk of some records is at least p.

    Parameters
    ----------
    p : float
        Between 0 and 1, both excluded.
    where : mapping or pandas series from features to conditions, optional
        Every training record that satisfies all conditions is meant, whatever its weight. A
        condition is the value that the feature has, or a pair such as ``("<=", 3)`` with one of
        the operators ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
    profile : mapping or pandas series from features to float, optional
        In the place of ``where``: one record is meant that need not be among the training records.
        Features that are not named are 0.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        p out of range; neither or both of ``where`` and ``profile``; no condition; conditions
        that are no numbers or pairs.

    Notes
    -----
    This is the side information of Ustun & Rudin (2019), Section 2. With the scale m it says that
    :math:`\lambda_0 + \sum_j x_j \lambda_j \ge m \log(p / (1 - p))` for each record x. Equal
    records are stated once, and those that others imply are left out; a problem refuses constraints
    on more than 2000 records, and ``where`` that no record satisfies. Log-odds are allowed an
    error of 1e-9.

    Examples
    --------
    >>> from riskslim import risk_at_least
    >>> print(risk_at_least(0.9, where={"male": 1, "age": (">=", 60)}).describe())
    risk at least 0.9 where 'male' = 1 and 'age' >= 60
    >>> risk_at_least(0.9, profile={"male": 1, "age": 60})
    risk_at_least(0.9, profile={'male': 1, 'age': 60})
    """
    return _risk_bound(True, p, where, profile, name)


def risk_at_most(
    p: float,
    where: Any = None,
    *,
    profile: Any = None,
    name: str | None = None,
) -> Constraint:
    r"""The risk of some records is at most p.

    Parameters
    ----------
    p, where, profile, name
        As for :func:`risk_at_least`.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        As :func:`risk_at_least`.

    Examples
    --------
    >>> from riskslim import risk_at_most
    >>> print(risk_at_most(0.05, profile={}).describe())
    risk at most 0.05 of a record with zeros
    """
    return _risk_bound(False, p, where, profile, name)


def _risk_bound(
    is_lower: bool,
    p: Any,
    where: Any,
    profile: Any,
    name: str | None,
) -> _RiskBound:
    if not 0 < as_number(p, "the risk") < 1:
        raise ValueError(f"the risk must be between 0 and 1, both excluded, got {p!r}")
    if (where is None) == (profile is None):
        raise ValueError("give conditions (where) or a record (profile), and not both")
    stated: Any = profile if where is None else where
    if is_row(stated):
        stated = stated.to_dict()
    if not isinstance(stated, Mapping):
        raise TypeError(
            "where and profile must map features to values, such as {'male': 1}, or be a row of a "
            f"pandas data frame, got {type(stated).__name__}"
        )
    if where is not None and not stated:
        raise ValueError("no conditions are given in where")
    conditions = tuple(
        _condition(feature, value, pairs=profile is None) for feature, value in stated.items()
    )
    return _RiskBound(is_lower, float(p), conditions, profile is not None, checked_name(name))


def _condition(feature: Any, value: Any, *, pairs: bool) -> _Condition:
    feature, comparison = checked_feature(feature), "="
    if feature == INTERCEPT:
        raise ValueError(f"conditions are about features of records, got {INTERCEPT!r}")
    if pairs and isinstance(value, tuple) and len(value) == 2:
        comparison, value = value
        if comparison not in _OPERATORS:
            raise ValueError(
                f"the operator for {feature!r} must be one of {listing(_OPERATORS)}, got "
                f"{comparison!r}"
            )
        comparison = "=" if comparison == "==" else comparison
    if not isinstance(value, (numbers.Real, np.bool_)):
        expected = "a number, or a pair such as ('<=', 3)" if pairs else "a number"
        raise TypeError(f"the value of {feature!r} must be {expected}, got {value!r}")
    number = as_float(value)
    if not math.isfinite(number):
        raise ValueError(f"the value of {feature!r} must be finite, got {value!r}")
    return _Condition(feature, comparison, number)


def _usable(setting: Setting) -> NDArray[np.intp]:
    """Features that can have points."""
    if setting.lower is None or setting.upper is None:
        return np.arange(len(setting.feature_names))
    return np.flatnonzero((setting.lower != 0) | (setting.upper != 0))
