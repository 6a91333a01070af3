"""What the documents say is what happens: their examples run and their output is the real one."""

from __future__ import annotations

import inspect
import re
import shlex

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import paths
import riskslim
from command_line import invoke
from paths import DOCS, ROOT
from riskslim import RiskScore, metrics, plots
from riskslim.data import summaries

README = paths.README.read_text(encoding="utf-8")
COMMAND_LINE = (DOCS / "command_line.md").read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_the_python_example_prints_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, example, _ = blocks(README, "python")
    namespace = {}
    exec(compile(example, "README.md", "exec"), namespace)
    assert capsys.readouterr().out == blocks(README, "text")[1]
    assert example.count("\n") <= 13  # ten lines of work, the imports and what separates them
    risks = namespace["risks"]
    assert risks.shape == (569,)
    assert namespace["classifier"].certificate_.is_optimal


@pytest.mark.slow
def test_a_raw_table_becomes_a_report_in_ten_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example, *_ = blocks(README, "python")
    assert len([line for line in example.splitlines() if line]) == 10
    namespace = {}
    exec(compile(example, "README.md", "exec"), namespace)
    assert namespace["classifier"].certificate_.optimality_gap < 1e-4
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Risk score: risk of malignancy" in page
    # The pages for those who come first continue with the same score.
    points = dict(namespace["score"].points)
    for name in ("which_settings", "reporting"):
        namespace = {}
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        exec(compile(blocks(text, "python")[0], f"docs/{name}.md", "exec"), namespace)
        for continued in blocks(text, "python continued"):
            exec(compile(continued, f"docs/{name}.md", "exec"), namespace)
        assert dict(namespace["score"].points) == points


def test_the_example_for_those_who_come_from_elsewhere_holds(capsys):
    text = (DOCS / "coming_from.md").read_text(encoding="utf-8")
    (example,), (continued,) = blocks(text, "python"), blocks(text, "python continued")
    namespace = {}
    exec(compile(example, "docs/coming_from.md", "exec"), namespace)
    exec(compile(continued, "docs/coming_from.md", "exec"), namespace)
    rounded, best = re.search(r"rounded (\S+), best (\S+)\n", capsys.readouterr().out).groups()
    assert float(best) < float(rounded)
    # What the tables name exists here.
    ours = "".join(line.split("|")[2] for line in text.splitlines() if line.count("|") == 3)
    known = set()
    for one in (riskslim.RiskSLIMClassifier, riskslim.ItemEncoder, riskslim.model_size_path,
                RiskScore.scorecard, RiskScore.sheet):  # fmt: skip
        known |= inspect.signature(one).parameters.keys()
    named = set(re.findall(r"[`(, ](\w+)=", ours))
    assert {"monotone", "n_solutions", "pdo", "items_per_variable", "missing", "cv"} <= named
    assert named <= known


@pytest.mark.slow
def test_the_page_on_rules_prints_what_is_shown(capsys):
    text = (DOCS / "rules_that_must_not_miss.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    shown = blocks(text, "text")
    assert len(examples) == len(shown) == 7
    namespace = {}
    for example, output in zip(examples, shown, strict=True):
        exec(compile(example, "docs/rules_that_must_not_miss.md", "exec"), namespace)
        assert capsys.readouterr().out == output
    certificate = namespace["score"].certificate
    assert certificate.is_optimal
    assert certificate.rule.is_tie_proven


@pytest.mark.slow
def test_the_page_on_alternatives_prints_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "alternatives.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```(python|python continued|text)\n(.*?)^```$", text, re.M | re.S)
    assert [kind for kind, _ in parts].count("text") == 6
    namespace = {}
    for kind, part in parts:
        if kind == "text":
            assert capsys.readouterr().out == part
        else:
            exec(compile(part, "docs/alternatives.md", "exec"), namespace)
    assert namespace["found"].pool.complete
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="alternatives">' in page
    # The two words of the page are told apart: what is proven is not always there again.
    assert namespace["stable"].sets[0] < namespace["stable"].n_samples


