"""The digest that binds a certificate to the score in a file.

It is no signature: who edits a file can compute it anew. It tells a certificate that is about these
points from one that has been left in the file while they were changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["digest_of", "digest_of_plain"]

# Larger floats that are whole numbers are not all exact.
_EXACT = 2**53


def digest_of(
    *,
    points: Mapping[str, int],
    items: Mapping[str, Any],
    intercept: int,
    scale: float,
    classes: tuple[Any, ...],
    certificate: Mapping[str, Any],
    requirements: Sequence[Mapping[str, Any]] = (),
    fit_remarks: Sequence[str] = (),
) -> str:
    """Compute the digest of everything that a certificate is about, and of itself.

    Parameters
    ----------
    points : mapping from feature to int
    items : mapping from feature to plain item
        What features are, without what predictions do not depend on.
    intercept : int
    scale : float
    classes : tuple
        The negative label, the positive one.
    certificate : mapping
        As it stands in a file.
    requirements : sequence of mapping
        That the score was found under, as they stand in a file.
    fit_remarks : sequence of str
        Of the fit on the score. Files from before there were any have the digest that is without.

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits. It does not depend on the order of keys and features,
        nor on whether a whole number is written with a decimal point.

    Examples
    --------
    >>> from riskslim.score.digest import digest_of
    >>> about = {"items": {}, "intercept": -3, "classes": (0, 1), "certificate": {"loss": 0.3}}
    >>> one = digest_of(points={"smoker": 2}, scale=1.0, **about)
    >>> one == digest_of(points={"smoker": 2}, scale=1, **about), one[:11]
    (True, 'sha256:e686')
    >>> one == digest_of(points={"smoker": 3}, scale=1.0, **about)
    False
    """
    bound = {
        "points": {name: value for name, value in points.items() if value},
        "items": {name: item for name, item in items.items() if points.get(name)},
        "intercept": intercept,
        "scale": scale,
        "classes": list(classes),
        "certificate": dict(certificate),
        "requirements": [dict(one) for one in requirements],
        **({"fit_remarks": [*fit_remarks]} if fit_remarks else {}),
    }
    return digest_of_plain(bound)


def digest_of_plain(plain: Any) -> str:
    """Compute the digest of plain values, as they stand in a file.

    Parameters
    ----------
    plain : object
        Of what JSON has.

    Returns
    -------
    str
        As of :func:`digest_of`.

    Examples
    --------
    >>> from riskslim.score.digest import digest_of_plain
    >>> digest_of_plain({"a": 1.0, "b": 2}) == digest_of_plain({"b": 2, "a": 1})
    True
    """
    text = json.dumps(_canonical(plain), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _canonical(value: Any) -> Any:
    """The same value, numbers in one form: other programs write 1.0 as 1."""
    if isinstance(value, dict):
        return {name: _canonical(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value
