"""Makes problems of models on machines."""

from __future__ import annotations

import os
import warnings as python_warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._core import InputError
from ._problem import Path, Problem


class InputWarning(UserWarning):
    """A guess of the cost model."""


def load(
    model: Path,
    machine: Path | None = None,
    *,
    batch: int | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    training: bool | None = None,
    optimizer: str | None = None,
    fuse: bool | None = None,
    **passes: Any,
) -> Problem:
    """Makes the problem of a model on a machine.

    model: a model file (ONNX, OpenVINO IR, TensorFlow GraphDef or CostGraphDef, TensorFlow.js), or a built-in model
        "zoo:NAME?option=value" (list_models()). Without a machine: a problem JSON, a published workload
        ("FILE#instance"), or "MODEL@MACHINE".
    machine: a built-in machine such as "k40x2" (list_machines()), or a TOML file.
    batch: the first dimension of a model file's inputs, if the file does not give it.
    shapes: sizes of a model file's inputs by name, such as {"input": (1, 3, 224, 224)}.
    training: expand the model to a training step: forward pass, backward pass, updates.
    optimizer: which state training keeps for each parameter: "sgd", "momentum" or "adam".
    fuse: fuse element-wise ops into their producers, as runtimes do.
    passes: other keys of a recipe's table [roofline]: prune, contract, layers, coarsen, colocate.

    Each guess of the cost model raises an InputWarning; Problem.warnings lists them.
    """
    model = os.fspath(model)
    machine = None if machine is None else os.fspath(machine)
    if batch is not None and batch < 1:
        raise InputError(f"batch: must be at least 1, found {batch}")
    sizes = {name: [int(size) for size in shape] for name, shape in (shapes or {}).items()}
    roofline = {"training": training, "optimizer": optimizer, "fuse": fuse, **passes}
    roofline = {key: value for key, value in roofline.items() if value is not None}
    core = _core.load(model, machine, batch, sizes, roofline)
    # The same problem as keys of a recipe, for train().
    source: dict[str, Any] = {"problem": _core.absolute_source(model)}
    if machine is not None:
        source = {"graph": _core.absolute_source(model), "machine": _core.absolute_source(machine)}
    source["batch"] = batch
    source["shape"] = [f"{name}={'x'.join(map(str, shape))}" for name, shape in sizes.items()] or None
    source["roofline"] = roofline or None
    problem = Problem._of(core, {key: value for key, value in source.items() if value is not None})
    for warning in problem.warnings:
        python_warnings.warn(warning, InputWarning, stacklevel=2)
    return problem
