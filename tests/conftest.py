"""What all tests share: hypothesis settings and the paper's data sets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# Compiled code and solvers make single examples slow now and then, and a failure must be the
# same on every machine: no deadline, no random examples.
settings.register_profile("riskslim", deadline=None, derandomize=True, database=None)
settings.load_profile("riskslim")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SHARED_DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"no folder {SHARED_DATA}")
    for item in items:
        if item.get_closest_marker("shared_data") is not None:
            item.add_marker(skip)


@pytest.fixture
def shared_data() -> Path:
    """Folder of the paper's data sets, for tests marked with ``shared_data``."""
    return SHARED_DATA
