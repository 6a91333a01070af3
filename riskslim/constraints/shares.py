r"""Constraints on sensitivity and specificity at a threshold that the score is free to have.

Other constraints on rates are about a stated risk (:mod:`riskslim.constraints.rates`). These hold
at some score from which on rows are called positive, the same one for all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import checked_number
from riskslim._wording import near
from riskslim.constraints.base import Constraint, Resolved, Setting, checked_name, name_part
from riskslim.constraints.share_checks import ShareOfRows
from riskslim.operating_point import RequiredShare

if TYPE_CHECKING:
    from riskslim.data.store import KernelRows
    from riskslim.data.training_data import TrainingData

__all__ = ["OperatingPointConstraint", "operating_point_at_least"]

_LABELS = {"sensitivity": 1, "specificity": -1}
_WHOSE = {"sensitivity": "positive", "specificity": "negative"}


class _Mask:
    """Rows that are chosen by True."""

    def __init__(self, chosen: NDArray[np.bool_]) -> None:
        self.chosen = chosen

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Mask):
            return NotImplemented
        return np.array_equal(self.chosen, other.chosen)

    def __hash__(self) -> int:
        return hash(self.chosen.tobytes())

    def __repr__(self) -> str:
        return f"<{np.count_nonzero(self.chosen)} of {len(self.chosen)} rows>"


@dataclasses.dataclass(frozen=True)
class _Where:
    """Rows in which features have given values."""

    values: tuple[tuple[str, float], ...]

    def describe(self) -> str:
        return " and ".join(f"{name!r} = {value:.10g}" for name, value in self.values)

    def __repr__(self) -> str:
        if len(self.values) == 1 and self.values[0][1] == 1.0:
            return repr(self.values[0][0])
        listed = ", ".join(f"{name!r}: {value:.10g}" for name, value in self.values)
        return f"{{{listed}}}"


@dataclasses.dataclass(frozen=True, repr=False)
class OperatingPointConstraint(Constraint):
    """Requirement of :func:`operating_point_at_least`."""

    required: tuple[RequiredShare, ...]
    rows: _Mask | _Where | None = None
    name: str | None = None

    def describe(self) -> str:
        """Say what is asked; see :meth:`~riskslim.constraints.base.Constraint.describe`."""
        wanted = " and ".join(f"{one.name} at least {one.share:.10g}" for one in self.required)
        return f"{wanted} at some threshold of the score{self._among()}"

    def _among(self) -> str:
        if self.rows is None:
            return ""
        if isinstance(self.rows, _Where):
            return f", among the rows with {self.rows.describe()}"
        chosen = self.rows.chosen
        return f", among {np.count_nonzero(chosen)} of {len(chosen)} rows"

    def resolve(self, setting: Setting) -> Resolved:
        """Count the rows; see :meth:`~riskslim.constraints.base.Constraint.resolve`."""
        if setting.data is None:
            raise ValueError(f"the constraint ({self.label}) needs training data")
        columns = _usable(setting)
        where = self._where(setting)
        shares = []
        for required in self.required:
            label = _LABELS[required.name]
            found = self._merged(setting.data, columns - 1, label, where)
            if found is None:
                raise ValueError(
                    f"the constraint ({self.label}) is about {_WHOSE[required.name]} rows, and "
                    "there are none with positive weight among those that it names"
                )
            shares.append(ShareOfRows(required, found[0], columns, found[1], self.rows is None))
        return Resolved(shares=tuple(shares))

    def _where(self, setting: Setting) -> list[tuple[int, float]]:
        """Features that choose rows, with their values."""
        if not isinstance(self.rows, _Where):
            return []
        names = setting.feature_names
        for name, _ in self.rows.values:
            if name not in names:
                raise ValueError(
                    f"the constraint ({self.label}) names a feature that does not exist: "
                    f"{name!r}{near(name, names)}"
                )
        return [(names.index(name), value) for name, value in self.rows.values]

    def _merged(
        self, data: TrainingData, features: NDArray[np.intp], label: int,
        where: list[tuple[int, float]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:  # fmt: skip
        """Distinct records of the rows in question, and their weights."""
        if isinstance(self.rows, _Mask):
            block = data.rows.block_for("a constraint on rows that are chosen one by one")
            if len(self.rows.chosen) != block.n_rows:
                raise ValueError(
                    f"the constraint ({self.label}) chooses among {len(self.rows.chosen)} rows, "
                    f"the data have {block.n_rows}: give one True or False per row, or the name "
                    "of a feature"
                )
            parts = [_records(block, features, label, where, self.rows.chosen)]
        else:
            parts = list(data.rows.map(_records, features, label, where))
        records = np.concatenate([part[0] for part in parts])
        weights = np.concatenate([part[1] for part in parts])
        if not len(weights):
            return None
        return _distinct(records, weights) if len(parts) > 1 else (records, weights)

    def __repr__(self) -> str:
        wanted = ", ".join(f"{one.name}={one.share!r}" for one in self.required)
        rows = "" if self.rows is None else f", rows={self.rows!r}"
        return f"operating_point_at_least({wanted}{rows}{name_part(self.name)})"


def operating_point_at_least(
    sensitivity: float | None = None,
    specificity: float | None = None,
    *,
    rows: str | Mapping[str, float] | ArrayLike | None = None,
    name: str | None = None,
) -> Constraint:
    r"""At some threshold the score has a sensitivity, a specificity, or both.

    Parameters
    ----------
    sensitivity : float, optional
        Least share of the positive training rows whose score reaches the threshold, above 0 and at
        most 1; at least one of the two shares is given.
    specificity : float, optional
        Least share of the negative training rows whose score does not.
    rows : str, mapping, or array-like of bool of shape (n,), optional
        A group of rows that the shares are about: those in which a feature is 1, such as
        ``"male"``; in which features have given values, ``{"male": 0}``; or those that are True.
        The score need not be allowed to use the features. Default: all rows.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        No share, or none between 0 and 1; rows of another kind; a name that is no str.

    Notes
    -----
    No risk is named: which threshold it is is up to the score, and whatever the intercept and the
    scale are, scores keep their order and with it all shares. Several such constraints of a problem
    hold at *one* threshold. A sensitivity alone is met by calling all rows positive; it means
    something beside a specificity, in the same constraint or in another one.

    Rows count by their weights. Class weights do not move the shares: they multiply all rows of a
    class alike. A share is met where the weight that is missed is at most its part of the whole,
    to within 1e-9 of the whole. Integer scores are compared exactly; where features have other
    values, scores that differ by less than a millionth of the largest value, at least of 1, are not
    told apart, to the disadvantage of the score.

    The engine is :func:`~riskslim.branch_and_bound`; :func:`~riskslim.lattice_cpa` refuses the
    constraint.

    Examples
    --------
    >>> from riskslim import operating_point_at_least
    >>> operating_point_at_least(sensitivity=0.95, specificity=0.4)
    operating_point_at_least(sensitivity=0.95, specificity=0.4)
    >>> print(operating_point_at_least(0.9, rows="male").describe())
    sensitivity at least 0.9 at some threshold of the score, among the rows with 'male' = 1
    """
    given = {"sensitivity": sensitivity, "specificity": specificity}
    required = tuple(RequiredShare(k, share) for k, share in given.items() if share is not None)
    if not required:
        raise TypeError("operating_point_at_least() needs a sensitivity, a specificity, or both")
    return OperatingPointConstraint(required, _checked_rows(rows), checked_name(name))


def _checked_rows(rows: Any) -> _Mask | _Where | None:
    if rows is None:
        return None
    if isinstance(rows, str):
        return _Where(((rows, 1.0),))
    if isinstance(rows, Mapping):
        found = []
        for name, value in rows.items():
            if not isinstance(name, str):
                raise TypeError(f"rows must map features to numbers, got the feature {name!r}")
            found.append((name, checked_number(value, f"the value of {name!r}")))
        if not found:
            raise ValueError("rows names no feature")
        return _Where(tuple(found))
    chosen = np.asarray(rows)
    if chosen.ndim != 1 or chosen.dtype != np.bool_:
        raise TypeError(
            "rows must be the name of a feature, a mapping such as {'male': 0}, or one True or "
            f"False per row, got {type(rows).__name__} of {chosen.dtype} and shape {chosen.shape}"
        )
    chosen = chosen.copy()
    chosen.setflags(write=False)
    return _Mask(chosen)


def _usable(setting: Setting) -> NDArray[np.intp]:
    """Positions in the vector of the features that can have points."""
    if setting.lower is None or setting.upper is None:
        return np.arange(1, len(setting.feature_names) + 1, dtype=np.intp)
    return 1 + np.flatnonzero((setting.lower != 0) | (setting.upper != 0))


def _records(
    part: KernelRows,
    features: NDArray[np.intp],
    label: int,
    where: list[tuple[int, float]],
    chosen: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distinct records of one class among some rows of a block, and their weights."""
    weights = part.each_weight
    wanted = (part.labels == label) & (weights > 0)
    if chosen is not None:
        wanted &= chosen
    for j, value in where:
        wanted &= part.values_of(j) == value
    rows = np.flatnonzero(wanted)
    # One byte per value sorts faster than eight.
    kind = np.int8 if np.isin(features, part.integer_index).all() else np.float64
    values = np.empty((len(rows), len(features)), dtype=kind)
    for k, j in enumerate(features.tolist()):
        values[:, k] = part.values_of(j)[rows]
    return _distinct(values, weights[rows])


def _distinct(
    values: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not len(weights):
        return values.astype(np.float64), weights.astype(np.float64)
    records, place = np.unique(values, axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), weights, len(records)).astype(np.float64)
    return records.astype(np.float64), sums
