"""Where exports run: databases, a JavaScript engine and evaluators of PMML.

Those of PMML need Java 11 or later: without it their tests are skipped.
"""

from __future__ import annotations

import getpass
import shutil
import sqlite3
import subprocess
import tempfile
import time
import warnings
from contextlib import closing
from pathlib import Path

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


@pytest.fixture(scope="session")
def javascript():
    with closing(MiniRacer()) as context:
        yield context


def _with_java(package):
    """Import a package that runs on Java, or skip."""
    if shutil.which("java") is None:
        pytest.skip("java is not installed: nothing is checked in evaluators of PMML and in Spark")
    return pytest.importorskip(package, reason=f"{package} is not installed")


def _end(process):
    """Wait for a Java process that was told to end, and close the pipe to it.

    The pipes from it are not read: threads of py4j read them, and close them when it ends.
    """
    process.stdin.close()
    process.wait()


@pytest.fixture(scope="session")
def pmml4s():
    """The evaluator PMML4S: a function from a document to a model."""
    model = _with_java("pypmml").Model
    yield model.fromString
    model.close()


@pytest.fixture(scope="session")
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
    _end(process)


@pytest.fixture(scope="module")
def mariadb():
    """A connection to a server of its own, which listens on a socket only."""
    if shutil.which("mariadbd") is None or shutil.which("mariadb-install-db") is None:
        pytest.skip("mariadb-server is not installed: nothing is checked in MariaDB")
    client = pytest.importorskip("pymysql", reason="pymysql is not installed")
    # Not pytest's folder: the path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="riskslim") as folder:
        data, socket = Path(folder, "data"), str(Path(folder, "socket"))
        own = ["--no-defaults", f"--datadir={data}", f"--user={getpass.getuser()}"]
        subprocess.run(["mariadb-install-db", *own], check=True, capture_output=True)
        # Authentication is left out: nobody but this user reaches the socket.
        options = [f"--socket={socket}", "--skip-networking", "--skip-grant-tables"]
        with subprocess.Popen(["mariadbd", *own, *options], stderr=subprocess.DEVNULL) as server:
            try:
                deadline = time.monotonic() + 60
                while not Path(socket).exists() and time.monotonic() < deadline:
                    assert server.poll() is None, "the server has ended"
                    time.sleep(0.05)
                with closing(client.connect(unix_socket=socket, charset="utf8mb4")) as connection:
                    yield connection
            finally:
                server.terminate()


@pytest.fixture(scope="module")
def spark():
    """A session of Spark in one thread.

    Spark replaces how py4j reads answers by a function that asks Spark's own Java process about
    every exception, those of the evaluators of PMML too. The original is put back after it.
    """
    package = _with_java("pyspark")
    from py4j import java_gateway, protocol
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        options = {"spark.sql.shuffle.partitions": 1, "spark.sql.warehouse.dir": tempfile.mkdtemp()}
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    gateway = package.SparkContext._gateway
    session.stop()
    process = gateway.proc
    gateway.shutdown()
    java_gateway.get_return_value = protocol.get_return_value
    _end(process)
