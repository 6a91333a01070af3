"""Constraints of every kind: requirements that are stated by names, and resolved later.

People state constraints before there is a problem. A problem knows the features, the records and
the scale, the :class:`Setting`; against it each constraint resolves to linear rows, to sets of
allowed points, or to checks on the records (:class:`Resolved`), which is all that the rest of the
package has to understand.
"""

from __future__ import annotations

import abc
import dataclasses
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing, near
from riskslim.items.item import Item, unknown_feature, variable_of

if TYPE_CHECKING:
    from riskslim.constraints.linear import LinearConstraint
    from riskslim.constraints.rate_checks import RateCheck
    from riskslim.constraints.share_checks import ShareOfRows
    from riskslim.data.training_data import TrainingData

__all__ = [
    "INTERCEPT",
    "ByRows",
    "Constraint",
    "Feature",
    "Features",
    "Intervals",
    "Resolved",
    "Setting",
    "Variable",
    "checked_feature",
    "checked_features",
    "checked_name",
    "features_of",
    "name_part",
    "quoted",
    "variable",
]

INTERCEPT = "(intercept)"

# Disjoint intervals of integers in ascending order; ends may be infinite.
Intervals: TypeAlias = "tuple[tuple[float, float], ...]"


@dataclasses.dataclass(frozen=True, repr=False)
class Variable:
    """All features that come from one variable; see :func:`~riskslim.variable`.

    Parameters
    ----------
    name : str
        The variable.

    Examples
    --------
    >>> from riskslim import variable
    >>> variable("age").among(["age >= 40", "age >= 60", "sex = female"])
    ('age >= 40', 'age >= 60')
    """

    name: str

    def among(
        self, feature_names: Iterable[str], items: Mapping[str, Item] = MappingProxyType({})
    ) -> tuple[str, ...]:
        """Features of the variable.

        Parameters
        ----------
        feature_names : iterable of str
        items : mapping from str to Item, optional
            What is stated of features. The variable of others is read from their names.

        Returns
        -------
        tuple of str
            In the order given; empty if there is none.
        """
        return tuple(name for name in feature_names if variable_of(name, items) == self.name)

    def __repr__(self) -> str:
        return f"variable({self.name!r})"


# How one feature, or several of them, are named.
Feature: TypeAlias = "str | Variable"
Features: TypeAlias = "Feature | Iterable[Feature]"


