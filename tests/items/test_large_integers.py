"""Integers that float64 does not hold are refused at the fit, with items as without."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier, TrainingData, read
from riskslim.items import RawVariable

N = 24
LARGE = 2**53 + np.arange(N) % 6
LARGE[:3] = 7
Y = np.arange(N) % 2
COLUMNS = {
    "int64": LARGE,
    "negative": -LARGE,
    "uint64": LARGE.astype(np.uint64),
    "objects": LARGE.astype(object),
    "beyond all types": np.array([int(value) * 10**9 for value in LARGE], object),
    "missing": pd.array([None, *LARGE[1:].tolist()], "Int64"),
}
ENCODERS = {
    "quantiles": ItemEncoder(missing="indicator"),
    "given": ItemEncoder(thresholds={"a": [2**53 + 1]}, missing="indicator"),
    "supervised": ItemEncoder(thresholds="supervised", missing="indicator"),
    "levels": ItemEncoder(categorical=["a"], missing="indicator"),
    "kept": ItemEncoder(numeric="passthrough", missing="indicator"),
}
MESSAGE = r"magnitude 2\*\*53 or more .*'a' \({} of {} rows, first .*subtract a number"


@pytest.mark.parametrize("how", ENCODERS)
@pytest.mark.parametrize("what", COLUMNS)
def test_fits_refuse_them(what, how):
    frame = pd.DataFrame({"a": COLUMNS[what], "b": Y})
    tables = [frame]
    if what in ("int64", "missing"):
        tables += [pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    if how == "kept" and what == "missing":
        return  # missing values are refused there
    for table in tables:
        with pytest.raises(ValueError, match=MESSAGE.format(N - 3, N)):
            ENCODERS[how].fit(table, Y)


def test_classifiers_and_training_data_refuse_them():
    frame = pd.DataFrame({"a": LARGE, "b": Y})
    for items in (None, ItemEncoder()):
        with pytest.raises(ValueError, match=MESSAGE.format(N - 3, N)):
            RiskSLIMClassifier(items=items).fit(frame, Y)
    with pytest.raises(ValueError, match=MESSAGE.format(N - 3, N)):
        TrainingData(frame, Y)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("what", ["int64", "missing"])
def test_files_are_refused(what, suffix, tmp_path, monkeypatch):
    frame = pd.DataFrame({"a": COLUMNS[what], "b": Y, "y": Y})
    for k in range(2):
        write = frame.to_parquet if suffix == "parquet" else frame.to_csv
        write(tmp_path / f"{k}.{suffix}", index=False)
    for paths, times in ((tmp_path / f"0.{suffix}", 1), (tmp_path, 2)):
        for how in ("quantiles", "levels"):
            with pytest.raises(ValueError, match=MESSAGE.format(times * (N - 3), times * N)):
                read(paths, "y", items=ENCODERS[how])
    # As columns of too many values to count are.
    monkeypatch.setattr("riskslim.rows.reading.MAX_DISTINCT", 3)
    with pytest.raises(ValueError, match=MESSAGE.format(2 * (N - 3), 2 * N)):
        read(tmp_path, "y", items=ENCODERS["quantiles"])


def test_predictions_agree():
    variables = {"a": RawVariable("a", "numeric", 0, 2**53 - 1)}
    score = RiskScore(-1, {"a >= 9": 1}, variables=variables)
    for X in ({"a": [2**53, 1]}, [{"a": 2**53}], pd.DataFrame({"a": [2**53]})):
        with pytest.raises(ValueError, match=r"2\*\*53 or more"):
            score.score_samples(X)
    assert score.score_samples({"a": [2**53 - 1, 1]}).tolist() == [1, 0]