def test_the_demo_prints_what_is_shown():
    result = invoke("demo")
    assert result.exit_code == 0, result.output
    shown = blocks(README, "text")[0]
    ending = r"Search completed after \d+\.\d seconds\.\n"
    assert re.sub(ending, "", result.stdout) == re.sub(ending, "", shown)
    assert re.search(ending, shown)


def test_the_example_of_branch_and_bound_runs(capsys):
    text = (DOCS / "branch_and_bound.md").read_text(encoding="utf-8")
    (example,) = blocks(text, "python")
    exec(compile(example, "docs/branch_and_bound.md", "exec"), {})
    assert "intercept" in capsys.readouterr().out


def test_the_example_of_lattice_cpa_runs():
    text = (DOCS / "lattice_cpa.md").read_text(encoding="utf-8")
    namespace = {}
    exec(compile(blocks(text, "python")[0], "docs/lattice_cpa.md", "exec"), namespace)
    assert namespace["solution"].certificate.is_optimal


def test_the_site_begins_with_the_sheet_of_the_readme():
    sheet = blocks((DOCS / "index.md").read_text(encoding="utf-8"), "text")[0]
    assert sheet.rstrip() in blocks(README, "text")[1]


def test_the_examples_about_certificates_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "certificates.md").read_text(encoding="utf-8")
    (first,) = blocks(text, "python")
    continued = blocks(text, "python continued")
    assert len(continued) == 3
    namespace = {}
    for example in (first, *continued):
        exec(compile(example, "docs/certificates.md", "exec"), namespace)
    assert len(namespace["solution"].trace) > 0
    assert namespace["certificate"].bound_tolerance == pytest.approx(1e-9, rel=0.01)
    assert "`bound_tolerance`, 1e-9 in units of the loss" in text


@pytest.mark.slow
def test_the_guide_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == text.count("```") / 2 == 26
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/guide.md", "exec"), namespace)
    shown = capsys.readouterr().out
    assert "RISK SCORE: probability that died = yes" in shown
    assert "optimal: objective 0." in shown
    assert "rank   objective  intercept  points\n   0  0." in shown
    assert "as its trend in the training rows" in shown.replace("\n", " ")
    assert "if 'age >= 75' is used, 'age >= 60' is used\n" in shown
    assert "these constraints contradict each other: (at most 0 of 'age >= 45'" in shown
    assert float(re.search(r"AUC (0\.\d+)", shown)[1]) > 0.65


# Dask reads Parquet in a way that pandas 3.1 deprecates.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_the_example_of_large_data_runs(capsys):
    text = (DOCS / "large_data.md").read_text(encoding="utf-8")
    example, on_a_cluster = blocks(text, "python")
    namespace = {}
    exec(compile(example, "docs/large_data.md", "exec"), namespace)
    data = namespace["data"]
    assert data.n_samples == 200_000
    assert data.n_rows < 30  # five ranges of age, smokers or not, dead or not; some counted twice
    assert "optimal" in capsys.readouterr().out
    assert namespace["score"].variables["age"].minimum == 20
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("distributed")
    exec(compile(on_a_cluster, "docs/large_data.md", "exec"), namespace)
    assert repr(namespace["data"]) == repr(data)
    assert namespace["data"].n_rows == data.n_rows
    # The figures of the text are those of the code.
    assert f"at most {summaries.MAX_DISTINCT:,} of them" in text
    assert f"a sample of {summaries.SAMPLE_ROWS:,} rows" in text


