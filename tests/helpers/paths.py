"""Where things lie that tests read."""

from pathlib import Path

import riskslim

HELPERS = Path(__file__).resolve().parent
TESTS = HELPERS.parent
ROOT = TESTS.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GOLDEN = TESTS / "score" / "golden"
SHARED_DATA = ROOT.parent / "shared" / "data"  # the paper's data sets
# The package under test need not be the one beside the tests: it may be installed.
PACKAGE = Path(riskslim.__file__).resolve().parent
