"""The command line in this process: what it prints and how it ends."""

from __future__ import annotations

from typer.testing import CliRunner

from riskslim.cli.app import application


def run(*arguments, code=0):
    result = CliRunner().invoke(application(), [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def usage_error(*arguments, code=2, n_lines=1) -> str:
    """The line of an error, alone or followed by what goes with it; standard output stays empty."""
    result = run(*arguments, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == n_lines, result.stderr
    return result.stderr
