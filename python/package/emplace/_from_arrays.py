"""The constructor of Problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import (
    bandwidths,
    edge_list,
    floats,
    group_name_list,
    integers,
    memory_list,
    one_placement,
    shape_list,
    shape_text,
    texts,
)
from ._core import InputError


class ProblemOfArrays:
    """The base of Problem, with its constructor only."""

    _handle: _core.Problem
    _source: dict[str, Any] | None

    def __init__(
        self,
        op_seconds: npt.ArrayLike,
        *,
        edges: npt.ArrayLike | None = None,
        edge_bytes: npt.ArrayLike = 0,
        edge_tensors: npt.ArrayLike | None = None,
        bandwidth_bytes_per_s: npt.ArrayLike | None = None,
        latency_s: npt.ArrayLike = 0.0,
        channels: npt.ArrayLike | None = None,
        contention: bool = True,
        memory_bytes: Any = None,
        resident_bytes: npt.ArrayLike = 0,
        scratch_bytes: npt.ArrayLike = 0,
        groups: npt.ArrayLike | None = None,
        edge_shapes: Sequence[Sequence[int] | None] | None = None,
        expert: npt.ArrayLike | None = None,
        op_names: Sequence[str] | None = None,
        op_types: Sequence[str] | None = None,
        layers: Sequence[str] | None = None,
        modules: Sequence[str] | None = None,
        device_names: Sequence[str] | None = None,
        device_kinds: Sequence[str] | None = None,
        name: str = "arrays",
    ) -> None:
        """Makes a problem from arrays. A single number in place of an array is repeated.

        op_seconds: float[N, D], seconds of each op on each device; NaN: the device cannot run the op.
        edges: int[E, 2], producer and consumer of each edge; -1 as the consumer: an output that no op reads.
        edge_bytes: int[E], bytes that the consumer reads; 0: a control dependency.
        edge_tensors: int[E], edges with the same number are one tensor, which the producer holds once and sends once
            to each device. They need the same producer and bytes. None: each edge is a tensor of its own.
        bandwidth_bytes_per_s: float[D, D], from the row's device to the column's device; 0 or NaN: no route. Required
            if D > 1.
        latency_s: float[D, D], seconds that each transfer takes in addition to bytes / bandwidth.
        channels: int[D, D], pairs of devices with the same number share one channel; None: each ordered pair has a
            channel of its own.
        contention: whether transfers over the same channel wait for each other.
        memory_bytes: D numbers, or one for all devices; None or infinity: no limit.
        resident_bytes: int[N], bytes that the op's device holds during the whole step.
        scratch_bytes: int[N], bytes that the op needs while it runs.
        groups: int[N] (-1: none) or N texts ("": none), ops that must be on one device.
        op_names, op_types: N texts.
        device_names, device_kinds: D texts. Devices of the kind "cpu" are hosts, all others accelerators.

        Policies and placers may read these; no simulation depends on them:
        edge_shapes: for each of the E edges the sizes of its tensor, outermost first, -1 for one that is not known;
            None for an edge without a shape.
        layers, modules: N texts such as "encoder/0" and "encoder/0/attention"; "": none.
        expert: uint8[N], the device of each op in a human expert's placement.
        """
        times = np.asarray(op_seconds)
        if times.ndim != 2:
            raise InputError(f"op_seconds: must have shape [N, D], found {shape_text(times.shape)}")
        ops, devices = times.shape
        edge_array = edge_list(edges)
        count = len(edge_array)
        pairs = (devices, devices)
        op_texts = [
            texts(op_names, "op_names", ops, "op:#"),
            texts(op_types, "op_types", ops, ""),
            group_name_list(groups, ops),
            texts(layers, "layers", ops, ""),
            texts(modules, "modules", ops, ""),
        ]
        self._source = None
        self._handle = _core.from_arrays(
            name,
            list(
                zip(
                    texts(device_names, "device_names", devices, "device:#"),
                    texts(device_kinds, "device_kinds", devices, ""),
                    memory_list(memory_bytes, devices),
                )
            ),
            floats(latency_s, "latency_s", pairs),
            bandwidths(bandwidth_bytes_per_s, devices),
            None if channels is None else integers(channels, "channels", pairs),
            contention,
            list(zip(*op_texts)),
            floats(times, "op_seconds", (ops, devices)),
            integers(resident_bytes, "resident_bytes", (ops,)),
            integers(scratch_bytes, "scratch_bytes", (ops,)),
            edge_array,
            integers(edge_bytes, "edge_bytes", (count,)),
            integers(np.arange(count) if edge_tensors is None else edge_tensors, "edge_tensors", (count,)),
            shape_list(edge_shapes, count),
            None if expert is None else one_placement(expert, ops, "expert"),
        )
