"""What the command line prints and writes, how it ends, and what it says of faulty inputs.

Each command is a process in one folder, in which the later ones find what earlier ones wrote.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.children import process
from benchmarks.results.folder import Record
from benchmarks.results.people import columns_of, people

__all__ = ["write_commands", "write_faults"]

# Words and widths are those of a plain terminal that is a file.
_PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
# Columns of tables that hold seconds.
_SECONDS = ("time", "seconds")


class Command(NamedTuple):
    """A command, its files, and whether the short record has it.

    Attributes
    ----------
    name : str
    line : str
        As it is typed, without ``riskslim``.
    files : str
        Names of the files that it writes.
    in_short : bool
    """

    name: str
    line: str
    files: str = ""
    in_short: bool = False


_RAW = "--outcome died --items --missing indicator --special visits=-9 --time-limit 100000"
_ITEMS = "fit items.csv --outcome died --time-limit 100000 --max-size 3"

COMMANDS = (
    Command("version", "--version", in_short=True),
    Command("demo", "demo", in_short=True),
    Command("demo-scale", "demo --scale 1 --by variable --points fitted"),
    Command("demo-lattice", "demo --engine lattice_cpa --scale 1,2 --quiet"),
    Command(
        "fit-raw", f"fit patients.csv {_RAW} --max-size 4 --categorical ward --n-thresholds 4"
        " --output score.json --trace trace.csv --report fit.html",
        "score.json trace.csv fit.html", in_short=True,
    ),
    Command("fit-raw-m1", f"fit patients.parquet {_RAW} --max-size 3 --scale 1 --threads 2"
            " --n-thresholds 3 --output m1.json", "m1.json", in_short=True),
    Command("fit-verbose", f"{_ITEMS} --verbose", in_short=True),
    Command("fit-quiet", f"{_ITEMS} --quiet --output items.json", "items.json", in_short=True),
    Command("fit-list", f"{_ITEMS} --n-solutions 8 --within 0.2", in_short=True),
    Command("fit-within", f"{_ITEMS} --within 0.05 --scale 1"),
    Command("fit-scales", f"{_ITEMS} --scale 1,2,4 --output scaled.json", "scaled.json"),
    Command("fit-interval", f"{_ITEMS} --scale 0.5:12 --max-coef 9"),
    Command("fit-constraints", f"{_ITEMS} --constraints rules.toml --scale 1", in_short=True),
    Command("fit-many-constraints", f"{_ITEMS} --constraints many.toml --scale 1"),
    Command("fit-rates", f"{_ITEMS} --constraints rates.toml --max-size 2"),
    Command("fit-bounds", f'{_ITEMS} --sign "age >= 60=+" --lower "smoker=1" --upper "stage=2"'
            ' --fix "bmi >= 27=1" --min-size 2 --max-intercept 6 --l0-penalty 0.003',
            in_short=True),
    Command("fit-weights", f"{_ITEMS} --weights weight --class-weight balanced"),
    Command("fit-features", f'{_ITEMS} --features smoker --features stage --features "age >= 60"'),
    Command("fit-monotone", f"{_ITEMS} --monotone auto --items-per-variable 1"),
    Command("fit-nodes", f"{_ITEMS} --node-limit 2 --scale 1", in_short=True),
    Command("fit-lattice", f"{_ITEMS} --engine lattice_cpa --scale 1", in_short=True),
    Command("fit-scip", f"{_ITEMS} --engine lattice_cpa --solver scip --scale 1"),
    Command("fit-labels", "fit words.csv --outcome state --max-size 2 --time-limit 100000"),
    Command("fit-positive", "fit words.csv --outcome state --positive alive --max-size 2"),
    Command("fit-thresholds", f"fit patients.csv {_RAW} --max-size 3 --thresholds age=40,60,75"
            " --thresholds marker=all --max-thresholds 20 --round-thresholds"
            " --min-frequency 0.05"),
    Command("fit-all-thresholds", f"fit patients.csv {_RAW} --max-size 2 --thresholds all"
            " --items-per-variable 1 --scale 1 --by variable --points non-negative"),
    Command("fit-supervised", f"fit patients.csv {_RAW} --max-size 3 --thresholds supervised"
            " --min-events 5 --threshold-digits 2"),
    Command("fit-csv-format", "fit german.csv --outcome tot --items --separator ; --decimal ,"
            ' --encoding cp1252 --missing-text "k. A." --missing indicator --max-size 2'
            " --output german.json", "german.json", in_short=True),
    Command("fit-gzip", "fit items.csv.gz --outcome died --max-size 2 --scale 1"),
    Command("fit-path", f"{_ITEMS} --path --cv 3 --path-output path.csv --cv-output cv.csv"
            " --output path.json", "path.csv cv.csv path.json", in_short=True),
    Command("fit-path-json", f"{_ITEMS} --path --scale 1 --path-output path-table.json"
            " --report path.html", "path-table.json path.html"),
    Command("fit-folds", f"{_ITEMS} --folds folds.csv --n-jobs 2 --scale 1 --cv-output cv.json"
            " --rule best_mean --metric auc --path", "cv.json"),
    Command("checkpoint-first", f"{_ITEMS} --scale 1 --node-limit 3 --checkpoint run.db",
            in_short=True),
    Command("checkpoint-next", f"{_ITEMS} --scale 1 --checkpoint run.db --output kept.json",
            "kept.json", in_short=True),
    Command("checkpoint-path", f"{_ITEMS} --path --cv 2 --scale 1 --checkpoint path.db"),
    Command("checkpoint-path-again", f"{_ITEMS} --path --cv 2 --scale 1 --checkpoint path.db"),
    Command("fit-folder", f"fit parts {_RAW} --max-size 3 --n-thresholds 3 --output folder.json"
            " --report folder.html", "folder.json folder.html", in_short=True),
    Command("fit-in-files", f"fit parts {_RAW} --max-size 2 --n-thresholds 3 --scale 1"
            " --memory-limit 20kB --scratch . --output files.json", "files.json", in_short=True),
    Command("fit-csv-in-files", f"fit patients.csv {_RAW} --max-size 2 --n-thresholds 2"
            " --memory-limit 20kB --scale 1"),
    Command("predict", "predict score.json others.csv", in_short=True),
    Command("predict-parquet", "predict score.json others.csv --id number --output p.parquet",
            "p.parquet", in_short=True),
    Command("predict-folder", "predict folder.json parts --output p.csv", "p.csv"),
    Command("predict-format", "predict german.json german.csv", in_short=True),
    Command("predict-items", "predict items.json items.csv --output items-risk.csv",
            "items-risk.csv"),
    Command("predict-unknown", "predict score.json strange.csv --unknown-levels ignore"),
    Command("explain", "explain score.json others.csv --row 0 --row 7 --average-of patients.csv",
            in_short=True),
    Command("explain-id", "explain score.json others.csv --id number --row 1003 --fixed age"
            " --threshold 2 --by variable"),
    Command("explain-csv", "explain score.json others.csv --average-of parts --output e.csv",
            "e.csv"),
    Command("explain-json", "explain score.json others.csv --points non-negative --output e.json",
            "e.json", in_short=True),
    Command("explain-parquet", "explain items.json items.csv --output e.parquet", "e.parquet"),
    Command("show", "show score.json", in_short=True),
    Command("show-variable", "show score.json --by variable --points non-negative"
            " --labels labels.toml --output labelled.json", "labelled.json", in_short=True),
    Command("recalibrate", "recalibrate score.json others.csv --output recalibrated.json",
            "recalibrated.json", in_short=True),
    Command("recalibrate-scale", "recalibrate score.json parts --with-scale --weights weight"),
    Command("recalibrate-share", "recalibrate score.json others.csv --prevalence 0.1"),
    Command("recalibrate-odds", "recalibrate score.json --prevalence 0.05"),
    Command("report", "report score.json patients.csv --test others.csv --resamples 50"
            " --group sex --threshold 0.3 --metrics-output metrics.csv --output report.html",
            "metrics.csv report.html", in_short=True),
    Command("report-recalibrated", "report recalibrated.json others.csv --resamples 0"
            " --by variable --labels labels.toml --output recalibrated.html",
            "recalibrated.html"),
    Command("scorecard", "scorecard labelled.json --pdo 30", in_short=True),
    *(Command(f"scorecard-{form}", f"scorecard score.json --format {form} --higher-is riskier")
      for form in ("markdown", "html", "latex", "csv")),
    *(Command(f"export-{form}", f"export score.json --format {form}", in_short=form == "python")
      for form in ("python", "javascript", "pmml", "markdown", "html", "latex")),
    Command("export-sql", "export score.json --format sql --dialect postgresql --table w.rows"
            " --reasons 2 --output score.sql", "score.sql", in_short=True),
    *(Command(f"export-sql-{dialect}", f"export score.json --format sql --dialect {dialect}"
              " --inputs items --table rows --score-column total")
      for dialect in ("ansi", "bigquery", "sqlite", "sqlserver")),
    *(Command(f"help-{command}", f"{command} --help")
      for command in ("fit", "predict", "explain", "show", "recalibrate", "report", "scorecard",
                      "export", "demo")),
    Command("help", "--help", in_short=True),
)  # fmt: skip

FAULTS = (
    Command("no-arguments", "fit"),
    Command("no-such-command", "frobnicate"),
    Command("no-such-option", f"{_ITEMS} --frobnicate 3", in_short=True),
    Command("no-file", "fit nowhere.csv --outcome died", in_short=True),
    Command("unknown-type", "fit rules.toml --outcome died"),
    Command("empty", "fit empty.csv --outcome died"),
    Command("no-outcome", "fit items.csv --outcome dead", in_short=True),
    Command("three-labels", "fit items.csv --outcome stage"),
    Command("one-class", "fit one-class.csv --outcome y"),
    Command("not-a-label", "fit items.csv --outcome died --positive maybe"),
    Command("text", "fit patients.csv --outcome died", in_short=True),
    Command("missing", "fit patients.csv --outcome died --items"),
    Command("unclean", "fit unclean.csv --outcome y", in_short=True),
    Command("text-among-numbers", "fit limits.csv --outcome y --items"),
    Command("ragged", "fit ragged.csv --outcome y"),
    Command("twice-a-column", "fit twice.csv --outcome y"),
    Command("constant", "fit constant.csv --outcome y --max-size 1"),
    Command("no-weights", f"{_ITEMS} --weights mass"),
    Command("negative-weights", "fit negative.csv --outcome y --weights w"),
    Command("no-feature", f"{_ITEMS} --exclude smokes"),
    Command("sign", f"{_ITEMS} --sign smoker"),
    Command("sign-of-nothing", f"{_ITEMS} --sign smokes=+", in_short=True),
    Command("fixed-twice", f"{_ITEMS} --fix smoker=1 --fix smoker=2"),
    Command("fixed-outside", f"{_ITEMS} --fix smoker=9"),
    Command("sizes", f"{_ITEMS} --min-size 4"),
    Command("time", f"{_ITEMS} -q --time-limit 0"),
    Command("gap", f"{_ITEMS} -q --gap-tolerance 1"),
    Command("threads", f"{_ITEMS} --threads two"),
    *(Command(f"scale-{k}", f"{_ITEMS} --scale {scale}")
      for k, scale in enumerate(("0", "-2", "12:0.5", "any", "1,,2"))),
    Command("interval-of-lattice", f"{_ITEMS} --engine lattice_cpa --scale free", in_short=True),
    Command("list-of-lattice", f"{_ITEMS} --engine lattice_cpa --scale 1 --within 0.1"),
    Command("contradiction", f"{_ITEMS} --constraints impossible.toml --scale 1", in_short=True),
    Command("bad-constraints", f"{_ITEMS} --constraints bad.toml"),
    Command("bad-toml", f"{_ITEMS} --constraints items.csv"),
    Command("thresholds", f"{_ITEMS} --thresholds all"),
    Command("supervised-folds", f"fit patients.csv {_RAW} --thresholds supervised --cv 3"),
    Command("folds-in-files", f"fit parts {_RAW} --cv 3"),
    Command("bad-folds", f"{_ITEMS} --folds few-folds.csv"),
    Command("nowhere", f"{_ITEMS} --output nowhere/s.json"),
    Command("same-file", f"{_ITEMS} --output items.csv", in_short=True),
    Command("memory", f"{_ITEMS} --memory-limit much"),
    Command("other-columns", "fit items.csv patients.csv --outcome died"),
    Command("old-checkpoint", f"{_ITEMS} --scale 1 --max-coef 4 --checkpoint run.db"),
    Command("no-checkpoint", f"{_ITEMS} --scale 1 --checkpoint items.csv"),
    Command("no-score", "show items.csv"),
    Command("changed-score", "show changed.json", in_short=True),
    Command("later-version", "show later.json"),
    Command("predict-lacks", "predict items.json others.csv", in_short=True),
    Command("predict-unknown", "predict score.json strange.csv"),
    Command("explain-no-row", "explain items.json items.csv --row 100000"),
    Command("recalibrate-nothing", "recalibrate items.json"),
    Command("report-no-outcome", "report items.json items.csv --outcome dead --output r.html"),
    Command("scorecard-numbers", "scorecard items.json"),
    Command("export-dialect", "export items.json --format sql --dialect oracle"),
    Command("export-name", "export quoted.json --format sql --dialect bigquery"),
)  # fmt: skip


# --- files ----------------------------------------------------------------------------------------


def _write_inputs(folder: Path) -> None:
    rng = np.random.default_rng(11)
    raw = people(rng, 700)
    patients = pd.DataFrame(raw)
    patients["weight"] = rng.integers(1, 4, len(patients))
    patients.loc[::13, "bmi"] = np.nan
    patients.loc[5::11, "visits"] = -9
    plain = patients.drop(columns="weight")
    plain.iloc[:500].to_csv(folder / "patients.csv", index=False)
    plain.iloc[:500].to_parquet(folder / "patients.parquet")
    (folder / "parts").mkdir()
    for k in range(3):
        part = patients.iloc[200 * k : 200 * (k + 1)]
        part.to_parquet(folder / "parts" / f"part-{k}.parquet")
    others = plain.iloc[500:].assign(number=np.arange(1000, 1200))
    others.to_csv(folder / "others.csv", index=False)
    others.assign(ward="hospice", age=others["age"] * 12).iloc[:20].to_csv(
        folder / "strange.csv", index=False
    )
    items = pd.DataFrame(columns_of(raw, "few values"))
    items["weight"], items["died"] = patients["weight"], raw["died"]
    items.to_csv(folder / "items.csv", index=False)
    with gzip.open(folder / "items.csv.gz", "wt", encoding="utf-8") as file:
        items.to_csv(file, index=False)
    words = items[["smoker", "stage", "sex = f"]]
    words = words.assign(state=np.where(items["died"] == 1, "dead", "alive"))
    words.to_csv(folder / "words.csv", index=False)
    pd.DataFrame({"fold": np.arange(len(items)) % 4}).to_csv(folder / "folds.csv", index=False)
    _write_german(folder, raw)
    _write_faulty(folder, items)
    for name, text in _TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_german(folder: Path, raw: dict[str, Any]) -> None:
    lines = ["größe;marker;tot"]
    for bmi, marker, died in zip(raw["bmi"][:300], raw["marker"], raw["died"], strict=False):
        text = "k. A." if marker < 0.4 else str(marker).replace(".", ",")
        lines.append(f"{str(bmi).replace('.', ',')};{text};{died}")
    (folder / "german.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")


def _write_faulty(folder: Path, items: pd.DataFrame) -> None:
    small = items[["smoker", "stage"]].assign(y=items["died"]).iloc[:60]
    small.assign(y=1).to_csv(folder / "one-class.csv", index=False)
    small.assign(w=-1).to_csv(folder / "negative.csv", index=False)
    small.assign(country=3).to_csv(folder / "constant.csv", index=False)
    pd.DataFrame({"fold": [0, 1, 2]}).to_csv(folder / "few-folds.csv", index=False)


_TEXTS = {
    "empty.csv": "",
    "unclean.csv": "seen,ward no,lab,age,y\n" + "2020-01-01,A,1,3,0\n2020-01-02,B,,4,1\n" * 9,
    "limits.csv": "lab,age,y\n" + "0.3,50,0\n<0.1,60,1\n0.7,70,1\n" * 9,
    "ragged.csv": "a,b,y\n1,2,0\n1,2,3,1\n",
    "twice.csv": "a,a,y\n1,2,0\n2,1,1\n",
    "rules.toml": (
        '[[at_most]]\nn = 1\nvariable = "age"\n\n[[if_then]]\nif = "smoker"\nthen = ["stage"]\n\n'
        '[[risk_at_most]]\nname = "healthy"\nrisk = 0.3\nprofile = {}\n'
    ),
    "many.toml": (
        '[[at_least]]\nn = 1\nfeatures = ["smoker", "stage"]\n\n[[model_size]]\nleast = 2\n'
        'most = 3\n\n[[either_or]]\na = "smoker"\nb = "sex = f"\n\n[[at_most_variables]]\nn = 2\n'
        '\n[[monotone]]\nvariable = "age"\nsign = "+"\n\n[[items_per_variable]]\nn = 1\n\n'
        '[[points_in]]\nfeatures = "stage"\nvalues = [0, 1, 3]\n\n[[minimum_points]]\n'
        'features = "smoker"\nn = 2\n\n[[linear]]\npoints = {"stage" = 1, "smoker" = -1}\n'
        "lower = -2\nupper = 3\n\n[[risk_at_least]]\nrisk = 0.4\nwhere = {smoker = 1, stage = 3}\n"
    ),
    "rates.toml": (
        "[[false_negative_rate_at_most]]\nrate = 0.4\nthreshold = 0.5\n\n[[rate_gap_at_most]]\n"
        'gap = 0.3\nrate = "false_positive"\ngroups = "sex = f"\nthreshold = 0.5\n'
    ),
    "impossible.toml": (
        '[[at_most]]\nn = 0\nfeatures = ["smoker", "stage"]\nname = "none"\n\n[[at_least]]\nn = 1\n'
        'features = ["smoker"]\nname = "one"\n'
    ),
    "bad.toml": '[[at_most]]\nn = 1\nvariables = "age"\n',
    "labels.toml": (
        'smoker = "Smokes"\n\n[age]\ntext = "Age"\nunit = "years"\n\n[sex]\ntext = "Sex"\n'
        'levels = {f = "female", m = "male"}\n'
    ),
}


# --- commands -------------------------------------------------------------------------------------


def _run(record: Record, group: str, command: Command, folder: Path) -> None:
    with record.case(f"{group}/{command.name}") as name:
        run = process(["-m", "riskslim", *shlex.split(command.line)], folder, _PLAIN)
        text = (
            f"riskslim {command.line}\nexit code {run.returncode}\n"
            f"--- standard output\n{run.stdout}--- standard error\n{run.stderr}"
        )
        record.write(f"{name}.txt", text, folder)
        for file in command.files.split():
            path = folder / file
            found = _READERS[path.suffix](path) if path.exists() else "there is no such file\n"
            record.write(f"{name}.{file.replace('.parquet', '.parquet.csv')}", found, folder)


def _csv_file(path: Path) -> str:
    """Its lines without the columns of seconds."""
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    left_out = [k for k, name in enumerate(rows[0]) if name in _SECONDS]
    if not left_out:
        return path.read_text(encoding="utf-8")
    kept = [[cell for k, cell in enumerate(row) if k not in left_out] for row in rows]
    return "".join(",".join(row) + "\n" for row in kept)


def _json_file(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    found = json.loads(text)
    if not (isinstance(found, list) and any("seconds" in one for one in found)):
        return text
    kept = [{k: v for k, v in one.items() if k not in _SECONDS} for one in found]
    return json.dumps(kept, indent=1) + "\n"


def _parquet_file(path: Path) -> str:
    frame = pd.read_parquet(path)
    return f"{dict(frame.dtypes.astype(str))}\n{frame.to_csv(index=False)}"


def _text_file(path: Path) -> str:
    return path.read_text(encoding="utf-8")


_READERS: dict[str, Callable[[Path], str]] = {
    ".csv": _csv_file, ".json": _json_file, ".parquet": _parquet_file,
    ".html": _text_file, ".sql": _text_file,
}  # fmt: skip


def write_commands(record: Record) -> None:
    """Run commands that do what they are asked for.

    Parameters
    ----------
    record : Record
    """
    with tempfile.TemporaryDirectory() as name:
        _write_inputs(Path(name))
        for command in COMMANDS:
            if command.in_short or not record.short:
                _run(record, "commands", command, Path(name))


# What commands on faulty inputs find beside the inputs of all.
_FIRST = (
    Command("fit-items", f"{_ITEMS} --scale 1 --output items.json --checkpoint run.db"),
    Command("fit-raw", f"fit patients.csv {_RAW} --max-size 4 --categorical ward --n-thresholds 2"
            " --scale 1 --sign ward=+ --output score.json", "score.json"),
)  # fmt: skip


def write_faults(record: Record) -> None:
    """Run commands that cannot do what they are asked for.

    Parameters
    ----------
    record : Record
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_inputs(folder)
        for command in _FIRST:
            _run(record, "faults/first", command, folder)
        _write_changed(folder)
        for command in FAULTS:
            if command.in_short or not record.short:
                _run(record, "faults", command, folder)


def _write_changed(folder: Path) -> None:
    """Files of scores that somebody edited, or that a later version wrote."""
    text = (folder / "items.json").read_text(encoding="utf-8")
    score = json.loads(text)
    (folder / "changed.json").write_text(json.dumps({**score, "intercept": 7}), encoding="utf-8")
    (folder / "later.json").write_text(json.dumps({**score, "version": 99}), encoding="utf-8")
    by_hand = '{"format": "riskslim.risk_score", "version": 1, "created_by": "", ' + (
        '"outcome_name": "y", "classes": [0, 1], "intercept": -2, "points": [{"feature": '
        '"a.b", "points": 3, "minimum": 0, "maximum": 1, "is_integer": true, "values": [0, 1]}],'
        ' "feature_names": ["a.b"], "certificate": null}'
    )
    (folder / "quoted.json").write_text(by_hand, encoding="utf-8")
