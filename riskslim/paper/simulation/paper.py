r"""Nested synthetic data of any size (Ustun & Rudin 2019, Appendix "Simulation Procedure").

Every feature is a noisy copy of a feature of a small source data set, every row a noisy copy of
one of its rows. Features therefore come in groups of near duplicates, which makes the choice
among them hard, and data sets of different sizes are nested: the one with fewer rows or fewer
features is the top left part of the other one.

The paper generates the largest data set and cuts the smaller ones out of it. Here every block of
rows of every column has a random stream of its own, so that a data set of any size is
generated directly, in the memory of the result, and is nested in the larger ones all the same.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_int
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import PositiveLabelWarning
from riskslim.paper.simulation.seizure import (
    Values,
    seizure_columns,
    seizure_outcomes,
    seizure_signs,
)

__all__ = ["SeizureData", "SimulatedData", "simulate", "simulate_seizure", "source_data"]

# New features have the bounds of those of the paper's source data.
_LOWER, _UPPER = 0, 10

# Rows that share random streams: the block's values and row numbers stay in the L2 cache.
# Changing it changes the data.
_BLOCK_ROWS = 32768

# First word of the keys of the random streams.
_ORDER_STREAM, _ROW_STREAM, _NOISE_STREAM = range(3)

_KINDS = ("integer", "binary", "real")


class SimulatedData(NamedTuple):
    """A synthetic data set.

    Attributes
    ----------
    X : ndarray of shape (n, d), Fortran order
        int8, or float64 for kind "real".
    y : ndarray of shape (n,)
        Labels of the source data; int8 if they are small integers.
    feature_names : tuple of str, length d
        Name of the source feature and number of the copy, for example "x3_1".
    source_features : ndarray of intp, shape (d,)
        Index of the source feature that each feature is a copy of.

    Examples
    --------
    >>> from riskslim.paper.simulation import simulate
    >>> data = simulate(100, 4)
    >>> data.X.shape, data.X.dtype, data.feature_names
    ((100, 4), dtype('int8'), ('x3_1', 'x2_1', 'x6_1', 'x7_1'))
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    source_features: NDArray[np.intp]


class SeizureData(NamedTuple):
    """Simulated patients of the seizure application.

    Attributes
    ----------
    X : dict from str to ndarray of shape (n,)
        87 columns by name, int8, or float64 for the six frequencies.
        :class:`~riskslim.TrainingData` takes it as it is.
    y : ndarray of int8, shape (n,)
        1: a seizure within the next 24 hours.
    signs : dict from str to str
        "+" or "-" for the variables that the table gives a sign, as ``sign`` of
        :class:`~riskslim.CoefficientSet` takes them.

    Examples
    --------
    >>> from riskslim.paper.simulation import simulate_seizure
    >>> patients = simulate_seizure(200)
    >>> len(patients.X), patients.y.shape, set(patients.signs.values()) <= {"+", "-"}
    (87, (200,), True)
    """

    X: dict[str, Values]
    y: NDArray[np.int8]
    signs: dict[str, str]


