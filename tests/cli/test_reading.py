"""``riskslim fit`` on files that do not fit in memory, on several, and on folders of them."""

from __future__ import annotations

import io
import os
import signal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run, usage_error
from programs import start_program
from riskslim import RiskScore
from riskslim.cli.apply import _write_predictions
from riskslim.cli.arguments import bytes_of
from riskslim.cli.progress import ReadingProgress
from riskslim.data import batches
from riskslim.reader import bytes_in_memory
from riskslim.rows.reading import ReadProgress

FIT = ["--outcome", "died", "--items", "--n-thresholds", "3", "--missing", "indicator"]
FIT += ["--max-size", "3", "--quiet"]


def frame(n: int = 3000) -> pd.DataFrame:
    random = np.random.default_rng(0)
    columns = {
        "age": random.integers(18, 95, n),
        "ward": random.choice(["A", "B", "C"], n),
        "marker": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n).round(1)),
        "smoker": random.random(n) < 0.3,
    }
    odds = 0.03 * columns["age"] + columns["smoker"] - 3
    columns["died"] = np.where(random.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame(columns)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 512)


@pytest.fixture
def files(tmp_path):
    """One file, and a folder of three that have its rows."""
    table = frame()
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "whole.parquet")
    for k in range(3):
        part = pa.Table.from_pandas(table.iloc[1000 * k : 1000 * (k + 1)], preserve_index=False)
        pq.write_table(part, folder / f"part-{k}.parquet", row_group_size=500)
    return tmp_path / "whole.parquet", folder


def saved(tmp_path, *arguments) -> tuple[RiskScore, str]:
    path = tmp_path / "score.json"
    result = run("fit", *arguments, *FIT, "--output", path)
    return RiskScore.load(path), result.stdout


def shown(text: str) -> str:
    """What is printed, without the seconds."""
    return text.partition("Search completed")[0]


def test_the_same_score_however_the_rows_are_read(files, tmp_path):
    whole, folder = files
    expected, text = saved(tmp_path, whole)
    assert expected.certificate.is_optimal
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    parts = sorted(folder.iterdir())
    for arguments in (
        [folder],
        parts,
        [whole, "--memory-limit", "100kB"],
        [folder, "--memory-limit", "100 kB", "--scratch", scratch],
    ):
        score, printed = saved(tmp_path, *arguments)
        assert score.certificate == expected.certificate
        assert (score.points, score.intercept) == (expected.points, expected.intercept)
        assert score.variables == expected.variables
        assert dict(score.feature_ranges) == dict(expected.feature_ranges)
        assert score.prevalence == expected.prevalence
        assert shown(printed) == shown(text)
        assert not score.cutoff_ranges  # which take a look at all rows one by one
    assert expected.cutoff_ranges
    assert not list(scratch.iterdir())


def test_csv_files(files, tmp_path):
    whole, _ = files
    expected, _ = saved(tmp_path, whole)
    table = frame()
    for k in range(2):
        table.iloc[1500 * k : 1500 * (k + 1)].to_csv(tmp_path / f"{k}.csv", index=False, sep=";")
    score, _ = saved(tmp_path, tmp_path / "0.csv", tmp_path / "1.csv", "--separator", ";")
    assert score.certificate == expected.certificate
    assert score.csv_format.separator == ";"
    message = usage_error("fit", tmp_path / "0.csv", whole, *FIT)
    assert "all CSV or all Parquet" in message


def test_a_report_is_on_the_rows_one_by_one(files, tmp_path):
    page = tmp_path / "report.html"
    run("fit", files[1], *FIT, "--report", page)
    text = page.read_text(encoding="utf-8")
    assert "3,000" in text or "3000" in text
    assert "training data" in text


@pytest.mark.slow
def test_a_report_on_many_rows_is_on_a_sample(files, tmp_path, monkeypatch):
    _, folder = files
    monkeypatch.setattr("riskslim.cli.quality.SAMPLED_ROWS", 400)
    page = tmp_path / "report.html"
    quiet = [one for one in FIT if one != "--quiet"]
    result = run("fit", folder, *quiet, "--report", page, "--memory-limit", "100kB")
    assert "the report is on a sample of 400 of the 3,000 training rows" in result.stderr
    assert "given data" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_folds_are_the_same_however_the_rows_are_read(files, tmp_path):
    whole, folder = files
    folds = tmp_path / "folds.csv"
    folds.write_text("fold\n" + "1\n2\n3\n" * 1000)
    parts = [whole, "--memory-limit", "100kB"]
    for option, other in ((["--cv", "3"], [folder]), (["--folds", folds], parts)):
        found = []
        for source in ([whole], other):
            table, cells = tmp_path / "sizes.csv", tmp_path / "folds.json"
            output = [*option, "--path", "--path-output", table, "--cv-output", cells]
            _, text = saved(tmp_path, *source, *output)
            rows = pd.read_csv(table).drop(columns="seconds", errors="ignore")
            found.append((rows, cells.read_text(), text.partition("Search completed")[0]))
        for other in found[1:]:
            pd.testing.assert_frame_equal(other[0], found[0][0], check_exact=True)
            assert other[1:] == found[0][1:]


def test_supervised_thresholds_are_the_same_however_the_rows_are_read(files, tmp_path):
    whole, folder = files
    found = []
    for source in ([whole], [folder], [whole, "--memory-limit", "100kB"]):
        score, text = saved(tmp_path, *source, "--thresholds", "supervised")
        found.append((score.certificate, score.points, score.variables, shown(text)))
    assert found[1] == found[2] == found[0]
    assert any(">=" in name for name in found[0][1])


