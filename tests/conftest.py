"""What all tests share: hypothesis settings, kernel backends, the paper's data sets."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from riskslim import _kernels

# Compiled code and solvers make single examples slow now and then, and a failure must be the
# same on every machine: no deadline, no random examples.
settings.register_profile("riskslim", deadline=None, derandomize=True, database=None)
settings.load_profile("riskslim")

HOME = Path(_kernels.__file__).resolve().parents[2]


def pytest_sessionstart() -> None:
    # numba steps in for kernels that are not compiled: many tests would fail, each in another way.
    if _kernels.CHOICE.backend == "cython" or os.environ.get(_kernels.VARIABLE):
        return
    raise pytest.UsageError(
        f"riskslim is imported from {HOME}, where {_kernels.CHOICE.reason}. Compile them, by "
        "'python setup.py build_ext --inplace' in a clone; or install the package, by 'pip install "
        "\".[test]\"', and start the tests by 'pytest': 'python -m pytest' in a clone imports the "
        f"clone's own folder. {_kernels.VARIABLE}=numba tests the kernels of numba."
    )


SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Numba compiles for minutes there: what fails fast comes first.
    items.sort(key=lambda item: item.path.name == "test_backends.py")
    if SHARED_DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"no folder {SHARED_DATA}")
    for item in items:
        if item.get_closest_marker("shared_data") is not None:
            item.add_marker(skip)


# Everything that reads rows through kernels.
_USERS = ("riskslim.data.distinct", "riskslim.heuristics.descent", "riskslim.loss.logistic")


@pytest.fixture(scope="module", params=_kernels.BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the tests of a module once per backend: one suite, one set of results."""
    try:
        modules = _kernels.load(request.param)
    except ImportError as error:
        if request.param == _kernels.CHOICE.backend:
            raise
        pytest.skip(f"no {request.param} kernels: {error}")
    home = f"{_kernels.__name__}."
    with pytest.MonkeyPatch.context() as patch:
        for user in (request.module, *(importlib.import_module(name) for name in _USERS)):
            for name, value in list(vars(user).items()):
                if getattr(value, "__spec__", None) and value.__name__.startswith(home):
                    patch.setattr(user, name, modules[value.__name__.rpartition(".")[2]])
        yield request.param


@pytest.fixture
def shared_data() -> Path:
    """Folder of the paper's data sets, for tests marked with ``shared_data``."""
    return SHARED_DATA