def simulate(
    n_samples: int,
    n_features: int,
    *,
    source: tuple[Any, Any] | None = None,
    kind: Literal["integer", "binary", "real"] = "integer",
    noise: float = 0.5,
    random_state: int = 0,
) -> SimulatedData:
    r"""Generate a synthetic data set from a source data set.

    Feature j is a copy of source feature k(j): the features of the source in random order, then
    all of them again in another random order, and so on. Row i is a copy of source row l(i),
    drawn with replacement, label included:

    .. math::

        x_{ij} = \min(10, \max(0, \mathrm{round}(x^{source}_{l(i), k(j)} + \varepsilon_{ij}))),
        \qquad \varepsilon_{ij} \sim \mathrm{Normal}(0, \text{noise}),
        \qquad y_i = y^{source}_{l(i)}

    Parameters
    ----------
    n_samples, n_features : int
        Numbers n of rows and d of features, at least 1.
    source : (X, y), optional
        Source data as :class:`~riskslim.TrainingData` takes them, values within 0..10. Default:
        :func:`source_data`. The paper uses the breast cancer data of Mangasarian et al. (1995).
    kind : {"integer", "binary", "real"}, default "integer"
        "integer": as above. "real": the same without rounding. "binary": 1 where the integer
        feature is greater than the median of its source feature, else 0.
    noise : float, default 0.5
        Standard deviation of the noise.
    random_state : int, default 0
        Seed, at least 0.

    Returns
    -------
    SimulatedData
        The tuple (X, y, feature_names, source_features).

    Raises
    ------
    ValueError
        Sizes below 1, a negative seed or noise, an unknown kind, source values outside of 0..10,
        or source data that :class:`~riskslim.TrainingData` refuses.
    TypeError
        Sizes or seed that are no integers, or a source that is no pair.

    Notes
    -----
    The paper draws the noise from Normal(0, 0.5) and does not say whether 0.5 is the standard
    deviation or the variance. It is read as the standard deviation here, which is what the
    functions for normal random numbers of the usual languages take; ``noise=0.5**0.5`` gives
    the other reading.

    For the same source, seed and noise, the data with n' <= n rows and d' <= d features are
    exactly ``X[:n', :d']`` and ``y[:n']``, and the three kinds come from the same draws: the
    integer features are the real ones, rounded. Random numbers are NumPy's; another version of
    NumPy may draw other ones.

    Memory is that of the result plus blocks of 32768 rows. A binary feature is constant where
    the source's median is 10.

    Examples
    --------
    >>> from riskslim.paper.simulation import simulate
    >>> small, large = simulate(4, 3), simulate(1000, 30)
    >>> bool((large.X[:4, :3] == small.X).all())
    True
    >>> small.X.shape, small.X.dtype.name, small.X.flags.f_contiguous
    ((4, 3), 'int8', True)
    >>> len(set(small.source_features.tolist()))
    3
    """
    n, d = _checked_count(n_samples, "n_samples"), _checked_count(n_features, "n_features")
    seed = _checked_seed(random_state)
    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, got {kind!r}")
    if not (noise >= 0 and math.isfinite(noise)):
        raise ValueError(f"noise must be finite and at least 0, got {noise!r}")
    origin = _checked_source(source_data() if source is None else source)
    labels = _label_values(origin)
    columns = [origin.column(k).astype(np.float64) for k in range(origin.n_features)]
    chosen, copy_numbers = _choose_features(seed, origin.n_features, d)
    medians = [float(np.median(column)) for column in columns]

    X = np.empty((n, d), dtype=np.float64 if kind == "real" else np.int8, order="F")
    y = np.empty(n, dtype=labels.dtype)
    for block, rows in enumerate(_row_blocks(n)):
        size = rows.stop - rows.start
        drawn = _stream(seed, _ROW_STREAM, block).integers(origin.n_samples, size=size)
        labels.take(drawn, out=y[rows], mode="clip")
        for j, k in enumerate(chosen):
            values = _stream(seed, _NOISE_STREAM, block, j).standard_normal(size)
            values *= noise
            values += columns[k].take(drawn)
            values.clip(_LOWER, _UPPER, out=values)
            if kind != "real":
                np.rint(values, out=values)
            X[rows, j] = values > medians[k] if kind == "binary" else values
    names = tuple(
        f"{origin.feature_names[k]}_{number}"
        for k, number in zip(chosen, copy_numbers, strict=True)
    )
    return SimulatedData(X, y, names, np.array(chosen, dtype=np.intp))


def simulate_seizure(n_samples: int = 5427, *, random_state: int = 0) -> SeizureData:
    r"""Simulate patients with the 87 variables of the paper's seizure data.

    The outcome comes from the paper's 2HELPS2B risk score s, which has one point each for a
    pattern with a frequency of at least 2 Hz, epileptiform discharges, LPD or LRDA or BiPD, a
    superimposed pattern, and prior seizures, and two points for brief rhythmic discharges:

    .. math:: \Pr(y = +1) = \frac{1}{1 + \exp(3 - s)}

    Frequencies of findings are chosen so that 12.5% of the outcomes are positive, as they are in
    the paper. Patterns and findings go together because all of them depend on one latent
    irritability of the cortex, some diagnoses because of another one; GRDA, sex and most diagnoses
    are independent of the outcome.

    Parameters
    ----------
    n_samples : int, default 5427
        Number n of patients, at least 1. The default is the paper's.
    random_state : int, default 0
        Seed, at least 0.

    Returns
    -------
    SeizureData
        The tuple (X, y, signs).

    Raises
    ------
    TypeError, ValueError
        No int, or too small a one.

    Notes
    -----
    The table of the appendix lists 86 variables, while the paper speaks of 87: it has
    MaxFrequencyGRDA in thresholds only, whereas constraints 13 and 24 of the appendix name it as a
    variable of its own, like that of the four other patterns. It is the 87th here, in the place
    that the alphabet gives it, with values and sign of the others. Names are those of the table,
    spelling included, with ">=" for its sign; "= 0.0Hz" has a unit for any pattern only.

    Only the names, values, signs, number of rows and share of positive outcomes are the paper's.
    All other numbers are made up, and nothing can be learned from them about patients.

    Examples
    --------
    >>> from riskslim.paper.simulation import simulate_seizure
    >>> X, y, signs = simulate_seizure(1000)
    >>> len(X), y.shape, sum(sign == "+" for sign in signs.values())
    (87, (1000,), 58)
    >>> bool((X["MaxFrequencyLPD"][X["PatternsInclude_LPD"] == 0] == 0).all())
    True
    """
    n, seed = _checked_count(n_samples, "n_samples"), _checked_seed(random_state)
    random = np.random.default_rng(seed)
    X = seizure_columns(random, n)
    return SeizureData(X, seizure_outcomes(random, X), seizure_signs(X))


