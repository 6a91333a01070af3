"""Options, cases and records that all benchmarks share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import pytest

from benchmarks.instances import KINDS, Case, Instance, Table, make_table
from benchmarks.machine import describe_machine

# Time for the rounds of one benchmark, in seconds, and their number.
_SECONDS, _FEWEST_ROUNDS, _MOST_ROUNDS = 0.3, 3, 50


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("riskslim benchmarks")
    group.addoption("--full", action="store_true", help="all sizes up to 10^7 rows")
    group.addoption("--sizes", type=_integers, help="numbers of rows, for example 1e5,1e6")
    group.addoption("--features", type=_integers, help="numbers of features, for example 10,30")
    group.addoption("--kinds", type=_kinds, help=f"kinds of data among {','.join(KINDS)}")


def _integers(text: str) -> list[int]:
    return [int(float(part)) for part in text.split(",")]


def _kinds(text: str) -> list[str]:
    unknown = set(text.split(",")) - set(KINDS)
    if unknown:
        raise ValueError(f"unknown kinds of data: {', '.join(sorted(unknown))}")
    return text.split(",")


def select_cases(
    config: pytest.Config, default: Sequence[Case], full: Sequence[Case]
) -> list[Case]:
    """Cases of a module: its default or full set, or what the options name."""
    chosen = list(full if config.option.full else default)
    given = [config.option.kinds, config.option.sizes, config.option.features]
    if not any(given):
        return chosen
    # An option that is left out takes all that the module's own cases have.
    axes = [
        values or list(dict.fromkeys(case[axis] for case in chosen))
        for axis, values in enumerate(given)
    ]
    return [Case(*values) for values in itertools.product(*axes)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.module
    if "case" in metafunc.fixturenames:
        cases = select_cases(metafunc.config, module.DEFAULT_CASES, module.FULL_CASES)
        # Session scope makes pytest run all benchmarks of one case together.
        metafunc.parametrize("case", cases, indirect=True, scope="session", ids=str)


@pytest.fixture(scope="session")
def case(request: pytest.FixtureRequest) -> Case:
    """Kind and size of the data."""
    chosen: Case = request.param
    return chosen


@pytest.fixture(scope="session")
def table(case: Case) -> Table:
    """Simulated data as arrays."""
    return make_table(case)


@pytest.fixture(scope="session")
def instance(case: Case) -> Instance:
    """A stated problem with its reference."""
    return Instance(case)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Any:
    """The kernels run on one thread, so BLAS has to as well."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.hookimpl
def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    # OpenBLAS is loaded, and can be described, once it has been needed.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        machine_info["riskslim"] = describe_machine()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show ratios to the reference and shares of the bandwidth, below pytest-benchmark's table."""
    from benchmarks.report import entries_of, write_summary

    session = getattr(config, "_benchmarksession", None)
    measured = [one for one in session.benchmarks if one] if session else []
    lines = write_summary(entries_of(one.as_dict(include_data=False) for one in measured))
    if lines:
        terminalreporter.section("beside the reference, of the fastest read (medians)")
        for line in lines:
            terminalreporter.write_line(line)


Measure = Callable[..., Any]


@pytest.fixture
def measure(benchmark: Any) -> Measure:
    """Measure a call as one entry of the report.

    ``measure(call, family=..., kernel=..., role=..., case=..., slow=False, **record)`` returns
    the result of the call. ``role`` is "riskslim", or "reference" for what it is compared with;
    what belongs together has the same family, kernel and case. A slow call is measured once.
    """

    def run(
        call: Callable[[], Any],
        *,
        family: str,
        kernel: str,
        role: str,
        case: Case | None = None,
        slow: bool = False,
        **record: Any,
    ) -> Any:
        benchmark.group = f"{kernel} {case or ''}".strip()
        benchmark.extra_info.update(
            {"family": family, "kernel": kernel, "role": role, **record},
            **(case._asdict() if case else {}),
        )
        if slow:
            return benchmark.pedantic(call, rounds=1)
        start = perf_counter()
        call()
        rounds = int(_SECONDS / max(perf_counter() - start, 1e-9))
        rounds = min(max(rounds, _FEWEST_ROUNDS), _MOST_ROUNDS)
        return benchmark.pedantic(call, rounds=rounds)

    return run
