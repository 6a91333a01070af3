"""Items: what their names say, and that the encoder makes of raw records what they say."""

from __future__ import annotations

import pytest

from riskslim.items import source_variable


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("age >= 60", "age"),
        ("age > 60", "age"),
        ("age>=60", "age"),
        ("bmi <= 18.5", "bmi"),
        ("bmi < 18.5", "bmi"),
        ("age ≥ 60", "age"),
        ("sex = female", "sex"),
        ("sex == female", "sex"),
        ("sex != female", "sex"),
        ("blood pressure >= -1.5e3", "blood pressure"),
        ("age is missing", "age"),
        ("age is not missing", "age"),
        ("country in {A, B}", "country"),
        ("country not in {A, B}", "country"),
        ("age in [40, 60)", "age"),
        ("40 <= age < 60", "age"),
        ("grade = A >= B", "grade"),
        ("MaxFrequencyLPD >= 0.5Hz", "MaxFrequencyLPD"),
        ("age", "age"),
        (" age ", "age"),
        ("days in hospital", "days in hospital"),
        ("report is missing pages", "report is missing pages"),
        ("is missing", "is missing"),
        (">= 60", ">= 60"),
        ("risk >", "risk >"),
        ("<10", "<10"),
        ("0 >= 5", "0"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_the_source_of_an_item(name, variable):
    assert source_variable(name) == variable