def test_predictions_of_folders_are_those_of_one_file(files, tmp_path):
    whole, folder = files
    run("fit", whole, *FIT, "--output", tmp_path / "score.json")
    expected = run("predict", tmp_path / "score.json", whole, "--id", "age").stdout
    parts = sorted(folder.iterdir())
    for sources in ([folder], parts):
        found = run("predict", tmp_path / "score.json", *sources, "--id", "age").stdout
        assert found == expected
    output = tmp_path / "out.parquet"
    run("predict", tmp_path / "score.json", folder, "--output", output)
    read = pd.read_parquet(output)
    assert len(read) == 3000
    assert read["risk"].tolist() == pd.read_csv(io.StringIO(expected))["risk"].tolist()
    twice = usage_error("predict", tmp_path / "score.json", folder, parts[0])
    assert "part-0.parquet is given twice" in twice
    inside = usage_error("predict", tmp_path / "score.json", folder, "--output", parts[1])
    assert "part-1.parquet" in inside
    with pytest.raises(ValueError, match="--id: the files have values of different types"):
        _write_predictions([pa.table({"id": [1]}), pa.table({"id": ["a"]})], output)


@pytest.mark.parametrize("command", ["report", "recalibrate"])
def test_commands_on_all_rows_take_folders(files, tmp_path, command):
    whole, folder = files
    run("fit", whole, *FIT, "--output", tmp_path / "score.json")
    found = []
    for source in (whole, folder):
        output = figures = tmp_path / f"{source.stem}.json"
        options = []
        if command == "report":  # pages name their files, figures do not
            output, figures = (tmp_path / f"{source.stem}.{end}" for end in ("html", "csv"))
            options = ["--metrics-output", figures]
        run(command, tmp_path / "score.json", source, "--output", output, *options)
        found.append(figures.read_text(encoding="utf-8"))
    assert found[0] == found[1]


def test_a_path_of_sizes(files, tmp_path):
    whole, folder = files
    table = tmp_path / "sizes.csv"
    found = []
    for source in (whole, folder):
        run("fit", source, *FIT, "--path", "--path-output", table)
        found.append(pd.read_csv(table)[["max_size", "objective"]].to_numpy().tolist())
    assert found[0] == found[1]


def test_columns_that_cannot_be_used(files, tmp_path):
    _, folder = files
    message = usage_error("fit", folder, "--outcome", "died", n_lines=4)
    assert message.startswith(f"Error: 2 columns of {folder} cannot be used as features")
    first = frame()["ward"].iloc[0]
    assert "text in 'ward' (3000 of 3000 rows, first at row 0 of" in message
    assert f"such as 'ward = {first}'" in message
    assert "missing values in 'marker' (" in message
    assert "--items" in message
    message = usage_error("fit", folder, "--outcome", "died", "--items", n_lines=3)
    assert "'marker' (" in message
    assert f"of {folder / 'part-0.parquet'})" in message
    assert "--missing indicator" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory-limit", "much"], "--memory-limit must be a size such as 4GB"),
        (["--memory-limit", "0"], "--memory-limit must be a size such as 4GB"),
        (["--memory-limit", "1kB", "--scratch", "nowhere"], "no folder nowhere for scratch files"),
    ],
)
def test_options_that_cannot_be(files, arguments, words):
    assert words in usage_error("fit", files[0], *FIT, *arguments)


def test_no_file(tmp_path):
    assert "has no file whose name ends in" in usage_error("fit", tmp_path, *FIT)
    missing = usage_error("fit", tmp_path / "a.parquet", tmp_path / "b.parquet", *FIT)
    assert "no file or folder" in missing
    assert "a.parquet" in missing


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GB", 4 * 10**9), ("500 MB", 5 * 10**8), ("2GiB", 2**31), ("1.5k", 1500), ("12", 12),
        ("3tb", 3 * 10**12), (None, None),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert bytes_of(text) == size


def test_what_a_file_needs(files, tmp_path):
    whole, _ = files
    # int64, double: 8 bytes and 9 items each; text: 64 and 2; truth values: 1 and 1; the outcome.
    assert bytes_in_memory(whole, encoded=True) >= 3000 * (17 + 17 + 66 + 2 + 66)
    assert bytes_in_memory(whole, encoded=False) < bytes_in_memory(whole, encoded=True)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n")
    assert bytes_in_memory(path, encoded=True) == 3 * path.stat().st_size
    assert bytes_in_memory(tmp_path / "nothing.csv", encoded=True) == 0
    path = tmp_path / "damaged.parquet"
    path.write_text("no Parquet")
    assert bytes_in_memory(path, encoded=True) == 0


def test_the_line_of_progress():
    line = ReadingProgress()
    assert line.state() == "reading"
    line(ReadProgress(1, 1000, 0, 500_000, 2_000_000))
    assert line.state() == "reading, step 1 of 2: 1,000 rows, 0.5 MB of 2.0 MB"
    assert str(line.__rich__()).endswith(line.state())


SLOWLY = """
import time
from riskslim.rows import reading
before = reading.Reading.merge_all
def slow(self, *arguments):
    print("merging", flush=True)
    time.sleep(60)
    return before(self, *arguments)
reading.Reading.merge_all = slow
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c(files, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with start_program("fit", files[1], *FIT, "--scratch", scratch, before=SLOWLY) as process:
        assert process.stdout.readline() == "merging\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.endswith("Interrupted.\n")
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("name", ["part-0.parquet", "inside/part.parquet", "new.csv"])
def test_no_output_goes_into_what_is_read(tmp_path, name):
    folder = tmp_path / "rows"
    (folder / "inside").mkdir(parents=True)
    for file in ("part-0.parquet", "inside/part.parquet"):
        frame(100).to_parquet(folder / file)
    before = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    result = run("fit", folder, *FIT, "--report", folder / name, code=2)
    assert "would replace the data" in result.stderr or "would be read as data" in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