def test_the_examples_of_cutoffs_print_what_they_say(capsys):
    text = (DOCS / "cutoffs.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == text.count("```") / 2 == 4
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/cutoffs.md", "exec"), namespace)
    assert namespace["classifier"].certificate_.is_optimal
    shown = capsys.readouterr().out
    assert "any cut-off above 10.92 and up to 11.04 splits the training rows alike." in shown
    assert "Other cut-offs that give an objective within 0.1%, all else as it is:" in shown
    values = [item.value for item in namespace["chosen"].encoder_.items_ if item.interval]
    assert values
    assert all(float(f"{value:.2g}") == value for value in values)
    # The table of where cut-offs lie.
    between = pd.DataFrame({"age": [48, 51.37]})
    for parameters, name in (
        ({}, "51.37"), ({"threshold_position": "middle"}, "49.685"),
        ({"round_thresholds": True}, "50"),
    ):  # fmt: skip
        (item,) = riskslim.ItemEncoder(n_thresholds="all", **parameters).fit(between).items_
        assert item.name == f"age >= {name}"
        assert re.search(rf"^\| .*\| {name}[ ,]", text, re.M)


def test_the_examples_of_constraints_hold(capsys):
    text = (DOCS / "constraints.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == text.count("```") / 2 == 7
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/constraints.md", "exec"), namespace)
    shown = capsys.readouterr().out
    assert "these constraints contradict each other: (guideline) and (old)" in shown
    # Every function of the table exists.
    table = "".join(line for line in text.splitlines() if line.startswith("| "))
    for name in re.findall(r"`(\w+)\(", table):
        assert name in riskslim.__all__


def test_the_example_of_a_scale_prints_what_is_shown(capsys):
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    (example,), (shown,) = blocks(text, "python"), blocks(text, "text")
    namespace = {}
    exec(compile(example, "docs/scale.md", "exec"), namespace)
    assert capsys.readouterr().out == shown
    # The table beneath compares with the same score in whole units of log-odds.
    score = namespace["score"]
    points = {name: round(points / 3) for name, points in score.points.items()}
    whole = RiskScore(round(score.intercept / 3), points, feature_names=score.feature_names)
    assert "the score has 2, 1, 1 and 0 points\nand an intercept of -2" in text
    assert ([*points.values()], whole.intercept) == ([2, 1, 1, 0], -2)
    people = {"who does not smoke": (0, 0), "who smokes": (1, 0),
              "who smokes, with hypertension": (1, 1)}  # fmt: skip
    for person, (smoker, hypertension) in people.items():
        row = {"prior stroke": 0, "age >= 75": 1, "smoker": smoker, "hypertension": hypertension}
        cells = [
            cell
            for one in (score, whole)
            for cell in (str(one.score_samples(row)[0]), f"{one.predict_proba(row)[0, 1]:.1%}")
        ]
        assert f"| {person} | {' | '.join(cells)} |" in text


def test_the_sheet_prints_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    text = (DOCS / "score_sheet.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$(?:\n\n^```\w+\n(.*?)^```$)?", text, re.M | re.S)
    assert len(found) == text.count("```python") == 16
    namespace = {}
    for example, shown in found:
        exec(compile(example, "docs/score_sheet.md", "exec"), namespace)
        assert capsys.readouterr().out == shown, example
    plt.close("all")
    # The pictures are these; fonts may differ by a little.
    for name in ("score_sheet.svg", "score_sheet_by_variable.svg"):
        sizes = [
            [float(n) for n in re.search(r'viewBox="0 0 (\S+) (\S+)"', path.read_text()).groups()]
            for path in (tmp_path / name, DOCS / name)
        ]
        assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


@pytest.mark.slow
def test_the_gallery_shows_what_its_lines_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    namespace = {}
    for example in re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S):
        exec(compile(example, "docs/gallery.md", "exec"), namespace)
    plt.close("all")
    score = namespace["score"]
    assert blocks(text, "text") == [f"{score}\n"]
    assert score.to_markdown() in text
    drawn = sorted(path.name for path in tmp_path.glob("*.png"))
    assert drawn == ["diagrams.png", "scorecard.png", "sheet.png", "sheet_by_item.png"]
    for name in drawn:
        # Fonts may differ by a little.
        shapes = [plt.imread(folder / name).shape[:2] for folder in (tmp_path, DOCS / "gallery")]
        assert shapes[0] == pytest.approx(shapes[1], rel=0.05)
    # Every picture is shown, and light.
    pictures = {path.name: path.stat().st_size for path in (DOCS / "gallery").iterdir()}
    assert set(re.findall(r"\(gallery/(.*?)\)", text)) == set(pictures)
    assert max(pictures.values()) < 80_000


