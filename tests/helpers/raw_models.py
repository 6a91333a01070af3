"""Scores of items with random raw columns, and records to apply them to."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd

from export_targets import NAMES
from riskslim import ItemEncoder, RiskScore

LEVELS = ["", "a", "A", "it's", 'say "hi"', "back\\slash", "é", "日本", "line\nbreak", "</script>",
          "--", "1", "null", "{x}", "x, y", "%s"]  # fmt: skip
KINDS = ("integer", "real", "boolean", "binary", "text", "code", "flag", "real code")
CODES = ("code", "flag", "real code")


def column(rng, kind, n):
    if kind == "integer":
        return rng.integers(-3, 12, n).tolist()
    if kind == "real":
        return (rng.normal(0, 10.0 ** int(rng.integers(-2, 5)), 9)[rng.integers(0, 9, n)]).tolist()
    if kind in ("boolean", "flag"):
        return (rng.random(n) < 0.4).tolist()
    if kind == "binary":
        return rng.integers(0, 2, n).tolist()
    if kind == "code":
        return rng.choice([1, 2, 7, -4], n).tolist()
    if kind == "real code":
        return rng.choice([1.0, 2.5, 0.1], n).tolist()
    return rng.choice(rng.choice(LEVELS, 5, replace=False), n).tolist()


def a_model(rng, names):
    """A score of an encoder's items, the kinds of its columns, and records."""
    while True:
        n = 40
        kinds = {str(name): str(rng.choice(KINDS)) for name in rng.choice(names, 4, replace=False)}
        frame = pd.DataFrame({name: column(rng, kind, n) for name, kind in kinds.items()})
        for name in kinds:
            if rng.random() < 0.5:
                frame[name] = frame[name].astype(object).where(rng.random(n) > 0.2, None)
        encoder = ItemEncoder(
            special_values=special_values(rng, frame, kinds),
            n_thresholds=3,
            direction=str(rng.choice([">=", "<="])),
            missing="indicator",
            min_frequency=int(rng.integers(1, 6)),
            categorical=[name for name, kind in kinds.items() if kind in CODES],
        )  # fmt: skip
        names = [item.name for item in encoder.fit(frame).items_]
        chosen = rng.choice(names, min(len(names), int(rng.integers(1, 7))), replace=False)
        points = {str(name): int(rng.choice([-5, -2, -1, 1, 2, 3])) for name in chosen}
        scale = float(rng.choice([1.0, 1.7]))
        try:
            score = RiskScore(int(rng.integers(-5, 6)), points, feature_names=names, scale=scale)
            score = score.with_variables(encoder)
        except ValueError:
            continue  # names that do not say what they are
        kinds = {name: kinds[name] for name in score.variables}
        records = frame[list(kinds)].to_dict("records")[:8]
        for record in records[:2]:
            for name, kind in kinds.items():
                if kind in ("integer", "real") and record[name] is not None:
                    record[name] = record[name] * 3  # outside of the training data
        return (
            score,
            kinds,
            [{name: plain(value) for name, value in one.items()} for one in records],
        )


def special_values(rng, frame, kinds):
    """Some of the values of some of the columns of numbers, by themselves and in groups."""
    special = {}
    for name, kind in kinds.items():
        known = sorted(frame[name].dropna().unique())
        if kind in ("integer", "real") and rng.random() < 0.5 and len(known) > 3:
            one, *others = (float(value) for value in rng.choice(known, 3, replace=False))
            special[name] = [one, others] if rng.random() < 0.5 else [one, -77]
    return special


def plain(value):
    return None if value is None or value != value else value


@functools.cache
def models(seed, count, names=tuple(NAMES)):
    """Models that are made once, for whatever runs them."""
    rng = np.random.default_rng(seed)
    return tuple(a_model(rng, names) for _ in range(count))