def variable(name: str) -> Variable:
    """Stand for all features that come from a variable, wherever features are named.

    Parameters
    ----------
    name : str
        Of features of which nothing is stated, what stands before the operator in their names: the
        variable of ``"age >= 60"``, ``"age is missing"`` and of ``"age"`` itself is ``"age"``.

    Returns
    -------
    Variable

    Raises
    ------
    TypeError
        The name is not a str.

    Examples
    --------
    >>> from riskslim import at_most, variable
    >>> print(at_most(2, variable("age")).describe())
    at most 2 of the features of 'age' are used
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable must be a str, got {name!r}")
    return Variable(name)


class Constraint(abc.ABC):
    """A requirement on risk scores, stated by names.

    Objects are immutable and are equal if they demand the same by the same name.
    """

    __slots__ = ()

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """Name by which messages call the constraint; None: by :meth:`describe`."""

    @abc.abstractmethod
    def describe(self) -> str:
        """Say what the constraint demands.

        Returns
        -------
        str
            Without a full stop.
        """

    @abc.abstractmethod
    def resolve(self, setting: Setting) -> Resolved:
        """Say what the constraint means for the features, records and scale of a problem.

        Parameters
        ----------
        setting : Setting

        Returns
        -------
        Resolved

        Raises
        ------
        ValueError
            Features that do not exist, or what else cannot be meant in this setting.
        """

    def on(self, setting: Setting) -> tuple[Constraint, ...]:
        """Say which constraints it is on some rows: itself, unless these decide.

        Parameters
        ----------
        setting : Setting

        Returns
        -------
        tuple of Constraint

        Raises
        ------
        ValueError
            As in :meth:`resolve`.
        """
        return (self,)

    @property
    def depends_on_scale(self) -> bool:
        """True if another scale makes it another requirement."""
        return False

    @property
    def label(self) -> str:
        """The name, or else the description."""
        return self.name or self.describe()


class ByRows(Constraint):
    """A constraint that names no features: on some rows it is several others.

    A problem has those in its place, and states them anew for other rows, such as those of a fold.
    """

    __slots__ = ()

    def resolve(self, setting: Setting) -> Resolved:
        """As :meth:`Constraint.resolve`, of all that it is on these rows."""
        parts = [one.resolve(setting) for one in self.on(setting)]
        return Resolved(
            tuple(row for part in parts for row in part.rows),
            tuple(pair for part in parts for pair in part.points),
            tuple(check for part in parts for check in part.on_data),
            tuple(share for part in parts for share in part.shares),
        )


class Resolved(NamedTuple):
    """A constraint as the rest of the package knows it; all of it has to be met.

    Parameters
    ----------
    rows : tuple of LinearConstraint
        In which no variables are left, features alone.
    points : tuple of (feature name, Intervals)
        Points that features may have.
    on_data : tuple of RateCheck
        Bounds on weighted counts of predictions for the records, which are no linear rows.
    shares : tuple of ShareOfRows
        Shares at a threshold on the score, the same one for those of all constraints.
    """

    rows: tuple[LinearConstraint, ...] = ()
    points: tuple[tuple[str, Intervals], ...] = ()
    on_data: tuple[RateCheck, ...] = ()
    shares: tuple[ShareOfRows, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """The features, data and scale that constraints are resolved against.

    Parameters
    ----------
    feature_names : tuple of str, length d
    lower, upper : ndarray of int64, shape (d,), optional
        Bounds of the points; without them they are not known.
    data : TrainingData, optional
    scale : float, default 1.0
        Scale of the score.
    trends : callable, optional
        Computes the covariance of each feature with the outcome, shape (d,).
    """

    feature_names: tuple[str, ...]
    lower: NDArray[np.int64] | None = None
    upper: NDArray[np.int64] | None = None
    data: TrainingData | None = None
    scale: float = 1.0
    trends: Callable[[], NDArray[np.float64]] | None = None

    def features(self, named: Iterable[Feature], label: str) -> tuple[str, ...]:
        """Names of features, those of variables among them.

        Parameters
        ----------
        named : iterable of str or Variable
        label : str
            The constraint, for messages.

        Returns
        -------
        tuple of str

        Raises
        ------
        ValueError
            A feature or a variable does not exist, or a feature is named twice.
        """
        found: list[str] = []
        for one in named:
            found.extend((one,) if isinstance(one, str) else self._of_variable(one, label))
        self.check_known(found, label)
        if len(set(found)) < len(found):
            twice = next(name for i, name in enumerate(found) if name in found[:i])
            raise ValueError(
                f"the constraint ({label}) names the feature {twice!r} twice, once by a variable"
            )
        return tuple(found)

    def check_known(self, names: Sequence[str], label: str) -> None:
        """Refuse names of features that do not exist.

        Parameters
        ----------
        names : sequence of str
        label : str

        Raises
        ------
        ValueError
        """
        known = {INTERCEPT, *self.feature_names}
        unknown = [name for name in names if name not in known]
        if unknown:
            named = [*self.feature_names, INTERCEPT]
            wanted = listing(unknown_feature(name, named) for name in dict.fromkeys(unknown))
            raise ValueError(f"the constraint ({label}) names features that do not exist: {wanted}")

    @property
    def items(self) -> Mapping[str, Item]:
        """Statements on features."""
        return {} if self.data is None else self.data.items

    def variable_of(self, name: str) -> str:
        """The variable of a feature: as stated, or else as its name says."""
        return variable_of(name, self.items)

    def of_variable(self, one: Variable) -> tuple[str, ...]:
        """Features of a variable, in their order; empty if there is none."""
        return one.among(self.feature_names, self.items)

    def _of_variable(self, one: Variable, label: str) -> tuple[str, ...]:
        found = self.of_variable(one)
        if not found:
            variables = dict.fromkeys(map(self.variable_of, self.feature_names))
            raise ValueError(
                f"the constraint ({label}) names the variable {one.name!r}, of which there is no "
                f"feature{near(one.name, variables)}"
            )
        return found


def checked_features(features: Any, counted_by: str = "") -> tuple[Feature, ...]:
    """Check what a user gives for the names of several features.

    Parameters
    ----------
    features : Variable, or iterable of str and Variable
    counted_by : str, optional
        The function that is called with a number and the features.

    Returns
    -------
    tuple of str or Variable

    Raises
    ------
    TypeError, ValueError
        Something else, nothing, or one of them twice.
    """
    if not isinstance(features, (Variable, Iterable)):
        order = f"; the number comes first: {counted_by}(n, features)" if counted_by else ""
        raise TypeError(
            f"expected names of features, got {features!r}"
            + (order if isinstance(features, numbers.Number) else "")
        )
    if isinstance(features, str):
        raise TypeError(f"expected several names of features, got one str, {features!r}")
    given = (features,) if isinstance(features, Variable) else features
    names = tuple(one if isinstance(one, Variable) else checked_feature(one) for one in given)
    if not names:
        raise ValueError("no features are named")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"feature {name!r} is named twice")
    return names


def checked_feature(name: Any) -> str:
    """Check what a user gives for the name of a feature.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        Names out of arrays as other names: messages show them.

    Raises
    ------
    TypeError
        Something else.
    """
    if not isinstance(name, str):
        raise TypeError(f"feature names must be str, got {name!r}")
    return str(name)


def checked_name(name: str | None) -> str | None:
    """Check the name of a constraint.

    Parameters
    ----------
    name : str or None

    Returns
    -------
    str or None

    Raises
    ------
    TypeError
        It is neither.
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str, got {name!r}")
    return name


def quoted(feature: Feature) -> str:
    """Write a feature, or the features of a variable, as descriptions do.

    Parameters
    ----------
    feature : str or Variable

    Returns
    -------
    str
    """
    return repr(feature) if isinstance(feature, str) else f"the features of {feature.name!r}"


def features_of(features: Features) -> tuple[Feature, ...]:
    """Check what a user gives for one feature or several.

    Parameters
    ----------
    features : str, Variable, or iterable of them

    Returns
    -------
    tuple of str or Variable

    Raises
    ------
    TypeError, ValueError
        As :func:`checked_features`.
    """
    return checked_features((features,) if isinstance(features, str) else features)


def name_part(name: str | None) -> str:
    """The name of a constraint as the last argument of a call.

    Parameters
    ----------
    name : str or None

    Returns
    -------
    str
    """
    return "" if name is None else f", name={name!r}"
