"""Problems, simulations, placers and bounds."""

from __future__ import annotations

import os
import warnings as python_warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import (
    device_rows,
    floats,
    group_name_list,
    integers,
    memory_list,
    of_shape,
    one_placement,
    order_rows,
    shape_list,
    shape_text,
    texts,
)
from ._core import InputError
from ._results import Bound, Channel, CriticalPath, Device, Placed, SavedPlacement, Simulation, Timeline, Units

Path = str | os.PathLike[str]


class InputWarning(UserWarning):
    """A guess of the cost model, or information that a file lacks."""


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


class Problem:
    """Ops with a time on each device, the tensors between them, the devices, and the channels between devices.

    load(), Problem.from_file() and Problem.from_arrays() make one. It never changes; its arrays are read-only.
    """

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
        if edges is None:
            edges = np.zeros((0, 2), dtype=np.int64)
        edge_array = np.asarray(edges)
        if edge_array.ndim != 2 or edge_array.shape[1] != 2:
            raise InputError(f"edges: must have shape [E, 2], found {shape_text(edge_array.shape)}")
        count = len(edge_array)
        if bandwidth_bytes_per_s is None:
            if devices > 1:
                raise InputError(f"bandwidth_bytes_per_s: is missing; it must have shape [{devices}, {devices}]")
            bandwidth_bytes_per_s = 0.0
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
            floats(bandwidth_bytes_per_s, "bandwidth_bytes_per_s", pairs),
            None if channels is None else integers(channels, "channels", pairs),
            contention,
            list(zip(*op_texts)),
            floats(times, "op_seconds", (ops, devices)),
            integers(resident_bytes, "resident_bytes", (ops,)),
            integers(scratch_bytes, "scratch_bytes", (ops,)),
            integers(edge_array, "edges", (count, 2)),
            integers(edge_bytes, "edge_bytes", (count,)),
            integers(np.arange(count) if edge_tensors is None else edge_tensors, "edge_tensors", (count,)),
            shape_list(edge_shapes, count),
            None if expert is None else one_placement(expert, ops, "expert"),
        )

    @classmethod
    def from_arrays(cls, op_seconds: npt.ArrayLike, **arrays: Any) -> Problem:
        """The same as Problem(op_seconds, ...)."""
        return cls(op_seconds, **arrays)

    @classmethod
    def from_file(cls, path: Path) -> Problem:
        """Reads a problem JSON or a published workload (`FILE#instance`, `FILE?processors=4`)."""
        return load(path)

    @classmethod
    def _of(cls, core: _core.Problem, source: dict[str, Any] | None) -> Problem:
        problem = cls.__new__(cls)
        problem._handle = core
        problem._source = source
        return problem

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem._of, (self._handle, self._source)

    def __repr__(self) -> str:
        return (
            f"<emplace.Problem {self.name!r}: {self.op_count} ops, {self.edge_count} edges,"
            f" {self.device_count} devices>"
        )

    # ---- Contents ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the model and the machine, or of the file."""
        return self._handle.name

    @property
    def op_count(self) -> int:
        """N, the number of ops."""
        return self._handle.op_count

    @property
    def device_count(self) -> int:
        """D, the number of devices."""
        return self._handle.device_count

    @property
    def tensor_count(self) -> int:
        """T, the number of tensors."""
        return self._handle.tensor_count

    @property
    def edge_count(self) -> int:
        """E, the number of (tensor, consumer) pairs."""
        return self._handle.edge_count

    @cached_property
    def op_times_ps(self) -> npt.NDArray[np.int64]:
        """int64[N, D]: picoseconds of each op on each device; -1 if the device cannot run the op."""
        return self._handle.op_times

    @cached_property
    def resident_bytes(self) -> npt.NDArray[np.int64]:
        """int64[N]: bytes that the op's device holds during the whole step (weights, gradients, optimizer state)."""
        return self._handle.resident

    @cached_property
    def scratch_bytes(self) -> npt.NDArray[np.int64]:
        """int64[N]: bytes that the op needs while it runs."""
        return self._handle.scratch

    @cached_property
    def op_names(self) -> tuple[str, ...]:
        """N texts, all different."""
        return tuple(self._handle.op_names)

    @cached_property
    def op_types(self) -> tuple[str, ...]:
        """N texts such as "MatMul"; they may be empty."""
        return tuple(self._handle.op_types)

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """N texts such as "encoder/0", the part of the model that an expert places as one; "": none."""
        return tuple(self._handle.layers)

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """N texts such as "encoder/0/attention", the module that the op belongs to; "": none."""
        return tuple(self._handle.modules)

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """The D devices."""
        return tuple(Device(*device) for device in self._handle.devices)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The C channels."""
        return tuple(Channel(*channel) for channel in self._handle.channels)

    @cached_property
    def routes(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """D x D tuples: the channels from the row's device to the column's device, in order; (): no route."""
        return tuple(tuple(tuple(route) for route in row) for row in self._handle.routes)

    @cached_property
    def tensors(self) -> npt.NDArray[Any]:
        """Structured array of T rows with the fields producer (an op) and bytes (0: a control dependency)."""
        table = np.empty(self.tensor_count, dtype=[("producer", np.uint32), ("bytes", np.int64)])
        table["producer"] = self._handle.producers
        table["bytes"] = self._handle.tensor_bytes
        return _read_only(table)

    @cached_property
    def edges(self) -> npt.NDArray[Any]:
        """Structured array of E rows with the fields producer and consumer (ops) and tensor, ordered by tensor."""
        return _read_only(self._handle.edges)

    @cached_property
    def route_classes(self) -> npt.NDArray[np.int32]:
        """int32[D, D]: the column of transfer_times_ps for each ordered pair of devices; -1: no route."""
        return self._handle.route_classes

    @cached_property
    def transfer_times_ps(self) -> npt.NDArray[np.int64]:
        """int64[T, R]: picoseconds of each tensor's transfer on each of the R classes of routes."""
        return self._handle.transfer_times

    @cached_property
    def groups(self) -> npt.NDArray[np.int32]:
        """int32[N]: the co-location group of each op; all ops of a group must be on one device. -1: none."""
        return self._handle.groups

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The names of the co-location groups."""
        return tuple(self._handle.group_names)

    @cached_property
    def backward(self) -> npt.NDArray[np.bool_]:
        """bool[N]: whether a published workload marks the op as one of the backward pass."""
        return _read_only(self._handle.backward.astype(np.bool_))

    @cached_property
    def topological_order(self) -> npt.NDArray[np.uint32]:
        """uint32[N]: all ops, producers before consumers; of several possible ops the smallest number comes first."""
        return self._handle.topological

    @cached_property
    def expert(self) -> npt.NDArray[np.uint8] | None:
        """uint8[N]: the device of each op in a human expert's placement; None if there is none."""
        devices = self._handle.expert
        return _read_only(devices) if devices.size else None

    @cached_property
    def output_shapes(self) -> list[list[list[int]]]:
        """For each of the N ops a list of the shapes of its outputs, with 0 for a size that is not known.

        A tensor without a shape counts as one dimension of 4-byte elements.
        """
        return self._handle.output_shapes

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Guesses of the cost model, and information that a file lacks; one sentence each."""
        return tuple(self._handle.warnings)

    def units(self, grouping: str = "colocation", groups: int = 0, seed: int = 0) -> Units:
        """Groups ops into units, as a recipe's keys `grouping` and `groups` do.

        grouping: "op", "colocation", "chain", "random", "colocrl", "colocrl-group", "single-parent" or "even".
        groups: units are merged until at most this many remain; 0: they are not merged.
        seed: the seed of "random".
        """
        unit_of_op, allowed = self._handle.units(grouping, groups, seed)
        return Units(_read_only(unit_of_op), _read_only(allowed.reshape(-1, self.device_count).astype(np.bool_)))

    def upward_rank_order(self, placement: npt.ArrayLike) -> npt.NDArray[np.uint32]:
        """uint32[N]: all ops by decreasing upward rank under a placement (uint8[N]), as an order for simulate()."""
        return self._handle.upward_rank_order(one_placement(placement, self.op_count))

    # ---- Files ------------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Writes the problem as problem JSON, which from_file() and the program read.

        InputError for a problem that the format cannot express: one with given transfer times or backward ops.
        """
        self._handle.save(os.fspath(path))

    def save_placement(
        self, path: Path, placement: npt.ArrayLike, schedule: str = "fifo", order: npt.ArrayLike | None = None
    ) -> None:
        """Writes a placement (uint8[N], with an order uint32[N]) as placement JSON, which the program reads."""
        ops = self.op_count
        self._handle.save_placement(
            os.fspath(path), one_placement(placement, ops), schedule, order_rows(order, ops, ())
        )

    def read_placement(self, path: Path) -> SavedPlacement:
        """Reads a placement that the program or save_placement() wrote."""
        return SavedPlacement(*self._handle.read_placement(os.fspath(path)))

    # ---- Simulations ------------------------------------------------------------------------------------------------

    def simulate(
        self,
        placements: npt.ArrayLike,
        schedule: str = "fifo",
        order: npt.ArrayLike | None = None,
        threads: int = 0,
        peaks: bool = True,
        objective: str = "step",
    ) -> Simulation:
        """Simulates placements, exact to the picosecond. The results do not depend on the number of threads.

        placements: the device of each op, uint8[N], uint8[B, N] or with more leading dimensions. Other integer types
            are converted; arrays of uint8 with any strides are not.
        schedule: the order in which a device runs its ready ops: "fifo", "priority" or "in-order".
        order: for "priority" and "in-order": all ops, producers before consumers; uint32[N] for all placements, or an
            order for each placement in an array of the same shape as the placements.
        threads: number of threads; 0: one per core that the process may use. The GIL is released.
        peaks: compute each device's peak of memory too, which doubles the time or more.
        objective: "step", the time of a step; or "pipeline", the load of the busiest device.

        With "in-order", one order and peaks=False, 16 placements at a time are simulated in vector registers if the
        problem allows it, which is several times as fast.
        """
        rows, batch = device_rows(placements, self.op_count)
        orders = order_rows(order, self.op_count, batch)
        if threads < 0:
            raise InputError(f"threads: must be 0 or more, found {threads}")
        return Simulation(
            _core.simulate(self._handle, rows, schedule, objective, orders, threads, peaks, not batch), batch
        )

    def timeline(
        self, placement: npt.ArrayLike, schedule: str = "fifo", order: npt.ArrayLike | None = None
    ) -> Timeline:
        """The start and end of each op and transfer of a placement (uint8[N]). InputError if it has no times."""
        ops = self.op_count
        return Timeline(
            **_core.timeline(self._handle, one_placement(placement, ops), schedule, order_rows(order, ops, ()))
        )

    def critical_path(
        self, placement: npt.ArrayLike, schedule: str = "fifo", order: npt.ArrayLike | None = None
    ) -> CriticalPath:
        """The critical path of a placement (uint8[N]). InputError if the placement has no times."""
        ops = self.op_count
        steps, computing, transferring, waiting = _core.critical_path(
            self._handle, one_placement(placement, ops), schedule, order_rows(order, ops, ())
        )
        fields = ("op", "transfer", "tensor", "channel", "ready_ps", "start_ps", "end_ps")
        arrays: dict[str, Any] = {name: np.ascontiguousarray(steps[name]) for name in fields}
        return CriticalPath(
            **arrays,
            reason=np.array(_core.path_reasons())[steps["reason"]],
            computing_ps=computing,
            transferring_ps=transferring,
            waiting_ps=waiting,
        )

    # ---- Placers and bounds -----------------------------------------------------------------------------------------

    def place(
        self,
        method: str,
        seconds: float | None = None,
        evaluations: int | None = None,
        seed: int = 0,
        schedule: str = "fifo",
        objective: str = "step",
        start: npt.ArrayLike | None = None,
        start_order: npt.ArrayLike | None = None,
        **options: Any,
    ) -> Placed:
        """Finds a placement by a method that does not learn (list_placers()); "best" combines all methods.

        seconds, evaluations: two budgets; the method ends when either is used up.
        seed: the seed of random methods.
        schedule, objective: as in simulate().
        start: the placement (uint8[N]) from which searches and "best" begin.
        start_order: its order (uint32[N]); required unless the schedule is "fifo".
        options: options of the method (list_placers()).
        """
        ops = self.op_count
        if evaluations is not None and evaluations < 0:
            raise InputError(f"evaluations: must be above zero, found {evaluations}")
        if seed < 0:
            raise InputError(f"seed: must be 0 or more, found {seed}")
        return Placed(
            **_core.place(
                self._handle,
                method,
                seconds,
                evaluations,
                seed,
                schedule,
                objective,
                None if start is None else one_placement(start, ops, "start"),
                order_rows(start_order, ops, ()),
                options,
            )
        )

    def bound(self, seconds: float = 10.0, objective: str = "step") -> Bound:
        """A certified lower bound for every feasible placement. `seconds` is the budget of all methods together."""
        infeasible, ps, method, methods = _core.bound(self._handle, seconds, objective)
        if infeasible is not None:
            return Bound(None, "", {}, infeasible)
        return Bound(ps, method, dict(methods))


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
