"""Random calls of riskslim.backend: right and wrong arrays of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from riskslim import backend

DTYPES = ("bool", "int8", "uint8", "int16", "int64", "uint64", "float32", "float64", ">f8", ">i4")
WRONG_DTYPES = ("float16", "complex64", "longdouble", "U3", "object", "M8[s]")
SIZES = (0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 200)
FUNCTIONS = (
    "loss", "loss_and_gradient", "hessian", "line_search", "best_steps", "support_table",
    "joint_counts", "sequential_rounding", "coordinate_descent",
)  # fmt: skip


def _chance(random: np.random.Generator, percent: int) -> bool:
    return bool(random.integers(100) < percent)


def _strided(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The same values, somewhere else in memory."""
    way = random.integers(6)
    if way == 0:
        return np.asfortranarray(values)
    if way == 1:
        wide = np.zeros(tuple(2 * size + 1 for size in values.shape), values.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in values.shape)]
        view[...] = values
        return view
    if way == 2:
        back = tuple(slice(None, None, -1) for _ in values.shape)
        return np.ascontiguousarray(values[back])[back]
    if way == 3 and values.dtype.kind in "biuf":
        raw = np.zeros(values.nbytes + 1, np.int8)[1:]  # not aligned
        moved = raw.view(values.dtype).reshape(values.shape)
        moved[...] = values
        return moved
    if way == 4:
        values = values.copy()
        values.setflags(write=False)
    return values


def _array(shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(random.choice(DTYPES))
    if dtype.kind == "f" and _chance(random, 50):
        values = random.normal(size=shape) * 10.0 ** random.integers(-3, 4)
        if values.size and _chance(random, 10):
            wrong = random.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310])
            values.flat[random.integers(values.size)] = wrong
    else:
        values = random.integers(0, random.choice([1, 2, 2, 2, 4, 9, 127]), shape)
        if dtype.kind in "if":
            values = values - random.integers(0, 3)
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
    return _strided(values, random)


def _wrong(value: Any, random: np.random.Generator) -> Any:
    """Something else than what is expected."""
    choices = [None, [1, 2], "text", 3, np.float64(1.0), np.zeros(()), np.zeros((2, 2, 2))]
    if isinstance(value, np.ndarray) and _chance(random, 80):
        choices = [value[:-1], value[..., None], value.T, value.ravel(), np.repeat(value, 2)]
        with np.errstate(all="ignore"):
            choices.append(np.zeros(value.shape, random.choice(WRONG_DTYPES)))
    return choices[random.integers(len(choices))]


def _coef(d: int, random: np.random.Generator) -> np.ndarray:
    values = random.integers(-3, 4, d + 1) * (random.random(d + 1) < 0.6)
    kind = random.integers(8)
    if kind == 0:
        return _strided(random.normal(size=d + 1), random)
    if kind == 1:
        return _strided(values * float(random.choice([1e4, 1e9, 1e154, 1e307])), random)
    if kind == 2:
        changed = values.astype(float)
        changed[random.integers(d + 1)] = random.choice([np.nan, np.inf, 0.5, 2.0**31])
        return changed
    return _strided(values.astype(random.choice(["int8", "int64", "float32", "float64"])), random)


def _options(function: str, d: int, coef: Any, random: np.random.Generator) -> dict[str, Any]:
    names: dict[str, Any] = {}
    if function in ("loss_and_gradient", "hessian") and _chance(random, 40):
        shape = (d + 1,) if function == "loss_and_gradient" else (d + 1, d + 1)
        names["out"] = _strided(np.empty(shape, random.choice(["float64"] * 5 + ["f4"])), random)
        if _chance(random, 20):
            names["out"] = coef
    if function == "hessian" and _chance(random, 40):
        names["features"] = random.integers(0, max(d, 1), random.integers(0, d + 2))
        names.pop("out", None)
    if function in ("line_search", "best_steps", "sequential_rounding", "coordinate_descent"):
        if _chance(random, 80):
            names |= {"intercept_lower": -int(random.integers(0, 60)), "intercept_upper": 30}
        if _chance(random, 30):
            names |= {"lower": -int(random.integers(0, 12)), "upper": random.integers(-1, 9, d)}
    if function in ("sequential_rounding", "coordinate_descent") and _chance(random, 40):
        names |= {"max_size": int(random.integers(0, d + 2)), "l0_penalty": 0.01}
    if function == "coordinate_descent" and _chance(random, 30):
        names["swaps"] = True
    return names


def random_call(seed: int) -> str:
    """Make one call.

    Parameters
    ----------
    seed : int
        Of everything: a call can be made again.

    Returns
    -------
    str
        "done", or the first words of the error that refused it. Other errors than ``TypeError`` and
        ``ValueError`` are raised.
    """
    random = np.random.default_rng(seed)
    n, d = int(random.choice(SIZES)), int(random.choice([0, 1, 1, 2, 3, 5, 8]))
    if _chance(random, 3):
        n = 20_000  # more than one chunk of rows
    X = _array((n, d), random)
    y = random.integers(0, 2, n)
    y[:2] = np.arange(2)[: len(y)]
    labels = _strided(y.astype(random.choice(["bool", "int8", "int64", "float64"])), random)
    weights: Any = None
    if _chance(random, 40):
        weights = _strided(random.integers(0, 4, n).astype(random.choice(["i8", "f4"])), random)
        if _chance(random, 30):
            weights = random.uniform(size=n) * 10.0 ** random.integers(-200, 200)
    coef = _coef(d, random)
    function = str(random.choice(FUNCTIONS))
    names = _options(function, d, coef, random)
    first: tuple[Any, ...] = (coef,)
    if function == "line_search":
        first = (coef, int(random.integers(-1, d + 2)))
    if function == "support_table":
        first = (random.integers(0, max(d, 1), random.integers(0, 4)),)
    arrays: list[Any] = [X, labels, weights]
    if _chance(random, 15):
        k = random.integers(3)
        arrays[k] = _wrong(arrays[k], random)
    elif _chance(random, 5):
        first = (_wrong(first[0], random), *first[1:])
    n_threads = int(random.integers(1, 4))
    try:
        if _chance(random, 50):
            handle = backend.prepare(*arrays, n_threads=n_threads)
            for _ in range(random.integers(1, 4)):
                getattr(backend, function)(*first, handle, **names)
        else:
            getattr(backend, function)(*first, *arrays, n_threads=n_threads, **names)
    except (TypeError, ValueError) as error:
        return " ".join(str(error).split()[:4])
    return "done"
