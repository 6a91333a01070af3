"""The report: all about a risk score on one page of HTML that needs nothing else."""

from riskslim.report.methods import methods_text
from riskslim.report.page import check_packages, render

__all__ = ["check_packages", "methods_text", "render"]
