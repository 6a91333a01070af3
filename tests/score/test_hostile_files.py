"""Score files with values that nobody would write: a sentence with file and field, or a score."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import invoke
from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.cli.exit_codes import EXIT_USAGE

HUGE = 10**400
COMMANDS = [
    ["show", "s.json"],
    ["scorecard", "s.json"],
    *(["export", "s.json", "--format", kind] for kind in ("sql", "python", "pmml", "html")),
]


@pytest.fixture(scope="module")
def score() -> RiskScore:
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, 300).round(1)
    visits = rng.integers(0, 5, 300)
    visits[:40] = -9
    X = {"age": age, "visits": visits, "dose": rng.normal(size=300)}
    y = rng.random(300) < 1 / (1 + np.exp(-(age - 50) / 5 - (visits > 2)))
    items = ItemEncoder(special_values={"visits": [-9]})
    model = RiskSLIMClassifier(items=items, max_size=5, time_limit=5)
    return model.fit(pd.DataFrame(X), y).risk_score_


def changed(score: RiskScore, *path, value) -> Path:
    plain = json.loads(score.to_json())
    place = plain
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    Path("s.json").write_text(json.dumps(plain))
    return Path("s.json")


def point(score: RiskScore, key: str) -> int:
    """Position of a feature with an entry of its item."""
    entries = json.loads(score.to_json())["points"]
    return next(k for k, entry in enumerate(entries) if (entry.get("item") or {}).get(key))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(path: Path, *words: str) -> None:
    with pytest.raises(ValueError, match=r"^s\.json: ") as error:
        RiskScore.load(path)
    assert all(word in str(error.value) for word in words), error.value
    for command in COMMANDS:
        result = invoke(*command)
        assert result.exit_code == EXIT_USAGE, result.output
        assert result.stderr.startswith("Error: s.json: ")
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, math.inf, math.nan], ids=lambda value: str(value)[:5]
)
def test_numbers_that_are_none(score, value):
    k = point(score, "interval")
    refused(changed(score, "points", k, "item", "interval", value=[0.0, value]), "interval")
    if value in (HUGE, -HUGE):
        gap = changed(score, "certificate", "optimality_gap", value=value)
        refused(gap, "'optimality_gap' of the certificate")
    for name in ("objective", "lower_bound", "bound_tolerance"):
        if value != math.inf or name != "lower_bound":
            refused(changed(score, "certificate", name, value=value), name.replace("_", " ")[:5])
    k = point(score, "special")
    refused(changed(score, "points", k, "item", "special", value=[value]), "special")
    refused(changed(score, "intercept", value=value), "intercept")
    refused(changed(score, "scale", value=value), "scale")
    refused(changed(score, "points", 0, "maximum", value=value), "maximum")


@pytest.mark.parametrize("ends", [(0.0, 1e308), (-1.7e308, 1.7e308), (0, 10**301)])
@pytest.mark.parametrize("is_integer", [True, False])
def test_ranges_beyond_all_scores(ends, is_integer):
    plain = json.loads(RiskScore(-1, {"dose": 2}).to_json())
    entry = plain["points"][0]
    entry |= {"is_integer": is_integer, "values": None}
    entry["minimum"], entry["maximum"] = ends
    Path("s.json").write_text(json.dumps(plain))
    refused(Path("s.json"), "'dose'", "make scores beyond 1e+300")


@pytest.mark.parametrize("name", ["", "x", "a\nb", " "])
def test_an_item_of_a_variable_that_is_not_known_is_a_column_of_its_own(score, name):
    Path("s.json").write_text(score.to_json())
    plain = json.loads(score.to_json())
    renamed = plain["variables"][0]["name"]
    path = changed(score, "variables", 0, "name", value=name)
    other = RiskScore.load(path)
    assert renamed not in other.variables
    items = [one for one, item in other.items.items() if item.variable == renamed]
    assert items
    for command in COMMANDS:
        result = invoke(*command)
        assert result.exit_code == 0, result.output
    assert items[0] in invoke("export", "s.json", "--format", "sql").stdout
