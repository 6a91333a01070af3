"""The report's table of raw columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from riskslim import ItemEncoder, RiskScore
from riskslim.report.rows import judged_rows
from riskslim.report.variables import variable_table


def test_values_that_rows_have_in_each_kind_of_column():
    frame = pd.DataFrame(
        {"ill": [True, False, True, False], "ward": ["b", "a", None, "b"], "age": [40, 60, 50, 70]}
    )
    encoder = ItemEncoder(thresholds={"age": [50]}, missing="indicator").fit(frame)
    points = {"ill": 1, "ward = a": 2, "age >= 50": 1}
    score = RiskScore(-1, points).with_variables(encoder)
    others = frame.assign(ill=True, ward=["a", None, "a", None], age=[41, 30, 30, 40])
    outcome = np.array([1, 0, 1, 0])
    rows = judged_rows(score, (frame, outcome, None), (others, outcome, None), n_resamples=0)
    table = variable_table(score, rows)
    found = [[cell.text for cell in line] for line in table.rows]
    assert found == [
        ["ill", "no, yes", "0", "no, yes", "0", "yes", "0"],
        ["ward", "a, b", "1 (25.0%)", "a, b", "1 (25.0%)", "a", "2 (50.0%)"],
        ["age", "40 to 70", "0", "40 to 70", "0", "30 to 41", "0"],
    ]
