"""The native engine: branch and bound on the convex relaxation of the true loss.

The package is private because its public function, ``riskslim.branch_and_bound``, has the name that
the package would have.
"""

from riskslim._branch_and_bound.driver import branch_and_bound
from riskslim._branch_and_bound.search import BranchAndBoundSettings

__all__ = ["BranchAndBoundSettings", "branch_and_bound"]
