"""Incumbents under limits on rates: of supports whose best scores break them, others may not."""

from __future__ import annotations

import numpy as np

from rated import draw
from riskslim import BranchAndBoundSettings, branch_and_bound
from riskslim.engines.branch_and_bound import rates


def test_scores_that_break_limits_lead_to_others_of_their_supports(monkeypatch):
    found, n_found = rates._Scan.found, []

    def noted(self, kept, live=None):
        vectors = found(self, kept, live)
        if live is not None:
            used = np.flatnonzero(live[1:]) + 1
            assert used.tolist() == kept
            assert all(np.isin(np.flatnonzero(vector[1:]) + 1, used).all() for vector in vectors)
            n_found.append(len(vectors))
        return vectors

    monkeypatch.setattr(rates._Scan, "found", noted)
    for seed in range(8):
        problem = draw(seed).build()
        branch_and_bound(problem, settings=BranchAndBoundSettings(tables="always"))
    assert len(n_found) > 5
    assert sum(n_found) > 0, n_found
