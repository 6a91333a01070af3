"""The section on alternatives: its figures are those of the list, and its filters keep what fits.

The checks in a browser need ``chromium`` and ``chromedriver`` on the PATH.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re

import numpy as np
import pytest

from command_line import run
from listed import listed, made_up
from pages import click, parsed, table, text_of
from riskslim import RiskScore
from riskslim.near_optimal import Stability
from riskslim.near_optimal.prices import ItemPrice
from riskslim.report import alternatives as section
from riskslim.report import render
from riskslim.report.records import records
from riskslim.report.rows import judged_rows
from riskslim.solution import percent

SCORES = "Scores of the list"


def page() -> str:
    """A report with all that can be known of alternatives."""
    return report_on(listed().found)


@functools.lru_cache(maxsize=1)
def report_on(found) -> str:
    one = listed()
    return render(one.score, one.X, one.y, n_resamples=0, alternatives=found)


def page_of(found, score: RiskScore | None = None, n: int = 60) -> str:
    """A report on made-up alternatives, on rows that have nothing to do with them."""
    names = found.solution.feature_names
    score = score or RiskScore(-3, found.pool.points(0), feature_names=names)
    rng = np.random.default_rng(0)
    X = {name: rng.integers(0, 2, n) for name in names}
    return render(score, X, np.arange(n) % 2, n_resamples=0, alternatives=found)


@functools.cache
def names_of(n: int) -> tuple[list[str], list[str]]:
    """Names of items, three for each variable."""
    variables = [f"variable number {k // 3}" for k in range(n)]
    return [f"{name} >= {k % 3}" for k, name in enumerate(variables)], variables


# --- figures --------------------------------------------------------------------------------------


def column(rows: list, head: str) -> list:
    """Cells of a column of a table."""
    place = [text for text, _ in rows[0]].index(head)
    return [row[place] for row in rows[1:]]


def test_scores_are_those_of_the_list():
    found = listed().found
    rows = table(parsed(page()), SCORES)
    assert len(found) > 20
    assert [value for _, value in column(rows, "Rank")] == list(range(len(found)))
    assert column(rows, "Rank")[0][0] == "0 (this score)"
    shares = [found.share(rank) for rank in range(len(found))]
    assert column(rows, "Above the best") == [(percent(one), one) for one in shares]
    training, test = found.measures
    for head, values in (
        ("AUC, training rows", training.auc),
        ("AUC, test rows", test.auc),
        ("CAL, test rows", test.cal),
        ("sensitivity gap, test rows", test.sensitivity_gap),
        ("specificity gap, test rows", test.specificity_gap),
    ):
        assert [value for _, value in column(rows, head)] == values.tolist()
    for rank, (text, _) in enumerate(column(rows, "Items with points")):
        points = dict(re.findall(r"(.+?) \((\S+)\)(?:, |$)", text))
        known = {
            name: str(worth).replace("-", "\u2212")
            for name, worth in found.pool.points(rank).items()
        }
        assert points == known


def test_variables_and_costs_are_those_of_the_items():
    found = listed().found
    variable = dict(zip(found.solution.feature_names, found.variables, strict=True))
    used = [{variable[name] for name in found.items(rank)} for rank in range(len(found))]
    rows = table(parsed(page()), SCORES)
    assert [value for _, value in column(rows, "Variables")] == list(map(len, used))
    costs = [sum(found.costs.get(name, 0) for name in one) for one in used]
    assert [value for _, value in column(rows, "Cost")] == costs
    assert set(costs) >= {2, 30, 32}
    came_back = [value for _, value in column(rows, "Came back")]
    assert came_back == [count / found.stability.n_samples for count in found.stability.sets]


def test_lines_by_variables_have_all_scores():
    found = listed().found
    rows = table(parsed(page()), "Scores by the variables that they ask for")
    assert sum(value for _, value in column(rows, "Scores")) == len(found)
    lines = found.lines()
    assert [value for _, value in column(rows, "Rank of the best")] == [
        one.ranks[0] for one in lines
    ]
    for (text, _), line in zip(column(rows, "Variables"), lines, strict=True):
        for name in set(line.names):
            n = line.names.count(name)
            assert (f"{name} ({n} items)" if n > 1 else name) in text.split(", ")


def test_prices_are_those_of_the_items():
    found = listed().found
    root = parsed(page())
    for kind, prices in (("item", found.prices), ("variable", found.variable_prices)):
        rows = table(root, f"Price of each {kind}")
        by_name = {price.feature: price for price in prices}
        assert len(rows) - 1 == len(by_name)
        order = [by_name[row[0][0]] for row in rows[1:]]
        used = [price.is_used for price in order]
        assert used == sorted(used, reverse=True)
        assert any(used)
        assert not all(used)
        costs = [price.price for price in order if price.is_used]
        assert costs == sorted(costs, reverse=True)
        for price, row in zip(order, rows[1:], strict=True):
            assert row[1][0] == ("without it" if price.is_used else "with it")
            assert row[2][1] == price.price
            assert row[3][1] == price.lowest_price
            assert row[4][0] == (
                "proven" if price.is_proven else "open: the price is between the two"
            )


def test_what_is_not_proven_is_said_in_words():
    found = listed().found
    best = found.objective(0)
    prices = (
        ItemPrice("age >= 55", True, 1.2 * best, 1.1 * best, best, None, is_proven=False),
        ItemPrice("age >= 40", True, np.inf, 1.3 * best, best, None, is_proven=False),
        ItemPrice("HbA1c >= 5", False, np.inf, np.inf, best, None, is_proven=True),
    )
    bounds = np.array([found.objective(rank) for rank in range(len(found))])
    bounds[3] = best * (1 + 0.5 * found.share(3))
    pool = dataclasses.replace(found.pool, lower_bounds=bounds)
    changed = dataclasses.replace(
        found, prices=prices, variable_prices=(),
        solution=dataclasses.replace(found.solution, pool=pool),
    )  # fmt: skip
    root = parsed(report_on(changed))
    rows = {row[0][0]: [text for text, _ in row[1:]] for row in table(root, "Price of each item")}
    assert rows["age >= 55"] == [
        "without it", "20.00%", "10.00%", "open: the price is between the two",
    ]  # fmt: skip
    assert rows["age >= 40"] == ["without it", "-", "30.00%", "open: none was found"]
    assert rows["HbA1c >= 5"] == ["with it", "-", "-", "proven: no score meets the requirements"]
    (drawing,) = (
        one.get("aria-label") for one in root.iter("svg") if "Prices" in one.get("aria-label")
    )
    assert "age >= 55 10.00% to 20.00%" in drawing
    assert "age >= 40 at least 30.00%" in drawing
    cells = column(table(root, SCORES), "Above the best")
    least = percent(bounds[3] / best - 1)
    assert cells[3][0] == f"{percent(found.share(3))} (at least {least})"
    assert sum("at least" in text for text, _ in cells) == 1
    notes = [text_of(one) for one in root.iter("p")]
    assert any("Of 1 of them this is not proven" in one for one in notes)


def test_agreement_is_that_of_all_rows_and_groups():
    root = parsed(page())
    for agreement in listed().found.agreement:
        rows = table(root, f"Do the scores agree? {agreement.rows}")
        assert [text for text, _ in column(rows, "Rows")] == ["all rows", "f", "m"]
        expected = [
            [one.n_rows, one.ambiguity, one.discrepancy, one.mean_range, one.largest_range]
            for one in agreement.groups
        ]
        assert [[value for _, value in row[1:]] for row in rows[1:]] == expected
        assert any(agreement.explain() in text_of(one) for one in root.iter("p"))
    (drawing,) = (
        one.get("aria-label") for one in root.iter("svg") if "Range of" in one.get("aria-label")
    )
    shares = listed().found.agreement[0].groups[0].range_shares
    assert f"{shares[0]:.1%} of under 5, {shares[1]:.1%} of 5 to 10" in drawing


def test_stability_is_that_of_the_samples():
    stability = listed().found.stability
    root = parsed(page())
    for kind, counts in (("item", stability.items), ("variable", stability.variables)):
        rows = table(root, f"How often the best score has each {kind}")
        assert {row[0][0]: row[1][1] for row in rows[1:]} == counts
        assert [row[2][1] for row in rows[1:]] == [count / 6 for count in counts.values()]
    assert any(stability.explain() in text_of(one) for one in root.iter("p"))


def test_picture_has_the_points_of_each_score():
    found = listed().found
    (drawing,) = (one for one in parsed(page()).iter("svg") if "matrix" in (one.get("class") or ""))
    columns = [one for one in drawing.iter("g") if one.get("class") == "score"]
    assert len(columns) == len(found)
    used = {name for rank in range(len(found)) for name in found.items(rank)}
    assert used <= {text_of(one) for one in drawing.iter("text")}
    for rank, one in enumerate(columns):
        points = [*found.pool.points(rank).values()]
        shapes = {path.get("class").split()[0]: 0 for path in one.iter("path")}
        for path in one.iter("path"):
            shapes[path.get("class").split()[0]] += path.get("d").count("M")
        expected = {"more": sum(p > 0 for p in points), "less": sum(p < 0 for p in points)}
        assert shapes == {kind: count for kind, count in expected.items() if count}
        assert text_of(one.find("title")).startswith(f"Rank {rank}: {percent(found.share(rank))}")
        # Above the best, and the AUC on both sets of rows.
        assert len(list(one.iter("circle"))) == 3


def test_a_bare_list_is_enough():
    one = listed()
    empty = {
        "prices": (),
        "variable_prices": (),
        "measures": (),
        "agreement": (),
        "stability": None,
    }
    found = dataclasses.replace(one.found, costs=None, **empty)
    root = parsed(report_on(found))
    heads = [text for text, _ in table(root, SCORES)[0]]
    assert heads == ["Rank", "Above the best", "Items with points", "Variables"]
    captions = [text_of(caption) for caption in root.iter("caption")]
    assert not [text for text in captions if re.match("Price|Do the scores|How often", text)]


# --- the page -------------------------------------------------------------------------------------


def test_a_page_of_many_scores_is_small():
    names = [f"{name} and some more of its name" for name in names_of(90)[0]]
    found = made_up(names, names_of(90)[1], 500)
    text = page_of(found)
    assert len(text.encode()) < 2_000_000
    rows = table(parsed(text), SCORES)
    assert len(rows) == 501
    assert len(rows[0]) == 9  # with measures on two sets of rows


def test_of_longer_lists_the_best_are_shown():
    names, variables = names_of(30)
    found = made_up(names, variables, 620)
    root = parsed(page_of(found))
    assert len(table(root, SCORES)) == 501
    summary = next(text_of(one) for one in root.iter("p") if "sets of items" in text_of(one))
    assert "620 sets of items" in summary
    assert "This page has the best 500 of them." in summary
    # What is not on the page is at least as far above the best as the first that is not.
    (script,) = root.iter("script")
    known = float(re.search("const alternativeKnown = (.*);", script.text)[1])
    assert found.share(500) - 1e-4 < known <= found.share(500)


@pytest.mark.usefixtures("no_diagrams")
def test_what_is_known_is_rounded_down():
    names, variables = names_of(9)
    found = made_up(names, variables, 10)
    for bound, text in ((0.505, "0.01"), (0.50499, "0.0099"), (0.5, "0.0"), (np.inf, "null")):
        pool = dataclasses.replace(found.pool, bound=bound)
        solution = dataclasses.replace(found.solution, pool=pool)
        root = parsed(page_of(dataclasses.replace(found, solution=solution)))
        (script,) = root.iter("script")
        assert re.search("const alternativeKnown = (.*);", script.text)[1] == text


def test_a_list_of_one_score_without_items(shown, browser):
    names, variables = names_of(3)
    found = made_up(names, variables, 1)
    pool = dataclasses.replace(found.pool, coefficients=np.array([[-3, 0, 0, 0]]))
    solution = dataclasses.replace(found.solution, coefficients=np.zeros(3, np.int64), pool=pool)
    text = page_of(dataclasses.replace(found, solution=solution))
    ((*_, items, size),) = [row[:4] for row in table(parsed(text), SCORES)[1:]]
    assert (items, size) == (("none", None), ("0", 0))
    assert shown(text) == ([], set())
    assert browser.execute_script(LEFT)[:3] == [[True], [True], "1 of 1 score"]


@pytest.mark.usefixtures("no_diagrams")
def test_samples_without_a_search_say_nothing():
    found = listed().found
    none = Stability(5, 0, 0, 0, {}, {}, (0,) * len(found), ())
    root = parsed(report_on(dataclasses.replace(found, stability=none)))
    assert "Came back" not in [text for text, _ in table(root, SCORES)[0]]
    assert not [one for one in root.iter("caption") if "How often" in text_of(one)]


@pytest.mark.usefixtures("no_diagrams")
def test_the_score_of_the_report_is_marked():
    names, variables = names_of(9)
    found = made_up(names, variables, 10)
    chosen = RiskScore(-3, found.pool.points(4), feature_names=names)
    root = parsed(page_of(found, chosen))
    marked = [text for text, _ in column(table(root, SCORES), "Rank") if "this score" in text]
    assert marked == ["4 (this score)"]
    assert "The score of this report is that of rank 4." in text_of(root)
    other = RiskScore(-2, found.pool.points(4), feature_names=names)
    text = text_of(parsed(page_of(found, other)))
    assert "The score of this report is none of these." in text


@pytest.mark.usefixtures("no_diagrams")
def test_names_of_any_kind_are_text():
    names = [
        "</script><i>",
        '"><b>',
        "a & b",
        "__proto__",
        "{{ 7 * 7 }}",
        "half \ud800",
        "\u2028 x",
    ]
    found = made_up(names, names, 20)
    score = RiskScore(-3, found.pool.points(0), feature_names=names)
    root = parsed(page_of(found, score))
    for tag in ("b", "i"):
        assert list(root.iter(tag)) == []
    labels = [text_of(one) for one in root.iter("label") if "alternatives-v" in one.get("for", "")]
    assert len(labels) == len(names)
    assert any(label.startswith("{{ 7 * 7 }} (") for label in labels)


def test_without_javascript_everything_is_there():
    root = parsed(page())
    (form,) = (one for one in root.iter("form") if one.get("id") == "alternatives-filters")
    assert form.get("hidden") is not None
    (part,) = (one for one in root.iter("div") if one.get("id") == "alternatives-list")
    assert not [one for one in part.iter() if one.get("hidden") is not None]
    assert any("Filters need JavaScript" in text_of(one) for one in root.iter("noscript"))


@pytest.mark.usefixtures("no_diagrams")
def test_other_things_are_refused():
    one = listed()
    with pytest.raises(TypeError, match=r"what riskslim\.alternatives returns, got dict"):
        render(one.score, one.X, one.y, alternatives={"sets": []})
    names, variables = names_of(9)
    with pytest.raises(ValueError, match="about 9 features that are not the"):
        render(one.score, one.X, one.y, alternatives=made_up(names, variables, 5))
    pool = dataclasses.replace(
        one.found.pool, coefficients=one.found.pool.coefficients[:0], objectives=np.zeros(0)
    )
    empty = dataclasses.replace(
        one.found, solution=dataclasses.replace(one.found.solution, pool=pool)
    )
    with pytest.raises(ValueError, match="no alternatives: no risk score was found"):
        render(one.score, one.X, one.y, alternatives=empty)


def test_command_line(tmp_path):
    one = listed()
    one.score.save(tmp_path / "score.json")
    one.found.save(tmp_path / "sets.json")
    one.X.assign(diabetes=one.y).to_csv(tmp_path / "rows.csv", index=False)
    made = tmp_path / "report.html"
    arguments = ["report", tmp_path / "score.json", tmp_path / "rows.csv", "--output", made]
    figures = tmp_path / "figures.csv"
    run(*arguments, "--resamples", 0, "--alternatives", tmp_path / "sets.json",
        "--metrics-output", figures)  # fmt: skip
    assert "\n,alternative,,0,above_best,0.0,," in figures.read_text(encoding="utf-8")
    rows = table(parsed(made.read_text(encoding="utf-8")), SCORES)
    assert [value for _, value in column(rows, "Rank")] == list(range(len(one.found)))
    made.unlink()
    result = run(*arguments, "--alternatives", tmp_path / "score.json", code=2)
    assert "not a list of alternatives" in result.stderr
    assert not made.exists()


def test_records_are_the_figures_of_the_page():
    one = listed()
    found = records(
        one.score, judged_rows(one.score, (one.X, one.y, None), n_resamples=0), (), one.found
    )
    by_part: dict[str, list[dict]] = {}
    for record in found:
        by_part.setdefault(record["part"], []).append(record)
    root = parsed(page())
    rows = table(root, SCORES)
    for head, data, statistic in (
        ("Above the best", "", "above_best"),
        ("AUC, training rows", "training rows", "auc"),
        ("CAL, test rows", "test rows", "cal"),
    ):
        values = [
            (record["name"], record["value"])
            for record in by_part["alternative"]
            if (record["data"], record["statistic"]) == (data, statistic)
        ]
        assert values == [*enumerate(value for _, value in column(rows, head))]
    prices = {record["name"]: record for record in by_part["price"]}
    for kind in ("item", "variable"):
        for row in table(root, f"Price of each {kind}")[1:]:
            record = prices[row[0][0]]
            assert (record["value"], record["lower"]) == (row[2][1], row[3][1])
            assert f"{record['statistic']} it" == row[1][0]
    for agreement in one.found.agreement:
        cells = table(root, f"Do the scores agree? {agreement.rows}")[1:]
        depends = {
            record["name"] or "all rows": record["value"]
            for record in by_part["agreement"]
            if (record["data"], record["statistic"]) == (agreement.rows, "ambiguity")
        }
        assert depends == {row[0][0]: row[2][1] for row in cells}


# --- in a browser ---------------------------------------------------------------------------------


LEFT = """
return [[...document.querySelectorAll("#alternatives-list tbody tr")].map((row) => !row.hidden),
        [...document.querySelectorAll("#alternatives-picture .score")].map(
          (one) => !one.classList.contains("off")),
        document.getElementById("alternatives-count").textContent,
        document.getElementById("alternatives-best").textContent];
