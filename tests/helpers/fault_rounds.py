"""How often faults are injected at random, and the seeds from which they are drawn.

``RISKSLIM_FAULT_ROUNDS=50 pytest -m faults`` tries more of them; ``RISKSLIM_FAULT_SEED`` begins
with other ones. Both are printed at the head of a run, and seeds with what fails.
"""

from __future__ import annotations

import os
import zlib

ROUNDS = int(os.environ.get("RISKSLIM_FAULT_ROUNDS", "1"))
FIRST_SEED = int(os.environ.get("RISKSLIM_FAULT_SEED", "0"))


def seed_of(what: str, k: int) -> int:
    """Seed of the k-th time that something is tried."""
    return FIRST_SEED + 1000 * (zlib.crc32(what.encode()) % 1000) + k
