"""Calls with all kinds of arrays are done, or refused in words."""

from __future__ import annotations

import collections

from backend_calls import random_call


def test_random_calls():
    # tests/sanitize.py makes more of them, under AddressSanitizer and UBSan.
    outcomes = collections.Counter(random_call(seed) for seed in range(600))
    assert outcomes["done"] > 120
    assert len(outcomes) > 20
