"""Loss, loss and gradient, and the loss of given scores."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.instances import TWO_THREADS, Case

DEFAULT_CASES = [
    *(Case(kind, n, d) for n in (10**5, 10**6) for d in (10, 30) for kind in ("integer", "real")),
    *(Case(kind, 10**6, 30) for kind in ("binary", "mixed", "weighted")),
]
FULL_CASES = [
    Case(kind, n, d)
    for n in (10**5, 10**6, 10**7)
    for d in (10, 30)
    for kind in ("integer", "binary", "real", "mixed", "weighted")
]

POINTS = {"five": "5 non-zero", "all": "all non-zero", "fractional": "fractional"}


ROLES = ["reference", "riskslim", TWO_THREADS]


@pytest.mark.parametrize(
    ("role", "point"),
    [
        *((role, point) for point in POINTS for role in ROLES),
        ("reference, non-zero columns", "five"),
    ],
)
def test_value(instance, measure, role, point):
    coef = instance.point(point)
    instance.use_threads(role)
    function = {
        "reference": instance.reference.value,
        "reference, non-zero columns": instance.reference.value_nonzero,
    }.get(role, instance.loss.value)
    value = measure(
        lambda: function(coef), family="loss", kernel=f"value, {POINTS[point]}", role=role,
        case=instance.case, bytes_per_row=instance.bytes_per_row(coef), form=instance.loss.kernel,
    )  # fmt: skip
    expected = instance.expected(f"value {point}", lambda: instance.reference.value(coef))
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("role", ROLES)
def test_value_and_gradient(instance, measure, role, point):
    coef = instance.point(point)
    instance.use_threads(role)
    evaluator = instance.reference if role == "reference" else instance.loss
    value, gradient = measure(
        lambda: evaluator.value_and_gradient(coef), family="loss",
        kernel=f"value and gradient, {POINTS[point]}", role=role, case=instance.case,
        bytes_per_row=instance.bytes_per_row(), form=instance.loss.kernel,
    )  # fmt: skip
    expected, expected_gradient = instance.expected(
        f"gradient {point}", lambda: instance.reference.value_and_gradient(coef)
    )
    assert value == pytest.approx(expected, rel=1e-12)
    # A component can cancel to almost nothing; its terms are of the size of the features.
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", ["5", "all"])
@pytest.mark.parametrize("role", ROLES)
def test_hessian(instance, measure, role, which):
    """Second derivatives by the intercept and some coefficients."""
    coef, d = instance.point("fractional"), instance.case.d
    features = range(d if which == "all" else min(5, d))
    instance.use_threads(role)
    evaluator = instance.reference if role == "reference" else instance.loss
    hessian = measure(
        lambda: evaluator.hessian(coef, features), family="loss",
        kernel=f"second derivatives, {which} features", role=role, case=instance.case,
        bytes_per_row=instance.bytes_per_row(),
    )  # fmt: skip
    expected = instance.expected(
        f"hessian {which}", lambda: instance.reference.hessian(coef, features)
    )
    np.testing.assert_allclose(hessian, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("role", ROLES)
def test_loss_of_scores(instance, measure, role):
    """Scores that are given, as integers where the model's are."""
    point = "five" if instance.loss.form == "lookup_table" else "fractional"
    coef = instance.point(point)
    reference = instance.reference
    instance.use_threads(role)
    scores = reference.scores(coef)
    if role == "reference":
        by_table = instance.loss.form == "lookup_table"

        def call():
            return reference.value_of_scores(scores, by_table=by_table)
    else:
        given = scores.astype(np.int32) if point == "five" else scores

        def call():
            return instance.loss.value_of_scores(given)

    value = measure(
        call, family="loss", kernel="loss of given scores", role=role, case=instance.case,
        bytes_per_row=(4 if point == "five" else 8) + instance.bytes_per_row(np.zeros_like(coef)),
    )  # fmt: skip
    expected = instance.expected(f"value {point}", lambda: reference.value(coef))
    assert value == pytest.approx(expected, rel=1e-12)
