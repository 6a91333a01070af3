"""What the machine can read on one thread: the yardstick of every pass over the data."""

from __future__ import annotations

import pytest

from benchmarks.reference import StreamRead

MIB = 2**20


# In the L2 cache of most machines, in the L3 cache of many, in none.
@pytest.mark.parametrize("mebibytes", [1, 16, 512])
def test_read(measure, mebibytes):
    read = StreamRead(mebibytes * MIB)
    total = measure(
        read, family="bandwidth", kernel=f"read {mebibytes} MiB", role="riskslim",
        n_bytes=read.n_bytes,
    )  # fmt: skip
    assert total == read.n_bytes / 16
