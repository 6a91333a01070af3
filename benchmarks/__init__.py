"""Benchmarks of riskslim beside plain NumPy; see README.md."""
