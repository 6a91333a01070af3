"""Where exports run: databases, a JavaScript engine and evaluators of PMML.

Those of PMML need Java 11 or later: without it their tests are skipped.
"""

from __future__ import annotations

import shutil
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


def _with_java(package):
    """Import a package that runs on Java, or skip."""
    if shutil.which("java") is None:
        pytest.skip("java is not installed: nothing is checked in evaluators of PMML and in Spark")
    return pytest.importorskip(package, reason=f"{package} is not installed")


@pytest.fixture(scope="module")
def pmml4s():
    """The evaluator PMML4S: a function from a document to a model."""
    model = _with_java("pypmml").Model
    yield model.fromString
    model.close()


@pytest.fixture(scope="module")
def jpmml(tmp_path_factory):
    """The evaluator JPMML: a function from a document to a model."""
    package = _with_java("jpmml_evaluator")
    backend = package.make_backend("py4j")
    path = tmp_path_factory.mktemp("jpmml").joinpath("score.pmml")

    def evaluator(text):
        path.write_text(text, encoding="utf-8")
        return package.make_evaluator(str(path), backend)

    yield evaluator
    process = backend.gateway.java_process
    type(backend).destroyGateway()
    process.communicate()  # closes its pipes, and waits
