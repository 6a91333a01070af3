"""The benchmark of riskslim.backend compares the same results."""

from __future__ import annotations

import pytest

from benchmarks import backend

pytestmark = pytest.mark.benchmarks


def test_a_table(capsys):
    assert backend.main(["--rows", "3000", "--columns", "6"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("| best step of every coordinate |") == 2
    assert shown.count("| LogisticRegression.fit, packing included |") == len(backend.KINDS)


def test_an_unknown_kind():
    with pytest.raises(SystemExit):
        backend.main(["--kinds", "text"])
