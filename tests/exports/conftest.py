"""Where exports run: two databases and a JavaScript engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import duckdb
import pytest
from py_mini_racer import MiniRacer


@pytest.fixture
def sqlite():
    with closing(sqlite3.connect(":memory:")) as database:
        yield database


@pytest.fixture
def duck():
    with closing(duckdb.connect()) as database:
        yield database


@pytest.fixture(scope="module")
def javascript():
    with closing(MiniRacer()) as context:
        yield context
