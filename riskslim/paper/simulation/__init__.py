r"""Nested synthetic data of any size (Ustun & Rudin 2019, Appendix "Simulation Procedure").

Every feature is a noisy copy of a feature of a small source data set, every row a noisy copy of
one of its rows. Features therefore come in groups of near duplicates, which makes the choice
among them hard, and data sets of different sizes are nested: the one with fewer rows or fewer
features is the top left part of the other one.

The paper generates the largest data set and cuts the smaller ones out of it. Here every block of
rows of every column has a random stream of its own, so that a data set of any size is
generated directly, in the memory of the result, and is nested in the larger ones all the same.
"""

from __future__ import annotations

from riskslim.paper.simulation.paper import (
    SeizureData,
    SimulatedData,
    simulate,
    simulate_seizure,
    source_data,
)

__all__ = ["SeizureData", "SimulatedData", "simulate", "simulate_seizure", "source_data"]
