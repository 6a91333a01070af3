"""What diagrams draw: the values of the metrics, with labels that are whole."""

from __future__ import annotations

import itertools
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from riskslim.metrics import decision_curve, operating_points, reliability_curve
from riskslim.plots import (
    COLOURS,
    plot_decision_curve,
    plot_reliability,
    plot_roc,
    plot_score_histogram,
)

mpl.use("Agg")

SCORES = np.array([-1, -1, -1, -1, 0, 0, 0, 0, 0, 2, 2])
LABELS = np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1])
RISKS = 1 / (1 + np.exp(-SCORES))
FOLD = np.arange(11) < 9


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def line(ax, label):
    (found,) = (one for one in ax.lines if str(one.get_label()).startswith(label))
    return found.get_xydata()


def is_whole(ax):
    """Everything drawn, ticks and labels among it, lies within the saved picture."""
    ax.figure.canvas.draw()
    drawn, whole = ax.get_tightbbox(), ax.figure.bbox
    assert drawn.width > ax.bbox.width  # labels were measured
    return (
        drawn.x0 >= whole.x0
        and drawn.x1 <= whole.x1
        and drawn.y0 >= whole.y0
        and drawn.y1 <= whole.y1
    )


def test_reliability_diagram_draws_the_curve():
    curve = reliability_curve(LABELS, RISKS, scores=SCORES)
    folds = [reliability_curve(LABELS[rows], RISKS[rows]) for rows in (FOLD, ~FOLD, FOLD)]
    ax = plot_reliability(curve, folds=folds)
    drawn = line(ax, "all rows: CAL")
    np.testing.assert_allclose(drawn.T, [curve.predicted, curve.observed])
    np.testing.assert_allclose(drawn[:, 1], [0.25, 0.6, 1.0])
    np.testing.assert_allclose(line(ax, "folds").T, [folds[0].predicted, folds[0].observed])
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["folds, test rows", f"all rows: CAL {curve.calibration_error:.1%}"]
    (bars,) = ax.containers
    segments = np.array(bars.lines[2][0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 1], curve.lower)
    np.testing.assert_allclose(segments[:, 1, 1], curve.upper)
    assert is_whole(ax)
    assert not plot_reliability(curve, intervals=False).containers


def test_roc_curve_marks_its_operating_points():
    points = operating_points(LABELS, SCORES)
    ax = plot_roc(points, folds=[operating_points(LABELS[FOLD], SCORES[FOLD])])
    np.testing.assert_allclose(line(ax, "all rows: AUC").T, [points.fpr, points.sensitivity])
    labels = {text.get_text(): text.get_position() for text in ax.texts}
    assert list(labels) == ["≥ 2", "≥ 0", "≥ \N{MINUS SIGN}1"]
    beside = np.subtract(labels["≥ 0"], (points.fpr[2], points.sensitivity[2]))
    assert 0 < beside[0] < 0.03
    assert -0.08 < beside[1] < 0
    assert is_whole(ax)
    assert not plot_roc(points, mark=False).texts


def test_labels_of_operating_points_do_not_overlap():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 3000)
    scores = np.rint(rng.normal(5 * labels, 4)).astype(int)
    assert len(np.unique(scores)) > 25
    ax = plot_roc(operating_points(labels, scores), mark=True)
    assert is_whole(ax)
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 5 < len(boxes) < len(np.unique(scores))
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_decision_curve_is_drawn_with_both_references():
    curve = decision_curve(LABELS, RISKS)
    ax = plot_decision_curve(curve, label="the score")
    np.testing.assert_allclose(line(ax, "the score").T, [curve.thresholds, curve.net_benefit])
    np.testing.assert_allclose(line(ax, "act on all")[:, 1], curve.treat_all)
    assert ax.get_ylim()[0] < curve.net_benefit.min()
    assert ax.get_ylim()[1] > curve.net_benefit.max()
    assert is_whole(ax)


def test_histogram_shows_the_share_of_each_class():
    weight = np.arange(1.0, 12.0)
    ax = plot_score_histogram(LABELS, SCORES, weight, class_names=("alive", "dead"))
    alive, dead = ([bar.get_height() for bar in bars] for bars in ax.containers)
    negative, positive = (k == LABELS for k in (0, 1))
    for heights, rows in ((alive, negative), (dead, positive)):
        expected = [weight[rows & (s == SCORES)].sum() / weight[rows].sum() for s in (-1, 0, 1, 2)]
        np.testing.assert_allclose(heights, expected)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["alive", "dead"]
    assert list(ax.get_xticks()) == [-1, 0, 1, 2]
    assert is_whole(ax)
    real = plot_score_histogram(LABELS, SCORES + 0.25)
    assert len(real.containers[0]) == 20


