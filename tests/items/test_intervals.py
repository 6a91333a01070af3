"""Columns that pandas.cut and qcut make: levels in an order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier

AGE = pd.Series(np.arange(20, 80), name="age")
ROWS = pd.DataFrame({"cut": pd.cut(AGE, [0, 30, 50, 100]), "quarter": pd.qcut(AGE, 4)})
ROWS["apart"] = ROWS["cut"].astype(object)
ROWS.loc[5, "quarter"] = np.nan
Y = ((AGE > 50) ^ (AGE % 7 == 0)).astype(int)


def test_ordered_intervals_become_cutoffs():
    encoder = ItemEncoder(missing="indicator").fit(ROWS)
    assert encoder.groups_ == {
        "cut": ("cut >= (30, 50]", "cut >= (50, 100]"),
        "quarter": ("quarter >= (34.75, 49.5]", "quarter >= (49.5, 64.25]",
                    "quarter >= (64.25, 79.0]", "quarter is missing"),
        "apart": ("apart = (0, 30]", "apart = (30, 50]", "apart = (50, 100]"),
    }  # fmt: skip
    items = np.asarray(encoder.transform(ROWS))
    assert np.array_equal(items[:, 0], AGE > 30)
    assert np.array_equal(items[:, 1], AGE > 50)
    assert np.array_equal(items[:, 6], AGE <= 30)


def test_scores_of_intervals_apply_to_records_and_text():
    model = RiskSLIMClassifier(items=ItemEncoder(missing="indicator"), max_size=4).fit(ROWS, Y)
    score = RiskScore.from_json(model.risk_score_.to_json())
    assert all(isinstance(level, str) for one in score.variables.values() for level in one.levels)
    expected = model.predict_proba(ROWS)
    text = pd.DataFrame({name: [None if pd.isna(value) else str(value) for value in ROWS[name]]
                         for name in ROWS})  # fmt: skip
    for X in (ROWS, text, ROWS.to_dict("records"), [*ROWS.itertuples()]):
        assert np.array_equal(score.predict_proba(X), expected)
    assert np.array_equal(score.predict_proba(ROWS.iloc[0]), expected[:1])
    other = ROWS.assign(cut=pd.cut(AGE, [0, 31, 50, 100]))
    with pytest.raises(ValueError, match=r"unknown categories '\(0, 31\]', '\(31, 50\]'"):
        ItemEncoder().fit(ROWS[["cut"]]).transform(other[["cut"]])
