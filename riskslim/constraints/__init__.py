"""Constraints, each stated once: as rows of a solver, as a check, as propagation."""