def test_axes_can_be_given():
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2)
    assert plot_roc(operating_points(LABELS, SCORES), ax=left) is left
    assert plot_decision_curve(decision_curve(LABELS, RISKS), ax=right) is right
    assert figure.axes == [left, right]


def test_colours_differ_in_lightness():
    # Printed in grey, and to people who see few colours, curves must still differ.
    grey = [np.dot(mpl.colors.to_rgb(colour), (0.299, 0.587, 0.114)) for colour in COLOURS[:2]]
    assert abs(grey[0] - grey[1]) > 0.05


def test_without_matplotlib_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="drawing needs matplotlib"):
        plot_roc(operating_points(LABELS, SCORES))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [np.nan, 2]), "Input scores contains NaN"),
        (([0, 1], [1, 2, 3]), r"inconsistent numbers of samples: \[2, 3\]"),
        (([0, 1], [1, 2], [1]), r"inconsistent numbers of samples: \[2, 1\]"),
        (([0, 1], [1, 2], [1, -1]), "Negative values in data passed to `sample_weight`"),
        (([0, 1], [1, 2], [0, 0]), "at least one non-zero"),
    ],
)
def test_histogram_refuses_what_metrics_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_score_histogram(*arguments)


@pytest.mark.parametrize("value", [1e300, 0.3, -7, 2**60])
def test_histogram_of_one_value(value):
    ax = plot_score_histogram([0, 1, 1], [value] * 3)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    assert [max(one) for one in heights] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("low", "high", "inches", "step"),
    [(0, 25, 3, 5), (0, 25, 9, 1), (0, 25, 6, 2), (-3, 3, 3, 1), (-14, 9, 3, 5),
     (1000, 1025, 3, 5), (1000, 1025, 9, 2), (3, 8, 0.4, 10)],
)  # fmt: skip
def test_labels_of_scores_have_room(low, high, inches, step):
    scores = np.arange(low, high + 1)
    figure = plt.figure(figsize=(10, 3))
    ax = figure.add_axes([0.05, 0.2, inches / 10, 0.7])
    plot_score_histogram(np.arange(len(scores)) % 2, scores, ax=ax)
    figure.canvas.draw()
    shown = [one for one in ax.get_xticklabels() if one.get_text()]
    labelled = [int(one.get_text().replace("\u2212", "-")) for one in shown]
    assert labelled == ([k for k in scores if k % step == 0] or [low])
    boxes = [one.get_window_extent() for one in shown]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    assert set(ax.get_xticks(minor=True)) | set(labelled) == set(scores)


def test_labels_of_shares_say_what_they_are():
    rng = np.random.default_rng(0)
    for high, size in ((3, 2.0), (15, 2.0), (25, 4.2), (28, 6.0)):
        figure, ax = plt.subplots(figsize=(6, size))
        plot_score_histogram(rng.integers(0, 2, 500), rng.integers(0, high + 1, 500), ax=ax)
        figure.canvas.draw()
        texts = [one.get_text() for one in ax.get_yticklabels()]
        assert [float(one[:-1]) / 100 for one in texts] == pytest.approx(list(ax.get_yticks()))
        assert all(one.endswith("%") for one in texts)


def test_decision_curve_of_one_threshold():
    curve = decision_curve([0, 1], [0.2, 0.8], thresholds=[0.5])
    np.testing.assert_array_equal(line(plot_decision_curve(curve), "risk score"), [[0.5, 0.5]])


def test_a_decision_curve_ends_where_thresholds_matter():
    """Of an outcome of 2% the curves were in the first tenth of the picture."""
    rng = np.random.default_rng(0)
    risk = rng.beta(1, 49, 4000)
    rare = decision_curve(rng.random(4000) < risk, risk)
    left, right = plot_decision_curve(rare).get_xlim()
    assert left == 0.01
    assert 0.02 < right < 0.3
    bottom, _ = plot_decision_curve(rare).get_ylim()
    assert bottom == pytest.approx(1.1 * min(
        rare.net_benefit[rare.thresholds <= right].min(),
        -0.1 * max(rare.net_benefit.max(), rare.treat_all.max()),
    ))  # fmt: skip
    common = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9])
    assert plot_decision_curve(common).get_xlim() == (0.01, 0.99)
