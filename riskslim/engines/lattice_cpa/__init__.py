"""The lattice cutting plane algorithm of Ustun & Rudin (2019) on CPLEX.

model
    The surrogate problems RiskSlimMIP and RiskSlimLP.
initialization
    Standard CPA, and the initialization procedure.
search
    Incumbent, bounds and cuts of one search.
cuts
    The cuts that a search remembers.
callbacks
    CPLEX's legacy callbacks, which feed the search.
driver
    ``lattice_cpa``: the whole run.

The package is private because its public function has the room's name; use
``from riskslim import lattice_cpa``.
"""

from riskslim._lattice_cpa.driver import lattice_cpa
from riskslim._lattice_cpa.initialization import CPAResult, initialize, standard_cpa
from riskslim._lattice_cpa.model import RiskSlimLP, RiskSlimMIP
from riskslim._lattice_cpa.search import LatticeCPASettings

__all__ = [
    "CPAResult",
    "LatticeCPASettings",
    "RiskSlimLP",
    "RiskSlimMIP",
    "initialize",
    "lattice_cpa",
    "standard_cpa",
]
