"""The command line: ``riskslim fit``, what is done with a risk score, and ``riskslim demo``.

It reads arguments, calls the library, and prints what comes back: the result on standard output,
everything else on standard error. :mod:`riskslim.cli.exit_codes` has the exit codes.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, NoReturn

from riskslim._wording import not_installed
from riskslim.cli.exit_codes import EXIT_MEMORY, EXIT_USAGE
from riskslim.cli.limits import checked_limits_of_system
from riskslim.cli.messages import explained
from riskslim.cli.signals import comes_of_ctrl_c
from riskslim.cli.streams import emit

if TYPE_CHECKING:
    import typer

__all__ = ["application", "main"]


def main() -> None:
    """Run the command line; without its packages, say how to get them."""
    if reason := checked_limits_of_system():
        emit(f"Error: {reason}", err=True)
        raise SystemExit(EXIT_MEMORY)
    for package in ("typer", "rich"):
        if importlib.util.find_spec(package) is None:
            _refuse(not_installed("the command line needs", package, extra="cli"))
    try:
        app = application()
    except (ImportError, ValueError) as error:  # a package, or kernels that are asked for
        if comes_of_ctrl_c(error):
            raise
        _refuse(explained(error))
    app(prog_name="riskslim")


def _refuse(message: str) -> NoReturn:
    emit(f"Error: {message}", err=True)
    raise SystemExit(EXIT_USAGE)


def application() -> typer.Typer:
    """Build the command line; its modules import typer.

    Returns
    -------
    typer.Typer
        With the commands.
    """
    import typer

    from riskslim.cli.alternatives import alternatives
    from riskslim.cli.apply import export, predict, recalibrate, report, scorecard, show
    from riskslim.cli.explain import explain
    from riskslim.cli.fit import demo, fit
    from riskslim.cli.help import Command, Commands
    from riskslim.cli.options import root
    from riskslim.cli.validate import validate

    app = typer.Typer(
        name="riskslim",
        cls=Commands,
        help="Risk scores that people add up by hand: a few whole points, found in your data, with "
        "a proof of how close to the best ones they are.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(root)
    for command in (
        fit, alternatives, predict, explain, validate, show, scorecard, recalibrate, report,
        export, demo,
    ):  # fmt: skip
        app.command(cls=Command)(command)
    return app
