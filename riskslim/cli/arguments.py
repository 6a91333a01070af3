"""Options as arguments of the library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riskslim.data.csv_format import CsvFormat
from riskslim.engines.choice import DEFAULT_SCALE, choose_scales, engine_named
from riskslim.engines.lattice_cpa.solvers import import_solver
from riskslim.engines.runs import DEFAULT_SOLVER, check_solver

if TYPE_CHECKING:
    from riskslim.constraints.base import Constraint
    from riskslim.items.encoder import ItemEncoder
    from riskslim.items.rules import HandleUnknown
    from riskslim.scale import ScaleSet

__all__ = [
    "EXPORTS",
    "arguments_of_engine",
    "arguments_of_export",
    "arguments_of_solver",
    "by_name",
    "bytes_of",
    "checked_unknown_levels",
    "checked_word",
    "csv_format_of",
    "encoder_of",
    "scales_of",
    "signs_of",
    "span_of",
]

# What `riskslim export` writes, each with the arguments that it can be given.
EXPORTS: dict[str, tuple[str, ...]] = {
    "python": ("function_name", "inputs", "reasons", "average", "best", "fixed"),
    "javascript": ("function_name", "inputs"),
    "sql": (
        "dialect",
        "table",
        "boolean_columns",
        "inputs",
        "score_column",
        "risk_column",
        "reasons",
        "average",
        "best",
        "fixed",
    ),
    "pmml": ("inputs",),
    "markdown": (),
    "html": (),
    "latex": (),
}


def scales_of(text: str, engine: str, constraints: Iterable[Constraint] = ()) -> ScaleSet:
    """Read --scale: "auto", a number, several with commas, an interval, or "free"."""
    wrong = (
        "--scale must be a positive number, several such as 1,2,4, an interval such as 0.5:12, "
        f"free or auto, got {text!r}"
    )
    given: Any = text.strip()
    if given not in ("free", DEFAULT_SCALE):
        separator = ":" if ":" in given else ","
        try:
            given = [float(part) for part in given.split(separator)]
        except ValueError:
            raise ValueError(wrong) from None
        if separator == ":":
            given = tuple(given)
            if len(given) != 2:
                raise ValueError(wrong)
    try:
        return choose_scales(given, engine, constraints)
    except ValueError as error:
        raise ValueError(f"--scale {text}: {error}") from None


_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def bytes_of(text: str | None) -> int | None:
    """Read --memory-limit: a number of bytes with a unit, such as 4GB, 500 MB or 2GiB."""
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    size = 0
    if found is not None:
        base = 1024 if found[3] else 1000
        size = int(float(found[1]) * base ** _UNITS[found[2].lower()])
    if size < 1:
        raise ValueError(f"--memory-limit must be a size such as 4GB or 500MB, got {text!r}")
    return size


def by_name(
    texts: list[str] | None,
    option: str,
    kind: Callable[[str], Any],
    expected: str = "a whole number N",
) -> dict[str, Any]:
    """Values by feature, from texts like NAME=VALUE. The last = counts: names may contain it."""
    values: dict[str, Any] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        if kind is str and (not name or value not in {"+", "-"}):
            raise ValueError(f"{option} must be NAME=+ or NAME=-, got {text!r}")
        try:
            read = kind(value)
        except ValueError:
            read = None
        if not name or read is None:
            form = expected.rpartition(" ")[2]
            raise ValueError(f"{option} must be NAME={form} with {expected}, got {text!r}")
        if name in values:
            raise ValueError(f"{option} is given twice for {name!r}")
        values[name] = read
    return values


def signs_of(
    texts: list[str] | None, feature_names: Sequence[str]
) -> tuple[dict[str, str], list[Constraint]]:
    """Read --sign: the signs of features, and those of variables, whose features get them."""
    from riskslim.constraints.allowed_points import monotone
    from riskslim.constraints.base import variable

    signs = by_name(texts, "--sign", str)
    of_variables = [
        monotone(variable(name), signs.pop(name))
        for name in [*signs]
        if name not in feature_names and variable(name).among(feature_names)
    ]
    return signs, of_variables


def _numbers(text: str) -> list[float] | str:
    if text in ("all", "supervised"):
        return text
    return [float(part) for part in text.split(",")]


def encoder_of(items: bool, **given: Any) -> ItemEncoder | None:
    """Return the encoder that makes items of the columns of a file, if they are wanted.

    Parameters
    ----------
    items : bool
    n_thresholds, max_thresholds, threshold_digits, min_events : int, optional
    min_frequency : float, optional
    thresholds, special, categorical, numeric : list of str, optional
    round_thresholds : bool
    missing : str, optional
        Options by the names of the encoder's parameters; None, False and [] were not given.

    Returns
    -------
    ItemEncoder or None

    Raises
    ------
    ValueError
        Options for items where none are wanted, or that cannot be read.
    """
    options: dict[str, Any] = {
        name: value
        for name, value in given.items()
        if not (value is None or value is False or value == [])
    }
    if not items:
        if options:
            raise ValueError(f"--{next(iter(options)).replace('_', '-')} needs --items")
        return None
    from riskslim.items.encoder import ItemEncoder

    texts = options.pop("thresholds", [])
    options |= _thresholds_of(texts, options)
    if "special" in options:
        options["special_values"] = _special_of(options.pop("special"))
    if "min_frequency" in options and options["min_frequency"] >= 1:
        options["min_frequency"] = _whole("--min-frequency", options["min_frequency"])
    if "min_events" in options and not any(text.endswith("supervised") for text in texts):
        raise ValueError("--min-events needs --thresholds supervised")
    if "max_thresholds" in options and not any(
        text == "all" or text.endswith("=all") for text in texts
    ):
        raise ValueError("--max-thresholds needs --thresholds all")
    return ItemEncoder(**options)


def _thresholds_of(texts: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """Read --thresholds: of all columns, or by column."""
    found: dict[str, Any] = {}
    if "all" in texts:
        if "n_thresholds" in options:
            raise ValueError("--thresholds all and --n-thresholds cannot both be given")
        found["n_thresholds"] = "all"
    for text in texts:
        if text not in ("all", "supervised") and "=" not in text:
            raise ValueError(
                "--thresholds must be all, supervised, NAME=all, NAME=supervised or NAME=V,V,... "
                f"with numbers, got {text!r}"
            )
    named = [text for text in texts if text not in ("all", "supervised")]
    if "supervised" in texts:
        if len(texts) > 1:
            raise ValueError("--thresholds supervised is of all columns: give no other ones")
        found["thresholds"] = "supervised"
    elif named:
        expected = "all, supervised or numbers V,V,..."
        found["thresholds"] = by_name(named, "--thresholds", _numbers, expected)
    return found


def _special_of(texts: Sequence[str]) -> Any:
    """Read --special: of all columns, or by column; -7+-8 is a group."""
    expected = "numbers V,V,..., or groups of them such as -7+-8,-9"
    if not any("=" in text for text in texts):
        try:
            return [group for text in texts for group in _groups_in(text)]
        except ValueError:
            raise ValueError(
                f"--special must be {expected}, or NAME=V,V,..., got {' '.join(texts)!r}"
            ) from None
    return by_name(list(texts), "--special", _groups_in, expected)


def _groups_in(text: str) -> list[list[float]]:
    return [[float(one) for one in group.split("+")] for group in text.split(",")]


def _whole(option: str, value: float) -> int:
    if value != int(value):
        raise ValueError(f"{option} must be a share below 1 or a whole number, got {value}")
    return int(value)


def span_of(text: str) -> tuple[int, int]:
    """Read --span: two whole numbers with a colon between them."""
    try:
        lowest, highest = (int(one) for one in text.split(":"))
    except ValueError:
        raise ValueError(
            f"--span must be two whole numbers such as 300:850, got {text!r}"
        ) from None
    return lowest, highest


def checked_word(text: str | None, option: str, word: str) -> str | None:
    """Read an option that has one value, where it is given."""
    if text not in (None, word):
        raise ValueError(f"{option} must be {word}, got {text!r}")
    return text


def csv_format_of(
    missing: list[str] | None,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    known: CsvFormat | None = None,
) -> CsvFormat | None:
    """Read the options on CSV files; what is not given is as the score says, or as usual."""
    given: dict[str, Any] = {
        "missing": missing or None,
        "separator": "\t" if separator in ("tab", "\\t") else separator,
        "decimal": decimal,
        "encoding": encoding,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return replace(known or CsvFormat(), **given) if given else known


def checked_unknown_levels(text: str) -> HandleUnknown:
    """Read --unknown-levels."""
    if text not in ("error", "ignore"):
        raise ValueError(f"--unknown-levels must be error or ignore, got {text!r}")
    return "ignore" if text == "ignore" else "error"


def arguments_of_pool(n_solutions: int | None, within: float | None, engine: str) -> dict[str, Any]:
    """Arguments of an engine that is to find several scores; none where one is wanted."""
    wanted = {"n_solutions": n_solutions, "within": within}
    given = {name: value for name, value in wanted.items() if value is not None}
    choice = engine_named(engine)
    if given and choice.name == "lattice_cpa":
        raise ValueError(
            "--n-solutions and --within need --engine branch_and_bound: lattice_cpa finds one risk "
            f"score{choice.remark}"
        )
    return given


def arguments_of_engine(
    n_solutions: int | None, within: float | None, solver: str | None, engine: str
) -> dict[str, Any]:
    """Arguments of an engine: of several scores, and of a solver."""
    return arguments_of_pool(n_solutions, within, engine) | arguments_of_solver(solver, engine)


def arguments_of_solver(solver: str | None, engine: str) -> dict[str, str]:
    """Arguments of an engine that works on a solver; none where it is left to it."""
    if engine_named(engine).name != "lattice_cpa":
        if solver is not None:
            raise ValueError("--solver needs --engine lattice_cpa: the other engine has no solver")
        return {}
    # Both before the data are read.
    check_solver(solver or DEFAULT_SOLVER)
    import_solver(solver or DEFAULT_SOLVER)
    return {} if solver is None else {"solver": solver}


def arguments_of_export(target: str, given: dict[tuple[str, str], Any]) -> dict[str, Any]:
    """Arguments of an export, from what was given for options."""
    options = {}
    for (option, name), value in given.items():
        if value is None:
            continue
        if name not in EXPORTS[target]:
            users = [other for other, names in EXPORTS.items() if name in names]
            raise ValueError(f"{option} needs --format {' or '.join(users)}, got {target}")
        options[name] = value
    if options.get("inputs") not in (None, "raw", "items"):
        raise ValueError(f"--inputs must be raw or items, got {options['inputs']!r}")
    return options