"""
ASK = """
for (const [id, value] of arguments[0]) { document.getElementById(id).value = value; }
document.getElementById("alternatives-filters").dispatchEvent(new Event("input"));
"""


def asked(browser, found, items, variables, size=None, above=None) -> list[int]:
    """Ask for items, variables, sizes and shares, and compare what is left with what has to be."""
    shown = section.Listing.of(listed().score, found)
    names = [*dict.fromkeys(shown.variables)]
    values = [(f"alternatives-item-{k}", items.get(name, "")) for k, name in enumerate(shown.items)]
    values += [
        (f"alternatives-variable-{k}", variables.get(name, "")) for k, name in enumerate(names)
    ]
    values += [("alternatives-size", "any number" if size is None else str(size))]
    values += [("alternatives-above", "" if above is None else str(above))]
    browser.execute_script(ASK, values)
    variable = dict(zip(found.solution.feature_names, found.variables, strict=True))
    expected = []
    for rank in range(len(found)):
        has = set(found.items(rank))
        asks = {variable[name] for name in has}
        wanted = [(name in has) == (word == "with") for name, word in items.items()]
        wanted += [(name in asks) == (word == "with") for name, word in variables.items()]
        if (
            all(wanted)
            and (size is None or len(asks) <= size)
            and (above is None or 100 * found.share(rank) <= above)
        ):
            expected.append(rank)
    rows, columns, count, best = browser.execute_script(LEFT)
    assert rows == columns
    assert [rank for rank, left in enumerate(rows) if left] == expected
    assert count == f"{len(expected)} of {len(found)} scores"
    if expected:
        first = expected[0]
        share = percent(found.share(first))
        said = f"The best of them has rank {first}, {share} above the best."
        assert best == (said if first else "The best score of all, of rank 0, is among them.")
    else:
        assert best.startswith("None is left")
    return expected


def test_filters_keep_what_fits(shown, browser):
    found = listed().found
    assert shown(page()) == ([], set())
    names = sorted({name for rank in range(len(found)) for name in found.items(rank)})
    variables = ["age", "glucose", "HbA1c", "sex"]
    rng = np.random.default_rng(0)
    counts = [len(asked(browser, found, {}, {}))]
    for word, name in itertools.product(("with", "without"), variables):
        counts.append(len(asked(browser, found, {}, {name: word})))
    for size, above in ((2, None), (2, 1.5), (None, 0.5), (3, 0), (None, 100)):
        counts.append(len(asked(browser, found, {}, {}, size, above)))
    for _ in range(30):
        words = dict(
            zip(rng.permutation(names)[:2], rng.permutation(["with", "without"]), strict=True)
        )
        others = {str(rng.choice(variables)): str(rng.choice(["with", "without"]))}
        above = None if rng.random() < 0.7 else round(3 * rng.random(), 2)
        counts.append(len(asked(browser, found, words, others, None, above)))
    assert counts[0] == len(found)
    assert sum(0 < count < len(found) for count in counts) > 20
    click(browser, "#alternatives-filters button[type=reset]")
    browser.execute_async_script("setTimeout(arguments[0], 20)")
    assert browser.execute_script(LEFT)[2] == f"{len(found)} of {len(found)} scores"


def test_nobody_is_told_more_than_is_known(shown, browser):
    names, variables = names_of(9)
    found = made_up(names, variables, 12)
    nothing = [(f"alternatives-variable-{k}", "without") for k in range(3)]
    said = "return document.getElementById('alternatives-best').textContent"
    for bound, above, text in (
        (0.505, "", "no score less than 1% above the best has what you ask for."),
        (0.505, "0.3", "no score less than 0.3% above the best has what you ask for."),
        (0.505, "7", "no score less than 1% above the best has what you ask for."),
        (0.5, "", ""),
        (np.inf, "", "no score that meets the requirements has what you ask for."),
        (np.inf, "7", "no score less than 7% above the best has what you ask for."),
    ):
        pool = dataclasses.replace(found.pool, bound=bound)
        solution = dataclasses.replace(found.solution, pool=pool)
        shown(page_of(dataclasses.replace(found, solution=solution)))
        browser.execute_script(ASK, [*nothing, ("alternatives-above", above)])
        assert browser.execute_script(said) == (
            f"None is left: {text}" if text else "None is left."
        )


def test_paper_has_all_scores_and_no_filters(shown, browser):
    shown(page(), 680)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        seen = """
        const style = (one) => getComputedStyle(document.querySelector(one));
        const part = document.querySelector("#alternatives-list > .scroll");
        return [style("#alternatives-filters").display, part.scrollHeight <= part.clientHeight + 1,
                document.querySelector(".matrix").getBoundingClientRect().width]"""
        display, is_whole, width = browser.execute_script(seen)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert display == "none"
    assert is_whole
    assert 300 < width <= 680
