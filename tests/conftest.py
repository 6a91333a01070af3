"""What all tests share: hypothesis settings, kernel backends, the paper's data sets."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from fault_rounds import FIRST_SEED, ROUNDS
from paths import PACKAGE, SHARED_DATA
from riskslim import _kernels

# Compiled code and solvers make single examples slow now and then, and a failure must be the
# same on every machine: no deadline, no random examples.
settings.register_profile(
    "riskslim", deadline=None, derandomize=True, database=None, max_examples=60
)
settings.load_profile("riskslim")

# To compile what tests import, with assertions that tell values, takes longer than many tests: it
# is kept where Python keeps it, for the next run and for the processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Ignored in the background of a script, or under nohup: tests send them to commands all the same.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if signal.getsignal(getattr(signal, _name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), _handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden", action="store_true", help="write the golden files of score sheets anew"
    )


def pytest_report_header() -> str:
    return (
        f"faults at random: {ROUNDS} rounds of each, RISKSLIM_FAULT_ROUNDS; seeds from "
        f"{FIRST_SEED} on, RISKSLIM_FAULT_SEED"
    )


def pytest_sessionstart() -> None:
    # Without compiled kernels many tests would fail, each in another way.
    if _kernels.are_complete():
        return
    if os.environ.get(_kernels.VARIABLE):
        raise pytest.UsageError(
            f"tests need all kernels, and those of numba are tested beside them: unset "
            f"{_kernels.VARIABLE}"
        )
    raise pytest.UsageError(
        f"riskslim is imported from {PACKAGE.parent}, where {_kernels.CHOICE.reason}. Compile "
        "them, by 'python setup.py build_ext --inplace' in a clone; or install the package, by "
        "'pip install \".[test]\"', and start the tests by 'pytest': 'python -m pytest' in a clone "
        "imports the clone's own folder."
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What numba compiles is kept for later processes, so that two at a time would compile the same:
    # all that need it are in the first worker, since workers begin with a part each and steal from
    # the ends, and first those that compile in the test's own process.
    def turn(item: pytest.Item) -> int:
        if not item.get_closest_marker("numba"):
            return 2
        return 0 if "backend" in item.fixturenames else 1

    items.sort(key=turn)
    if SHARED_DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"no folder {SHARED_DATA}")
    for item in items:
        if item.get_closest_marker("shared_data") is not None:
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    # Modules and tests stay to the end: collections of garbage need not look at them each time.
    gc.freeze()


def users_of_kernels() -> list[ModuleType]:
    """All modules of the package that hold modules of kernels."""
    home = f"{_kernels.__name__}."
    for path in PACKAGE.rglob("*.py"):
        if f"\nfrom {_kernels.__name__} import" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            importlib.import_module(".".join(("riskslim", *parts)))
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("riskslim.") and not f"{name}.".startswith(home)
    ]


def put_in_use(
    patch: pytest.MonkeyPatch, modules: Mapping[str, ModuleType], *others: ModuleType
) -> None:
    """Let the package, and other modules, use some modules of kernels."""
    home = f"{_kernels.__name__}."
    for name, module in modules.items():
        patch.setattr(_kernels, name, module)
    for user in (*others, *users_of_kernels()):
        for name, value in list(vars(user).items()):
            if isinstance(value, ModuleType) and value.__name__.startswith(home):
                patch.setattr(user, name, modules[value.__name__.rpartition(".")[2]])


@pytest.fixture
def use_kernels(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, ModuleType]], None]:
    """Let the package use some modules of kernels for the time of a test."""
    return lambda modules: put_in_use(monkeypatch, modules)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name == "cython" else getattr(pytest.mark, name))
        for name in _kernels.BACKENDS
    ],
)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the tests of a module once per backend: one suite, one set of results.

    With numba's kernels those of Cython alone are missing, as without a compiler.
    """
    if request.param == "numba":
        pytest.importorskip("numba")
    modules = _kernels.load(request.param)
    with pytest.MonkeyPatch.context() as patch:
        put_in_use(patch, modules, request.module)
        yield request.param


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, here and in processes that the test starts.

    Whoever runs the tests may have had it ignored, as nohup and `&` in scripts do: then it stays
    ignored in this process and in all that it starts, and what waits for it waits for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def shared_data() -> Path:
    """Folder of the paper's data sets, for tests marked with ``shared_data``."""
    return SHARED_DATA


@pytest.fixture
def no_diagrams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports without drawings, which take most of the time, where tests look at the rest."""
    from riskslim.report import svg

    def undrawn(draw: object, name: str, alternative: str, caption: str, *_: object) -> object:
        return svg.Diagram("", caption)

    monkeypatch.setattr(svg, "drawn_on_grid", undrawn)
