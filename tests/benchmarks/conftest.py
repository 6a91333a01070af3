"""Make the repository's ``benchmarks`` importable: they are no part of the installed package."""

import sys

from paths import ROOT

# Last, not by pytest's `pythonpath`, which puts folders first: the package that is installed must
# come before its sources.
sys.path.append(str(ROOT))