def source_data() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Data of the shape of the paper's source data, for want of the data themselves.

    683 rows, 9 features with integers 0..10, and a binary outcome with 239 rows of class 1. As
    in data on tumour cells, all features grow with one latent severity, class 0 is mild and
    alike, class 1 is severe and varied. Risk scores of five features predict the outcome about as
    well as they do in the paper's data.

    Returns
    -------
    X : ndarray of int8, shape (683, 9), Fortran order
    y : ndarray of int8, shape (683,)

    Examples
    --------
    >>> from riskslim.paper.simulation import source_data
    >>> X, y = source_data()
    >>> X.shape, int(X.min()), int(X.max()), int(y.sum())
    ((683, 9), 0, 10, 239)
    """
    n, n_positive = 683, 239
    random = np.random.default_rng(0)
    y = random.permutation((np.arange(n) < n_positive).astype(np.int8))
    severity = np.where(y == 1, random.normal(4.4, 1.4, n), random.normal(0.2, 0.3, n))
    X = np.empty((n, 9), dtype=np.int8, order="F")
    # Features differ in level, in how strongly they follow the severity, and in scatter.
    for j, (level, slope, scatter) in enumerate(
        zip(
            (2.5, 0.8, 0.9, 0.8, 1.7, 0.8, 1.8, 0.6, 0.8),
            (1.0, 1.2, 1.2, 1.0, 0.9, 1.4, 1.0, 1.2, 0.5),
            (2.2, 1.8, 1.8, 2.3, 1.7, 2.6, 1.8, 2.3, 1.4),
            strict=True,
        )
    ):
        values = level + slope * severity + random.normal(0.0, scatter, n)
        X[:, j] = np.rint(values).clip(_LOWER, _UPPER)
    return X, y


def _choose_features(seed: int, n_source: int, n: int) -> tuple[list[int], list[int]]:
    """Source feature and number of the copy for each of n features.

    The paper completes its list by a random sample without replacement; that is the beginning of
    a random permutation, so that shorter lists are beginnings of longer ones.
    """
    chosen: list[int] = []
    copy_numbers: list[int] = []
    for copy in itertools.count():
        if len(chosen) >= n:
            return chosen[:n], copy_numbers[:n]
        chosen += _stream(seed, _ORDER_STREAM, copy).permutation(n_source).tolist()
        copy_numbers += [copy + 1] * n_source
    raise AssertionError("itertools.count does not end")


def _row_blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, _BLOCK_ROWS):
        yield slice(first, min(first + _BLOCK_ROWS, n))


def _stream(seed: int, *key: int) -> np.random.Generator:
    """Independent random stream per key; a shorter draw from it begins like a longer one."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def _checked_source(source: tuple[Any, Any]) -> TrainingData:
    if not isinstance(source, (tuple, list)) or len(source) != 2:
        raise TypeError(f"source must be a pair (X, y), got {type(source).__name__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PositiveLabelWarning)  # rows keep their labels as they are
        data = TrainingData(*source)
    outside = (data.feature_min < _LOWER) | (data.feature_max > _UPPER)
    if outside.any():
        j = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"{np.count_nonzero(outside)} of {data.n_features} source features have values "
            f"outside of {_LOWER}..{_UPPER}, the first one is {data.feature_names[j]!r} with "
            f"{data.feature_min[j]:g}..{data.feature_max[j]:g}; rescale or leave them out"
        )
    return data


def _label_values(data: TrainingData) -> NDArray[Any]:
    """Labels of the source rows as the user has them."""
    values = np.array(data.classes)
    if values.dtype.kind == "i" and np.array_equal(values.astype(np.int8), values):
        values = values.astype(np.int8)
    return values[(data.labels > 0).astype(np.intp)]


def _checked_seed(value: int) -> int:
    seed = as_int(value, "random_state")
    if seed < 0:
        raise ValueError(f"random_state must be at least 0, got {value}")
    return seed


def _checked_count(value: int, what: str) -> int:
    count = as_int(value, what)
    if count < 1:
        raise ValueError(f"{what} must be at least 1, got {count}")
    return count
