"""No rows in, no rows out: a batch may be empty."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.items import RawVariable

ROWS = pd.DataFrame({"age": np.arange(40), "sex": ["m", "f"] * 20})
Y = ((ROWS["age"] > 20) ^ (ROWS["age"] % 7 == 0)).astype(int).rename("died")
VARIABLES = {"age": RawVariable("age", "numeric", 0, 39),
             "sex": RawVariable("sex", "categorical", levels=("f", "m"))}  # fmt: skip
SCORES = {
    "raw": RiskScore(-1, {"age >= 20": 1, "sex = m": 2}, variables=VARIABLES),
    "features": RiskScore(-1, {"age": 1, "sex": 2}),
}
EMPTY = {
    "pandas": ROWS[:0],
    "text": ROWS[:0].astype(str),
    "polars": pl.from_pandas(ROWS)[:0],
    "Arrow": pa.Table.from_pandas(ROWS)[:0],
    "without types": pa.table({"age": pa.nulls(0), "sex": pa.nulls(0)}),
    "mapping": {"age": [], "sex": []},
    "structured": np.zeros(0, [("age", "f8"), ("sex", "U1")]),
    "array": np.zeros((0, 2)),
    "objects": np.zeros((0, 2), object),
    "list": [],
    "tuple": (),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("what", EMPTY)
def test_scores(what, kind):
    score, X = SCORES[kind], EMPTY[what]
    assert score.score_samples(X).shape == score.decision_function(X).shape == (0,)
    assert score.predict_proba(X).shape == (0, 2)
    one = [{"age": 1, "sex": "m" if kind == "raw" else 1}]
    assert score.predict(X).dtype == score.predict(one).dtype
    assert score.explain_rows(X) == []
    assert score.remarks(X) == score.remarks()
    if kind == "raw":
        assert [*score.with_items(X)["age >= 20"]] == []
    with pytest.raises(ValueError, match="got 0 rows"):
        score.explain(X)
    with pytest.raises(ValueError, match="no rows"):
        score.average_points(X)


@pytest.mark.parametrize("what", ["pandas", "polars", "array"])
def test_classifiers_and_encoders(what):
    X = EMPTY[what]
    rows = ROWS.assign(sex=[0, 1] * 20) if what == "array" else ROWS
    rows = {"polars": pl.from_pandas(rows), "array": rows.to_numpy()}.get(what, rows)
    classifier = RiskSLIMClassifier(items=ItemEncoder(), max_size=2, verbose=False).fit(rows, Y)
    assert classifier.predict_proba(X).shape == (0, 2)
    assert classifier.predict(X).shape == (0,)
    assert classifier.encoder_.transform(X).shape == (0, len(classifier.encoder_.items_))
    # There is nothing to fit to.
    for model in (classifier, ItemEncoder()):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            model.fit(X, Y[:0])
