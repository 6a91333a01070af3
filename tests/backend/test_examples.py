"""The examples of riskslim.backend: adapters for other packages, an extension in Cython."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

from paths import DOCS, ROOT
from riskslim import backend
from riskslim.data.packed import MAX_VALUES, MAX_WEIGHTS

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def adapters():
    return runpy.run_path(str(EXAMPLES / "backend.py"))


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (1000, 6)).astype(np.float32)
    X[:, 5] = random.normal(size=1000)
    score = X @ np.array([2.0, -1.0, 1.0, 0.0, 0.5, -1.5]) - 1.0
    return X, (random.random(1000) < 1 / (1 + np.exp(-score))).astype(np.int8)


def test_scipy(adapters, table):
    X, y = table
    coef = adapters["fitted_by_scipy"](backend.prepare(X, y), ridge=0.01)
    slope = backend.loss_and_gradient(coef, X, y)[1]
    slope[1:] += 0.01 * coef[1:]
    assert np.abs(slope).max() < 1e-7


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_scikit_learn(adapters, table, C):
    from sklearn.linear_model import LogisticRegression

    X, y = table
    peer = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(X.astype(float), y)
    coef, intercept = adapters["fitted_as_scikit_learn"](
        backend.prepare(X, y), C=C, tol=1e-8, max_iter=1000
    )
    np.testing.assert_allclose(coef, peer.coef_[0], atol=1e-5)
    assert intercept == pytest.approx(peer.intercept_[0], abs=1e-5)


def test_grown(adapters, table):
    X, y = table
    found = adapters["grown"](backend.prepare(X, y), 3)
    assert np.count_nonzero(found.coef[1:]) <= 3
    assert found.objective == pytest.approx(backend.loss(found.coef, X, y), rel=1e-14)
    assert found.objective < 0.95 * backend.loss(np.zeros(7), X, y)


def test_main(adapters, capsys):
    adapters["main"]()
    assert "grown score" in capsys.readouterr().out


def test_the_page_runs():
    text = (DOCS / "backend.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    namespace = {}
    exec(compile(example, "docs/backend.md", "exec"), namespace)
    assert namespace["polished"].objective <= namespace["rounded"].objective
    assert namespace["best"] == 2
    assert namespace["table"].weights.sum() == 10_000
    limits = f"{MAX_VALUES}", f"{MAX_WEIGHTS}"
    assert limits == ("8", "48"), "docs and docstrings of riskslim.backend name them"


@pytest.mark.slow
def test_the_extension_builds(tmp_path):
    pytest.importorskip("Cython")
    compiler = (sysconfig.get_config_var("CC") or "").split()
    if not compiler or shutil.which(compiler[0]) is None:
        pytest.skip("no C compiler")
    folder = shutil.copytree(EXAMPLES / "backend_cython", tmp_path / "example")
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    code = (
        "import numpy, mean_loss\n"
        "x, y = numpy.array([0.0, 1.5, -2.0]), numpy.array([1, -1, 1], numpy.int8)\n"
        "print(*mean_loss.mean_loss(x, y, 0.25, -0.5))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    ).stdout
    X, y = np.array([[0.0], [1.5], [-2.0]]), np.array([1, 0, 1])
    value, gradient = backend.loss_and_gradient(np.array([0.25, -0.5]), X, y)
    assert [float(word) for word in shown.split()] == pytest.approx([value, gradient[1]], rel=1e-15)
