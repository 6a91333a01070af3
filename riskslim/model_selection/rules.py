"""Aims of rules: how far above a wanted share the training rows have to be, so that folds keep it.

A rule that finds 95% of the cases that it was chosen on finds fewer of others: it was chosen for
these. Folds say how many fewer.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from riskslim._checks import checked_number
from riskslim._wording import aligned
from riskslim.classifier import RiskSLIMClassifier
from riskslim.engines.parallel import Step
from riskslim.model_selection.cross_validation import CrossValidation, cross_validate_risk_score
from riskslim.operating_point import RequiredShare

__all__ = ["AimedRule", "RuleMargin", "rule_margin"]

# Aims from the wanted share to all of the class, both included.
_N_AIMS = 6
# Means of shares are rounded.
_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class AimedRule:
    """The rules that aim at one share on the training rows, and what other rows keep of it.

    Parameters
    ----------
    required : RequiredShare
        What was asked of the training rows.
    cross_validation : CrossValidation

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier, rule_margin
    >>> X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (15, 1))
    >>> y = (np.arange(60) % 7 < 1 + 4 * X[:, 0]).astype(int)
    >>> classifier = RiskSLIMClassifier(max_size=1, sensitivity=0.5)
    >>> aimed = rule_margin(classifier, X, y, aims=[0.5], cv=3).entries[0]
    >>> aimed.required.share, aimed.mean >= aimed.worst
    (0.5, True)
    """

    required: RequiredShare
    cross_validation: CrossValidation = dataclasses.field(repr=False)

    @property
    def mean(self) -> float:
        """Mean over folds of the share that was aimed at, on test rows."""
        return self.cross_validation.mean(self.required.name)

    @property
    def worst(self) -> float:
        """The least of these shares."""
        found = self.cross_validation.defined(self.required.name)
        return float(found.min()) if found.size else math.nan

    @property
    def other(self) -> float:
        """Mean over folds of the other share, on test rows."""
        return self.cross_validation.mean(self.required.other)


@dataclasses.dataclass(frozen=True, eq=False)
class RuleMargin:
    """Aims at shares of the training rows, and what folds keep of them.

    Parameters
    ----------
    wanted : RequiredShare
        What other rows are to reach.
    entries : tuple of AimedRule
        In the order of what is aimed at.

    Notes
    -----
    ``str`` of it is a table.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier, rule_margin
    >>> X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (15, 1))
    >>> y = (np.arange(60) % 7 < 1 + 4 * X[:, 0]).astype(int)
    >>> classifier = RiskSLIMClassifier(max_size=1, sensitivity=0.5)
    >>> found = rule_margin(classifier, X, y, aims=[0.5, 1], cv=3)
    >>> [entry.required.share for entry in found.entries]
    [0.5, 1.0]
    """

    wanted: RequiredShare
    entries: tuple[AimedRule, ...]

    @property
    def aim(self) -> float | None:
        """The least share of the training rows of which folds keep the wanted one in the mean.

        None where no aim is enough.
        """
        for entry in self.entries:
            if entry.mean >= self.wanted.share - _TOLERANCE:
                return entry.required.share
        return None

    @property
    def margin(self) -> float | None:
        """Distance of the aim from the wanted share; None where no aim is enough."""
        return None if self.aim is None else self.aim - self.wanted.share

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each aim: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        name, other = self.wanted.name, self.wanted.other
        return [
            {
                "aim": one.required.share,
                f"test_{name}_mean": one.mean,
                f"test_{name}_worst": one.worst,
                f"test_{other}_mean": one.other,
            }
            for one in self.entries
        ]

    def __str__(self) -> str:
        name, other = self.wanted.name, self.wanted.other
        lines = [["training rows", f"test {name}", "worst fold", f"test {other}"]]
        lines += [
            [f"{one.required.share:.1%}", f"{one.mean:.1%}", f"{one.worst:.1%}", f"{one.other:.1%}"]
            for one in self.entries
        ]
        wanted = f"{100 * self.wanted.share:.4g}%"
        found = f"No aim keeps a {name} of {wanted} on test rows in the mean."
        if self.aim is not None:
            found = (
                f"To keep a {name} of {wanted} on other rows, aim at {100 * self.aim:.4g}% of the "
                "training rows."
            )
        return f"{aligned(lines)}\n{found}"


def rule_margin(
    classifier: RiskSLIMClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    aims: Sequence[float] | None = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    n_jobs: int | None = 1,
    progress: Callable[[Step], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> RuleMargin:
    """Find how far above the wanted share the training rows have to be, so that folds keep it.

    Parameters
    ----------
    classifier : RiskSLIMClassifier
        With ``sensitivity`` or ``specificity``: the share that is wanted of other rows. It is
        cloned, never fitted.
    X, y, sample_weight, cv, groups, random_state, n_jobs, progress, should_stop
        As in :func:`cross_validate_risk_score`. All aims have the same folds.
    aims : sequence of float, optional
        Shares of the training rows to try. Default: six, at equal steps from the wanted one to 1.

    Returns
    -------
    RuleMargin
        ``aim`` is the least share to fit with. After ``should_stop`` with the aims that are
        finished.

    Raises
    ------
    TypeError, ValueError
        A classifier without a share, aims that are none; as in :func:`cross_validate_risk_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier
    >>> from riskslim.model_selection import rule_margin
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (300, 4))
    >>> y = (rng.random(300) < 0.1 + 0.2 * X[:, :3].sum(axis=1)).astype(int)
    >>> found = rule_margin(RiskSLIMClassifier(max_size=2, sensitivity=0.8), X, y, cv=3)
    >>> [one["aim"] for one in found.records()]
    [0.8, 0.84, 0.88, 0.92, 0.96, 1.0]
    """
    if not isinstance(classifier, RiskSLIMClassifier):
        raise TypeError(f"classifier must be a RiskSLIMClassifier, got {type(classifier).__name__}")
    wanted = classifier.required_share()
    if wanted is None:
        raise ValueError(
            "classifier must have the share that is wanted of other rows: "
            "RiskSLIMClassifier(sensitivity=0.95)"
        )
    shares = _checked_aims(aims, wanted)
    if isinstance(cv, Iterator):
        cv = [*cv]  # all aims have the same folds
    entries: list[AimedRule] = []
    for share in shares:
        if should_stop is not None and should_stop():
            break
        aimed = clone(classifier).set_params(**{wanted.name: share})
        found = cross_validate_risk_score(
            aimed, X, y, sample_weight, cv=cv, groups=groups, n_jobs=n_jobs,
            random_state=random_state, progress=progress, should_stop=should_stop,
        )  # fmt: skip
        if not found.is_complete:
            break
        entries.append(AimedRule(RequiredShare(wanted.name, share), found))
    return RuleMargin(wanted, tuple(entries))


def _checked_aims(aims: Any, wanted: RequiredShare) -> list[float]:
    """Shares to aim at, in order."""
    if aims is None:
        steps = np.linspace(wanted.share, 1.0, _N_AIMS).round(12)
        return [float(one) for one in np.unique(steps)]
    if isinstance(aims, str) or not isinstance(aims, Iterable):
        raise TypeError(f"aims must be a sequence of shares, as [0.95, 0.97], got {aims!r}")
    found = sorted({checked_number(one, "aims") for one in aims})
    if not found or not 0 < found[0] <= found[-1] <= 1:
        raise ValueError(f"aims must be shares above 0 and at most 1, got {aims!r}")
    return found