def test_the_examples_of_metrics_print_what_is_shown(tmp_path, monkeypatch, capsys):
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", text, re.M | re.S)
    assert len(found) == text.count("```python") == 7
    namespace = {}
    for example, shown in found:
        exec(compile(example, "docs/metrics.md", "exec"), namespace)
        assert capsys.readouterr().out == shown, example
    assert namespace["alarm"].sum() == 365
    assert (tmp_path / "metrics.png").stat().st_size > 10_000
    plt.close("all")
    # The table has all that there is.
    names = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*", text, re.M))))
    assert names == {
        name
        for module in (metrics, plots)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }


@pytest.mark.slow
def test_the_examples_of_model_selection_print_what_is_shown(tmp_path, monkeypatch, capsys):
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "model_selection.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == 7
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/model_selection.md", "exec"), namespace)
    printed = capsys.readouterr().out
    tables = blocks(text, "text")
    assert len(tables) == 2
    for table in tables:
        assert table in printed
    assert "True True\n" in printed
    assert namespace["chosen"].max_size == 5
    plt.close("all")


def test_the_examples_about_the_prior_print_what_is_shown(capsys):
    text = (DOCS / "shrinkage.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == 3
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/shrinkage.md", "exec"), namespace)
    printed = capsys.readouterr().out
    tables = blocks(text, "text")
    assert len(tables) == 2
    for table in tables:
        assert table in printed


@pytest.mark.slow
def test_the_example_of_a_report_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "report.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == text.count("```") / 2 == 2
    namespace = {}
    for example in examples:
        exec(compile(example, "docs/report.md", "exec"), namespace)
    assert capsys.readouterr().out == "True\n"
    # The page has the sections that the table lists, in this order.
    page = namespace["page"]
    listed = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:]
    listed = [name for cell in listed for name in cell.split(", ")]
    for name in ("Groups", "Model size", "Rule", "Alternatives"):  # this page has none
        listed.remove(name)
    assert re.findall("<h2[^>]*>(.*?)</h2>", page[page.index("<main>") :]) == listed
    assert "one size: at most 1 of" in page
    assert (DOCS / "report.png").stat().st_size <= 300_000


def test_the_cut_offs_are_conditions(capsys):
    *_, example = blocks(README, "python")
    namespace = {}
    exec(compile(example, "README.md", "exec"), namespace)
    names = namespace["encoder"].get_feature_names_out().tolist()
    assert names == [
        "age >= 45", "age >= 60", "age >= 75", "BMI >= 25", "BMI >= 30", "BMI is missing", "smoker",
    ]  # fmt: skip
    points = namespace["classifier"].risk_score_.points
    assert points["smoker"] > 0
    assert [points[name] > 0 for name in points if name.startswith("age")] == [True]
    record = {"age": 70, "BMI": None, "smoker": 1}
    assert (
        namespace["model"].predict_proba(pd.DataFrame([record]))[0, 1]
        > namespace["patients"]["died"].mean()
    )
    assert "RISK SCORE" in capsys.readouterr().out


def test_the_first_commands_take_gaps_and_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, ward = rng.integers(20, 95, 100), rng.choice(["surgery", "medicine"], 100)
    lab = np.where(rng.random(100) < 0.2, np.nan, rng.normal(size=100))
    died = np.where(rng.random(100) < 0.2 + 0.4 * (age > 60), "dead", "survived")
    columns = {"id": np.arange(100), "age": age, "ward": ward, "lab": lab, "died": died}
    pd.DataFrame(columns).to_csv("patients.csv", index=False)
    commands = re.findall(r"^    riskslim (.*?)(?: > \S+)?$", README, re.M)
    assert len(commands) == 9
    first, _, show, *_ = (shlex.split(command) for command in commands)
    fitted = invoke(*first, "--max-size", "2", "--positive", "dead")
    assert fitted.exit_code == 0, fitted.output
    assert "probability that died = dead" in invoke(*show).stdout


def test_two_commands_set_up_and_test():
    lines = [line for line in README.splitlines() if line.startswith("    pip ")]
    commands = [line.split("#")[0].strip() for line in lines]
    assert commands == ['pip install ".[cli]" && riskslim demo', 'pip install ".[test]" && pytest']


@pytest.mark.parametrize(
    "command",
    [
        "fit", "predict", "explain", "show", "validate", "scorecard", "recalibrate", "report",
        "export", "demo",
    ],
)  # fmt: skip
def test_every_option_is_documented_with_its_default(command):
    section = re.search(rf"^## riskslim {command}\b.*?(?=^## )", COMMAND_LINE, re.M | re.S)
    documented = set(re.findall(r"`(--[a-z0-9-]+)", section.group()))
    text = invoke(command, "--help").stdout
    # Help texts may name other options: each option starts a line.
    _, *entries = re.split(r"^  (?:-\w, )?(?=--)", text, flags=re.M)
    helps = {entry.split()[0]: entry for entry in entries}
    assert documented == helps.keys() - {"--help"}
    defaults = {
        option: found[1]
        for option, entry in helps.items()
        if (found := re.search(r"\[default:\s+([^;\]]+)\]", entry))
    }
    for option, default in defaults.items():
        (row,) = (line for line in section.group().splitlines() if line.startswith(f"| `{option}"))
        assert row.endswith(f"| {default} |")
    assert len(defaults) >= {"fit": 8, "demo": 1}.get(command, 0)


def test_options_of_alternatives_are_those_of_fit_and_its_own():
    """What is not said of them in their section is as in that of fit."""
    sections = {
        command: re.search(rf"^## riskslim {command}\b.*?(?=^## )", COMMAND_LINE, re.M | re.S)[0]
        for command in ("fit", "alternatives")
    }
    rows = {
        command: dict(re.findall(r"^\| `(--[a-z-]+).*\| (.*) \|$", section, re.M))
        for command, section in sections.items()
    }
    own = set(rows["alternatives"])
    text = invoke("alternatives", "--help").stdout
    _, *entries = re.split(r"^  (?:-\w, )?(?=--)", text, flags=re.M)
    helps = {entry.split()[0]: entry for entry in entries}
    of_fit = set(re.findall(r"`(--[a-z0-9-]+)", sections["fit"]))
    assert own <= helps.keys()
    assert helps.keys() - own - {"--help"} <= of_fit
    for option in own:
        if found := re.search(r"\[default:\s+([^;\]]+)\]", helps[option]):
            assert rows["alternatives"][option] == found[1]


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "CONTRIBUTING.md", "SECURITY.md"),
        *(f"docs/{path.name}" for path in (DOCS).glob("*.md")),
    ],
)
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / document).parent.joinpath(target).exists(), target


def test_contributing_names_what_there_is():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:riskslim|tests|docs|benchmarks)/[\w./]*)`", text))
    assert len(paths) > 20
    for path in paths:
        if "NAME" in path:
            path = path.replace("NAME", "real")
        assert (ROOT / path).exists(), path
    # Names in tables that stand beside their module.
    for module, names in {
        "riskslim/constraints/base.py": ("class Constraint", "class ByRows", "class Resolved"),
        "riskslim/constraints/files.py": ("KINDS",),
        "riskslim/__init__.py": ("_HOMES",),
        "riskslim/_kernels/__init__.py": ("BOTH", "CYTHON_ALONE"),
        "riskslim/cli/arguments.py": ("EXPORTS",),
        "setup.py": ("KERNELS", "HEADERS"),
    }.items():
        for name in names:
            assert re.search(rf"^{name}\b", (ROOT / module).read_text(encoding="utf-8"), re.M)
            assert f"`{name.split()[-1]}`" in text
