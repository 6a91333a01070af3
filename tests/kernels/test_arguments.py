"""Kernels validate nothing but what would end the process: None where an array belongs."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest

from paths import PACKAGE

# Of these no function takes an array.
WITHOUT_ARRAYS = {"build", "pool"}
SOURCES = sorted(
    path for path in (PACKAGE / "_kernels").glob("*.pyx") if path.stem not in WITHOUT_ARRAYS
)
FUNCTION = re.compile(r"^def (\w+)\((.*?)\):", re.MULTILINE | re.DOTALL)
ARRAY = re.compile(r"(?:const )?(\w+)\[(.*?)\] (\w+)")
TYPES = {"Py_ssize_t": "intp", "double": "float64", "float": "float32"}


def _functions_of(source):
    """Every function of a source, with dtype and dimensions of its arrays, None for a number."""
    for name, arguments in FUNCTION.findall(source.read_text(encoding="utf-8")):
        stated = re.split(r",(?![^\[]*\])", " ".join(arguments.split()).strip(" ,"))
        found = [ARRAY.match(argument.strip()) for argument in stated]
        yield name, [match and (_dtype(match[1]), match[2].count(",") + 1) for match in found]


def _dtype(stated):
    return TYPES.get(stated, stated.removesuffix("_t"))


def _empty(argument):
    return 0 if argument is None else np.zeros((0,) * argument[1], argument[0])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_none_for_an_array_is_an_error(source):
    kernels = import_module(f"riskslim._kernels.{source.stem}")
    checked = 0
    for name, arguments in _functions_of(source):
        for position, argument in enumerate(arguments):
            if argument is None:
                continue
            given = [_empty(other) for other in arguments]
            given[position] = None
            with pytest.raises(TypeError, match="must not be None"):
                getattr(kernels, name)(*given)
            checked += 1
    assert checked > 1
