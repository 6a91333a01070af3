"""The lattice cutting plane algorithm of Ustun & Rudin (2019) on CPLEX or SCIP.

``driver`` holds the public function; ``docs/architecture.md`` says where the rest is.
"""
