"""Columns that may be codes: named where the outcome neither rises nor falls, and nowhere else."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run
from riskslim import ItemEncoder
from riskslim.items.codes import _monotone, code_rates

N = 200


def column(*counts: int) -> tuple[np.ndarray, np.ndarray]:
    """Values 1, 2, ... of N rows each, so many of them with the outcome."""
    values = np.repeat(np.arange(1, len(counts) + 1), N)
    return values, np.concatenate([np.arange(N) < count for count in counts])


CODES, RISING = column(40, 120, 30, 130), column(30, 60, 90, 120)


@pytest.mark.parametrize(
    ("counts", "is_named"),
    [
        ((40, 120, 30, 130), True),
        ((30, 60, 90, 120), False),
        ((120, 90, 60, 30), False),
        ((60, 60, 60, 60), False),
        ((60, 66, 58, 64), False),  # by chance
        ((10, 60, 55, 180), False),  # nearly all of it is in the order
        ((20, 100, 20), True),
        ((20, 100), False),
        (tuple([20, 100] * 6), True),
        (tuple([20, 100] * 7), False),  # too many values
    ],
)
def test_columns_are_named_where_the_rates_have_no_order(counts, is_named):
    values, positive = column(*counts)
    found = code_rates(values, np.ones(len(values)), positive)
    assert (found is not None) == is_named
    if found is not None:
        assert found == {k + 1.0: count / N for k, count in enumerate(counts)}


@given(st.lists(st.tuples(st.integers(1, 29), st.integers(0, 29)), min_size=2, max_size=5))
def test_the_best_rates_that_rise_are_those_of_a_search(table):
    n = np.array([float(count) for count, _ in table])
    events = np.array([float(count % (of + 1)) for of, count in table])
    k = len(n)

    def log_likelihood(blocks):
        total = 0.0
        for rows in blocks:
            size, count = n[rows].sum(), events[rows].sum()
            for part, share in ((count, count / size), (size - count, 1 - count / size)):
                total += part * np.log(share) if part else 0.0
        return total

    best = -np.inf  # of all ways to join neighbours whose rates then rise
    for cuts in itertools.product((False, True), repeat=k - 1):
        blocks = np.split(np.arange(k), [j + 1 for j, cut in enumerate(cuts) if cut])
        rates = [events[rows].sum() / n[rows].sum() for rows in blocks]
        if all(a <= b for a, b in itertools.pairwise(rates)):
            best = max(best, log_likelihood(blocks))
    assert _monotone(n, events) == pytest.approx(best, abs=1e-9)


def test_weights_count_relative_to_their_mean():
    values, positive = CODES
    once = code_rates(values, np.ones(len(values)), positive)
    assert code_rates(values, np.full(len(values), 1e-6), positive) == pytest.approx(once)
    few = column(2, 6, 1, 6)[1][:: N // 10]
    assert code_rates(values[:: N // 10], np.full(len(few), 1e6), few) is None


def test_an_encoder_names_them_where_it_knows_the_outcome(caplog):
    values, positive = CODES
    unknown = np.where(values < 4, values, -9)
    X = pd.DataFrame({"ward": values, "age": np.arange(len(values)), "unknown": unknown})
    with caplog.at_level(logging.WARNING):
        encoder = ItemEncoder(special_values=[-9]).fit(X, np.where(positive, "yes", "no"))
    assert list(encoder.possible_codes_) == ["ward", "unknown"]
    assert list(encoder.possible_codes_["unknown"]) == [1.0, 2.0, 3.0]
    (note,) = (one.getMessage() for one in caplog.records if "neither rises" in one.getMessage())
    assert "'ward' (1: 20%, 2: 60%, 3: 15%, 4: 65%)" in note
    # Cut-offs that are given, levels, and columns that stay as they are say what the numbers are.
    for settings in (
        {"thresholds": {"ward": [2, 3], "unknown": [2]}},
        {"categorical": ["ward", "unknown"]},
        {"numeric": ["ward", "unknown"]},
    ):
        assert ItemEncoder(**settings).fit(X, positive).possible_codes_ == {}
    # Without an outcome of two values nothing is known.
    assert ItemEncoder().fit(X).possible_codes_ == {}
    assert ItemEncoder().fit(X, values).possible_codes_ == {}


def test_a_fit_on_the_command_line_says_it_once(tmp_path):
    path = tmp_path / "rows.csv"
    X = pd.DataFrame({"ward": CODES[0], "age": CODES[0] * 10 + np.arange(len(CODES[0])) % 7})
    X.assign(died=CODES[1].astype(int)).to_csv(path, index=False)
    arguments = ("fit", path, "--outcome", "died", "--items", "--max-size", 1)
    assert run(*arguments).stderr.count("'ward' (1: 20%, 2: 60%, 3: 15%, 4: 65%)") == 1
    assert "neither rises" not in run(*arguments, "--categorical", "ward").stderr
    X.assign(died=RISING[1].astype(int)).to_csv(path, index=False)
    assert "neither rises" not in run(*arguments).stderr
