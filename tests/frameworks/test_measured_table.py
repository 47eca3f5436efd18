"""How scripts/measured-table judges predictions."""

import importlib.machinery
import importlib.util
import sys

import pytest

from program import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
LOADER = importlib.machinery.SourceFileLoader("measured_table", str(ROOT / "scripts/measured-table"))
measured_table = importlib.util.module_from_spec(importlib.util.spec_from_loader("measured_table", LOADER))
LOADER.exec_module(measured_table)


def rows(*times):
    return [{"predicted_s": str(predicted), "measured_s": str(measured)} for predicted, measured in times]


@pytest.mark.parametrize("times, tau", [
    ([(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)], 1.0),
    ([(3.0, 10.0), (2.0, 20.0), (1.0, 30.0)], -1.0),
    ([(1.0, 10.0), (3.0, 20.0), (2.0, 30.0)], 1 / 3),  # one of three pairs is wrong
    ([(1.0, 10.0), (1.0, 20.0)], 0.0),  # predicted to be equal, and are not
    ([(1.0, 10.0), (2.0, 10.2)], None),  # equal within the noise of measurements
    # A second method that found the first placement, and one that found the last: still one wrong pair of three.
    ([(1.0, 10.0), (3.0, 20.0), (2.0, 30.0), (1.0, 10.0), (2.0, 30.0)], 1 / 3),
])
def test_kendalls_tau_is_over_placements_that_differ_by_more_than_noise(times, tau):
    found = measured_table.kendall(rows(*times))
    assert found is None if tau is None else found == pytest.approx(tau)
