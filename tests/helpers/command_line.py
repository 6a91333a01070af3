"""The command line in this process: what it prints and how it ends."""

from __future__ import annotations

import functools

from typer import testing

from riskslim.cli.app import application as _application

# What options are is read from signatures, which takes longer than most runs of tests: once.
application = functools.cache(_application)
testing._get_command = functools.cache(testing._get_command)


def invoke(*arguments):
    """Run, however it ends."""
    return testing.CliRunner().invoke(application(), [str(argument) for argument in arguments])


def run(*arguments, code=0):
    result = invoke(*arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def shown_by(result) -> str:
    """The result that a fit prints, without its last lines: figures and the next command."""
    text, last = result.stdout.split("\n\nOn the training rows")
    assert "AUC" in last
    return f"{text}\n"


def usage_error(*arguments, code=2, n_lines=1) -> str:
    """The line of an error, alone or followed by what goes with it; standard output stays empty."""
    result = run(*arguments, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == n_lines, result.stderr
    return result.stderr
