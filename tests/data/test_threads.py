"""Pieces of work on several threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from riskslim.data.threads import in_threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_each_piece_is_done_once(n_threads):
    done = np.zeros(20, int)

    def work(i):
        done[i] += i + 1

    in_threads(work, 20, n_threads)
    np.testing.assert_array_equal(done, np.arange(1, 21))


def test_two_threads_work_at_the_same_time():
    both = threading.Barrier(2, timeout=60)
    in_threads(lambda _: both.wait(), 2, 2)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_what_a_piece_raises_is_raised(n_threads):
    def work(i):
        if i == 2:
            raise KeyError(i)

    with pytest.raises(KeyError):
        in_threads(work, 4, n_threads)
