"""The text of ``--help``: options under headings, one example for each command.

Importing this module imports typer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["EXAMPLES", "SECTIONS", "Command", "Commands"]

_READING = {
    "Reading files": (
        "missing_text", "separator", "decimal", "encoding", "memory_limit", "scratch",
    )
}  # fmt: skip

# Parameters of commands by heading; those that stand in none come first, as "Options".
SECTIONS: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({
    "fit": {
        "The data": (
            "outcome", "positive", "features", "exclude", "weights", "class_weight",
        ),
        "The score": (
            "max_size", "min_size", "max_coef", "max_intercept", "l0_penalty",
            "l2_penalty", "shrinkage", "scale", "sensitivity", "specificity",
        ),
        "Results": (
            "output", "report_file", "by", "points", "labels", "trace", "quiet", "verbose",
        ),
        "Items of raw columns, with --items": (
            "items", "thresholds", "n_thresholds", "max_thresholds", "round_thresholds",
            "threshold_digits", "categorical", "numeric", "missing", "special", "min_frequency",
            "min_events",
        ),
        "Requirements": (
            "sign", "monotone", "items_per_variable", "lower", "upper", "fix", "constraints",
        ),
        "The search": (
            "time_limit", "gap_tolerance", "node_limit", "threads", "engine", "solver", "seed",
        ),
        "All sizes, cross-validation, several scores": (
            "path", "cv", "folds", "rule", "metric", "n_jobs", "path_output", "cv_output",
            "checkpoint", "n_solutions", "within",
        ),
        **_READING,
    },
    "alternatives": {
        "The data": (
            "outcome", "positive", "features", "exclude", "weights", "class_weight",
        ),
        "The score": (
            "max_size", "min_size", "max_coef", "max_intercept", "l0_penalty",
            "l2_penalty", "shrinkage", "scale",
        ),
        "The alternatives": ("within", "n_sets", "prices", "time_limit", "threads", "engine"),
        "Which of them": (
            "without", "with_", "at_most_variables", "cost", "test", "group", "threshold",
            "bootstrap", "n_jobs", "seed",
        ),
        "Results": ("most", "choose", "output", "quiet", "verbose"),
        "Items of raw columns, with --items": (
            "items", "thresholds", "n_thresholds", "max_thresholds", "round_thresholds",
            "threshold_digits", "categorical", "numeric", "missing", "special", "min_frequency",
            "min_events",
        ),
        "Requirements": (
            "sign", "monotone", "items_per_variable", "lower", "upper", "fix", "constraints",
        ),
        **_READING,
    },
    **dict.fromkeys(("predict", "explain", "validate", "recalibrate", "report"), _READING),
})  # fmt: skip

# Commands as they are typed; each can be run after the one of fit.
EXAMPLES: Mapping[str, Sequence[str]] = MappingProxyType({
    "": (
        "riskslim demo",
        "riskslim fit patients.csv --outcome died --items --output score.json",
        "riskslim predict score.json others.csv",
        "riskslim validate score.json elsewhere.csv",
        "riskslim report score.json patients.csv --output report.html",
    ),
    "fit": (
        "riskslim fit patients.csv --outcome died --items --max-size 4 --output score.json",
    ),
    "alternatives": (
        "riskslim alternatives patients.csv --outcome died --items --max-size 4 --prices used",
    ),
    "predict": ('riskslim predict score.json others.csv --id "patient id" --output risks.csv',),
    "explain": ("riskslim explain score.json others.csv --row 0",),
    "validate": (
        "riskslim validate score.json other.csv --rename age=AGE --positive yes",
    ),
    "show": ("riskslim show score.json --by variable",),
    "scorecard": ("riskslim scorecard score.json --base-points 600 --base-odds 50 --pdo 20",),
    "recalibrate": (
        "riskslim recalibrate score.json later.csv --outcome died --output new.json",
    ),
    "report": ("riskslim report score.json patients.csv --test others.csv --output report.html",),
    "export": ("riskslim export score.json --format sql --table patients",),
    "demo": ("riskslim demo --by variable",),
})  # fmt: skip


class Command(TyperCommand):
    """A command whose options stand under headings, and whose example comes last."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options by heading."""
        sections = SECTIONS.get(self.name or "", {})
        heading_of = {name: head for head, names in sections.items() for name in names}
        order = [name for names in sections.values() for name in names]
        lines: dict[str, list[tuple[int, tuple[str, str]]]] = {"Arguments": [], "Options": []}
        lines |= {head: [] for head in sections}
        for k, parameter in enumerate(self.get_params(ctx)):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name = parameter.name or ""
            heading = heading_of.get(name, "Options")
            if parameter.param_type_name == "argument":
                heading, record = "Arguments", (record[0].partition(" <")[0], record[1])
            place = order.index(name) if name in order else k
            lines[heading].append((place, record))
        if len(lines["Options"]) == 1:  # --help, which comes last
            lines["Options"] = lines.pop("Options")
        for heading, found in lines.items():
            if found:
                with formatter.section(heading):
                    formatter.write_dl([record for _, record in sorted(found)])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments as the text calls them, without braces."""
        return [
            piece.strip("{}").replace("}...", "...") for piece in super().collect_usage_pieces(ctx)
        ]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example."""
        _write_examples(EXAMPLES.get(self.name or "", ()), formatter)


class Commands(TyperGroup):
    """The program, with the first steps at the end of its help."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the first steps."""
        _write_examples(EXAMPLES[""], formatter, "First steps")
        formatter.write_paragraph()
        formatter.write_text("riskslim COMMAND --help says more of each.")


def _write_examples(examples: Sequence[str], formatter: Any, heading: str = "Example") -> None:
    """Write commands as they are typed: no line is broken."""
    if not examples:
        return
    with formatter.section(heading):
        for line in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
