"""Made-up patients: raw columns, and the columns of points that are drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "columns_of", "people"]

# Cut-offs of items.
_AGES, _BMIS, _VISITS = (45, 60, 75), (22, 27, 32), (1, 3)
_WARDS = ("medicine", "surgery", "icu", "er")


def people(rng: np.random.Generator, n: int) -> dict[str, NDArray[Any]]:
    """Draw raw columns of patients, and whether they died.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int

    Returns
    -------
    dict from str to ndarray
        The last one is "died".
    """
    raw: dict[str, NDArray[Any]] = {
        "age": rng.integers(20, 95, n),
        "bmi": rng.normal(27, 5, n).round(1),
        "visits": rng.poisson(1.5, n),
        "stage": rng.integers(0, 4, n),
        "marker": rng.lognormal(0, 0.7, n).round(3),
        "sex": rng.choice(["f", "m"], n),
        "smoker": rng.integers(0, 2, n),
        "ward": rng.choice(_WARDS, n, p=[0.4, 0.3, 0.2, 0.1]),
    }
    log_odds = (
        -2.5
        + 1.1 * (raw["age"] >= 63)
        + 0.7 * (raw["age"] >= 78)
        + 0.8 * raw["smoker"]
        + 0.3 * raw["stage"]
        - 0.5 * (raw["sex"] == "f")
        + 0.6 * np.log(raw["marker"])
        + 0.9 * (raw["ward"] == "icu")
    )
    raw["died"] = (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(np.int8)
    raw["died"][:4] = (0, 1, 0, 1)  # both classes, however few rows there are
    return raw


def _items(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    found = {f"age >= {cut}": raw["age"] >= cut for cut in _AGES}
    found |= {f"bmi >= {cut}": raw["bmi"] >= cut for cut in _BMIS}
    found |= {f"visits >= {cut}": raw["visits"] >= cut for cut in _VISITS}
    found |= {f"ward = {ward}": raw["ward"] == ward for ward in _WARDS[1:]}
    return found


def _least(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Items that every table has: constraints name them."""
    return {
        "age >= 45": raw["age"] >= 45,
        "age >= 60": raw["age"] >= 60,
        "sex = f": raw["sex"] == "f",
        "smoker": raw["smoker"],
    }


def _reals(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {"marker": raw["marker"], "bmi in tens": raw["bmi"] / 10}


def _integers(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {"visits": raw["visits"], "stage": raw["stage"], "decades of age": raw["age"] // 10}


def _few_values(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    items = _items(raw)
    levels = {"stage": raw["stage"], "visits up to 3": np.minimum(raw["visits"], 3)}
    return levels | {name: items[name] for name in ("age >= 75", "bmi >= 27", "ward = icu")}


def _twins(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    female = raw["sex"] == "f"
    return {"sex = m": ~female, "female": female, "stage": raw["stage"], **_items(raw)}


_ADDED = {
    "items": _items,
    "integers": _integers,
    "few values": _few_values,
    "reals": _reals,
    "mixed": lambda raw: _integers(raw) | _reals(raw) | {"bmi >= 27": raw["bmi"] >= 27},
    "twins": _twins,
}
KINDS = tuple(_ADDED)


def columns_of(raw: dict[str, NDArray[Any]], kind: str) -> dict[str, NDArray[Any]]:
    """Columns that can have points.

    Parameters
    ----------
    raw : dict from str to ndarray
        Of :func:`people`.
    kind : str
        One of :data:`KINDS`.

    Returns
    -------
    dict from str to ndarray
    """
    columns = _least(raw) | _ADDED[kind](raw)
    return {
        name: column.astype(np.int64) if column.dtype.kind in "bi" else column
        for name, column in columns.items()
    }
