"""Operating points of scores: from which score on rows are positive, and whom that finds.

A required share is met where the weight that is missed is at most its part of the whole,

    missed <= (1 - share) * total + 1e-9 * total,

in searches, bounds and checks alike: "found at least share * total" is another number once weights
are rounded.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from riskslim._checks import checked_number

__all__ = ["DecisionThreshold", "RequiredShare", "RuleCertificate", "Shares"]

# Part of the whole weight by which shares are compared.
TOLERANCE = 1e-9
# Larger floats that are whole numbers are not all exact.
_EXACT = 2**53
_OTHER = {"sensitivity": "specificity", "specificity": "sensitivity"}


@dataclasses.dataclass(frozen=True)
class Shares:
    """Rows of each class that a rule calls right.

    Parameters
    ----------
    true_positives, positives : float
        Weight of the positive rows that are called positive, and of all of them; their number
        where rows have no weights.
    true_negatives, negatives : float
        Weight of the negative rows that are called negative, and of all of them.

    Examples
    --------
    >>> from riskslim.operating_point import Shares
    >>> shares = Shares(193, 203, 6280, 11841)
    >>> round(shares.sensitivity, 4), round(shares.specificity, 4)
    (0.9507, 0.5304)
    """

    true_positives: float
    positives: float
    true_negatives: float
    negatives: float

    @property
    def sensitivity(self) -> float:
        """Share of the positive weight that is called positive."""
        return self.true_positives / self.positives

    @property
    def specificity(self) -> float:
        """Share of the negative weight that is called negative."""
        return self.true_negatives / self.negatives

    def right(self, name: str) -> float:
        """Weight that is called right of the class that a share is about.

        Parameters
        ----------
        name : {"sensitivity", "specificity"}

        Returns
        -------
        float
        """
        return self.true_positives if name == "sensitivity" else self.true_negatives

    def total(self, name: str) -> float:
        """Weight of the class that a share is about.

        Parameters
        ----------
        name : {"sensitivity", "specificity"}

        Returns
        -------
        float
        """
        return self.positives if name == "sensitivity" else self.negatives

    def describe(self) -> str:
        """Say in a sentence whom the rule finds, and whom it leaves out.

        Returns
        -------
        str

        Examples
        --------
        >>> from riskslim.operating_point import Shares
        >>> Shares(193, 203, 6280, 11841).describe()
        'Finds 193 of 203 (95.1%), leaves out 6,280 of 11,841 (53.0%) of the others.'
        """
        found = _count(self.true_positives, self.positives, self.sensitivity)
        left_out = _count(self.true_negatives, self.negatives, self.specificity)
        return f"Finds {found}, leaves out {left_out} of the others."

    def is_close_to(self, other: Shares) -> bool:
        """True if all counts are those of other shares, but for errors of rounding.

        Parameters
        ----------
        other : Shares

        Returns
        -------
        bool
        """
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        most = TOLERANCE * max(self.positives, self.negatives)
        return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=most) for a, b in pairs)

    def faults(self) -> tuple[str, ...]:
        """Name what no shares of rows can be.

        Returns
        -------
        tuple of str
        """
        if not all(map(math.isfinite, dataclasses.astuple(self))):
            return ("a count of the rule is not finite",)
        if not (
            0 <= self.true_positives <= self.positives
            and 0 <= self.true_negatives <= self.negatives
            and min(self.positives, self.negatives) > 0
        ):
            return ("the rule's counts are not between 0 and the whole",)
        return ()


@dataclasses.dataclass(frozen=True)
class RequiredShare:
    """A share that a rule must reach.

    Parameters
    ----------
    name : {"sensitivity", "specificity"}
    share : float
        Above 0, at most 1.

    Raises
    ------
    TypeError, ValueError
        Another name; a share that is none.

    Examples
    --------
    >>> from riskslim.operating_point import RequiredShare, Shares
    >>> required = RequiredShare("sensitivity", 0.95)
    >>> round(required.most_missed(203.0), 6), required.is_met_by(Shares(193, 203, 0, 100))
    (10.15, True)
    """

    name: str
    share: float

    def __post_init__(self) -> None:
        if self.name not in _OTHER:
            raise ValueError(f"name must be 'sensitivity' or 'specificity', got {self.name!r}")
        share = checked_number(self.share, self.name)
        if not 0 < share <= 1:
            raise ValueError(
                f"{self.name} must be above 0 and at most 1, as 0.95 for 95%, got {self.share!r}"
            )
        object.__setattr__(self, "share", share)

    def __str__(self) -> str:
        verb = "finds" if self.name == "sensitivity" else "leaves out"
        whose = "positive" if self.name == "sensitivity" else "negative"
        return f"{verb} at least {100 * self.share:.10g}% of the {whose} rows"

    @property
    def other(self) -> str:
        """The share that is to be as large as possible."""
        return _OTHER[self.name]

    def most_missed(self, total: float) -> float:
        """Most weight of its class that may be called wrong.

        Parameters
        ----------
        total : float
            Weight of the class.

        Returns
        -------
        float
        """
        return (1.0 - self.share) * total + TOLERANCE * total

    def is_met_by(self, shares: Shares) -> bool:
        """True if a rule reaches the share.

        Parameters
        ----------
        shares : Shares

        Returns
        -------
        bool
        """
        total = shares.total(self.name)
        return total - shares.right(self.name) <= self.most_missed(total)


@dataclasses.dataclass(frozen=True)
class RuleCertificate:
    """A proof about a rule: among all that reach a share none has more of the other.

    Parameters
    ----------
    required : RequiredShare
    threshold : float
        Rows with at least so many points, the intercept not among them, are called positive.
    shares : Shares
        On the training rows, recomputed from the coefficients alone.
    bound : float
        No score within the requirements that reaches the required share, at whatever threshold,
        calls more weight of the other class right.
    is_tie_proven : bool
        Whether the lower bound of the certificate's objective holds for all scores with these
        shares: "least objective among the best rules" is then proven to within the gap, else it
        is not.

    Examples
    --------
    >>> from riskslim.operating_point import RequiredShare, RuleCertificate, Shares
    >>> rule = RuleCertificate(
    ...     RequiredShare("sensitivity", 0.95), 3, Shares(193, 203, 6280, 11841), 6280, True
    ... )
    >>> rule.gap, rule.is_best
    (0.0, True)
    >>> print(rule.explain())  # doctest: +NORMALIZE_WHITESPACE
    Finds 193 of 203 (95.1%), leaves out 6,280 of 11,841 (53.0%) of the others. No score within the
    requirements that finds at least 95% of the positive rows leaves out more.
    """

    required: RequiredShare
    threshold: float
    shares: Shares
    bound: float
    is_tie_proven: bool = False

    @property
    def gap(self) -> float:
        """Most by which another rule could have more of the other share: 0.01 is one point."""
        name = self.required.other
        return max(self.bound - self.shares.right(name), 0.0) / self.shares.total(name)

    @property
    def is_best(self) -> bool:
        """True if no rule has more of the other share, to within 1e-9 of the whole."""
        return self.gap <= TOLERANCE

    def explain(self) -> str:
        """Say what is proven in plain words.

        Returns
        -------
        str
            Two sentences or three.
        """
        return f"{self.shares.describe()} {self.proven()}"

    def proven(self) -> str:
        """Say how much better another rule can be.

        Returns
        -------
        str
            A sentence, or two.
        """
        shares, other = self.shares, self.required.other
        verb = "leaves out" if other == "specificity" else "finds"
        text = f"No score within the requirements that {self.required} {verb} more"
        if not self.is_best:
            most = self.bound / shares.total(other)
            text += f" than {self.bound:,.10g} ({most:.1%})"
        if not self.is_tie_proven:
            text += ". Others that are as good may have a smaller objective"
        return f"{text}."

    def __str__(self) -> str:
        shares = self.shares
        text = f"sensitivity {shares.sensitivity:.2%}, specificity {shares.specificity:.2%}"
        if self.is_best:
            return f"{text}, {self.required.other} proven best"
        return f"{text}, {self.required.other} at most {100 * self.gap:.2f} points higher"

    def faults(self) -> tuple[str, ...]:
        """Name what no certificate of a rule can say.

        Returns
        -------
        tuple of str
        """
        shares, other = self.shares, self.required.other
        if not all(map(math.isfinite, (self.threshold, self.bound))):
            return ("a number of the rule is not finite",)
        if faults := shares.faults():
            return faults
        is_true = {
            "the rule does not reach the required share": self.required.is_met_by(shares),
            "the rule is better than its bound": (
                shares.right(other) <= self.bound + TOLERANCE * shares.total(other)
            ),
        }
        return tuple(fault for fault, holds in is_true.items() if not holds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RuleCertificate:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        values : mapping

        Returns
        -------
        RuleCertificate

        Raises
        ------
        ValueError, TypeError, KeyError
            A value is missing, or none.
        """
        if not isinstance(is_tie_proven := values["is_tie_proven"], bool):
            raise TypeError(f"is_tie_proven must be true or false, got {is_tie_proven!r}")
        return cls(
            RequiredShare(**values["required"]), values["threshold"], Shares(**values["shares"]),
            values["bound"], is_tie_proven,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DecisionThreshold:
    """The score from which on rows are called positive, and whom that finds.

    Parameters
    ----------
    threshold : float
        In sums of the fitted points, the intercept not among them.
    training, test : Shares, optional
        Whom it finds on the rows that it was chosen on, and on others.
    required : RequiredShare, optional
        What it was chosen for.

    Raises
    ------
    TypeError, ValueError
        A threshold that is no finite number; shares that are none.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.operating_point import DecisionThreshold
    >>> score = RiskScore(-4, {"smoker": 3, "age >= 60": 2}, operating_point=DecisionThreshold(2))
    >>> score.predict({"smoker": [0, 0, 1], "age >= 60": [0, 1, 1]})
    array([0, 1, 1])
    """

    threshold: float
    training: Shares | None = None
    test: Shares | None = None
    required: RequiredShare | None = None

    def __post_init__(self) -> None:
        threshold = checked_number(self.threshold, "threshold")
        whole = threshold.is_integer() and abs(threshold) < _EXACT
        object.__setattr__(self, "threshold", int(threshold) if whole else threshold)
        for name, kind in (("training", Shares), ("test", Shares), ("required", RequiredShare)):
            value = getattr(self, name)
            if not isinstance(value, kind | None):
                raise TypeError(f"{name} must be {kind.__name__} or None, got {value!r}")
            if isinstance(value, Shares) and (faults := value.faults()):
                raise ValueError(f"{name}: {faults[0]}")

    def is_of(self, rule: RuleCertificate | None) -> bool:
        """True if a certificate is about this rule, on the rows that it was chosen on.

        Parameters
        ----------
        rule : RuleCertificate or None

        Returns
        -------
        bool
        """
        if rule is None or self.training is None:
            return False
        return (
            (rule.threshold, rule.required) == (self.threshold, self.required)
            # On other rows the same threshold may have been chosen; nothing is proven of these.
            and self.training.is_close_to(rule.shares)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, those that there are."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, values: Any) -> DecisionThreshold:
        """Read what :meth:`to_dict` wrote.

        Parameters
        ----------
        values : mapping

        Returns
        -------
        DecisionThreshold

        Raises
        ------
        ValueError
            A value is missing, or none.
        """
        if not isinstance(values, Mapping) or "threshold" not in values:
            raise ValueError(f"must be an object with 'threshold', got {values!r}")
        try:
            shares = {
                name: Shares(**{key: checked_number(one, key) for key, one in values[name].items()})
                for name in ("training", "test")
                if values.get(name) is not None
            }
            required = values.get("required")
            if required is not None:
                required = RequiredShare(**required)
            return cls(values["threshold"], **shares, required=required)
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None


def _count(right: float, total: float, share: float) -> str:
    return f"{right:,.10g} of {total:,.10g} ({share:.1%})"
