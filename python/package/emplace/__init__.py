"""Places the operations of neural networks on devices: an exact, fast simulator, placers, bounds and trainings.

Ops, devices, tensors and channels are numbered from 0. Descriptions of arrays give the type and the shape, rows x
columns, with N ops, D devices, T tensors, E edges, C channels, U units and B placements. Times in arrays are whole
picoseconds (names end with `_ps`), sizes are whole bytes.

    problem = emplace.load("zoo:nmt?layers=2", machine="k40x2", training=True)
    result = problem.simulate(placements)   # uint8[B, N] -> result.makespan_ps, int64[B]
"""

from __future__ import annotations

from ._core import BugError, EnvironmentError, InputError
from ._core import version as _version
from ._lists import (
    Entry,
    Option,
    list_evaluators,
    list_learners,
    list_machines,
    list_models,
    list_placers,
    list_policies,
    list_readers,
)
from ._load import InputWarning, load
from ._problem import Problem
from ._results import (
    Bound,
    Channel,
    CriticalPath,
    Device,
    Placed,
    SavedPlacement,
    Simulation,
    Timeline,
    Units,
)
from ._training import Learned, Trained, train

__version__ = _version()

__all__ = [
    "Bound",
    "BugError",
    "Channel",
    "CriticalPath",
    "Device",
    "Entry",
    "EnvironmentError",
    "InputError",
    "InputWarning",
    "Learned",
    "Option",
    "Placed",
    "Problem",
    "SavedPlacement",
    "Simulation",
    "Timeline",
    "Trained",
    "Units",
    "__version__",
    "list_evaluators",
    "list_learners",
    "list_machines",
    "list_models",
    "list_placers",
    "list_policies",
    "list_readers",
    "load",
    "train",
]
