"""``--help``: every option under one heading, every command with an example that is right."""

from __future__ import annotations

import inspect
import shlex

import pytest
from typer.main import get_command

from command_line import run
from riskslim.cli.app import application
from riskslim.cli.help import EXAMPLES, SECTIONS

COMMANDS = get_command(application()).commands


def test_sections_name_parameters_once_and_those_of_fit_all():
    for name, sections in SECTIONS.items():
        named = [one for names in sections.values() for one in names]
        parameters = [one.name for one in COMMANDS[name].params]
        assert len(named) == len(set(named))
        # What reads files is the same everywhere; not every command reads so many rows.
        assert {*named} - {*parameters} <= {"memory_limit", "scratch"}
        if name == "fit":
            assert {*parameters} - {*named} == {"data"}


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_examples_can_be_parsed(command):
    text = run(*filter(None, [command]), "--help").stdout
    assert EXAMPLES[command]
    for line in EXAMPLES[command]:
        assert f"\n  {line}\n" in text
        program, name, *arguments = shlex.split(line)
        assert program == "riskslim"
        assert not command or name == command
        COMMANDS[name].make_context(name, arguments)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_has_whole_sentences(command):
    first = inspect.cleandoc(COMMANDS[command].help).splitlines()[0]
    assert first.endswith(".")
    assert f"{command:<12}  {first}\n" in run("--help").stdout
    assert "{" not in run(command, "--help").stdout.split("Options:")[0]
