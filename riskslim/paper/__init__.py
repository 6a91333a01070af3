"""Reproduction of Ustun & Rudin (2019): what is of no use beside that.

The standard cutting plane algorithm, whose stalling is what the lattice version mends; the methods
that the paper compares RiskSLIM with (:mod:`riskslim.paper.baselines`); its simulated data and its
seizure application (:mod:`riskslim.paper.simulation`).
"""

from riskslim.paper.cpa import standard_cpa as standard_cpa

__all__ = ["standard_cpa"]
