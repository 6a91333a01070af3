"""Engines: each proves a lower bound on the objective, and finds the best score it can."""
