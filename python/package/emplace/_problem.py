"""Problems, simulations, placers and bounds."""

from __future__ import annotations

import os
import warnings as python_warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import device_rows, floats, integers, of_shape, one_placement, order_rows, shape_text, texts
from ._core import InputError

PICOSECONDS = 1e12

Path = str | os.PathLike[str]


class InputWarning(UserWarning):
    """A guess of the cost model, or information that a file lacks."""


class Device(NamedTuple):
    """A device: its name, its kind ("cpu", "gpu", ... or ""), and its memory in bytes (None: no limit)."""

    name: str
    kind: str
    memory_bytes: int | None


class Channel(NamedTuple):
    """A channel: latency in seconds, bandwidth in bytes per second, and whether transfers wait for each other."""

    name: str
    latency_s: float
    bytes_per_s: float
    contention: bool


class SavedPlacement(NamedTuple):
    """A placement from a file: device of each op, uint8[N]; order of the ops, uint32[N] or None; schedule or None."""

    placement: npt.NDArray[np.uint8]
    order: npt.NDArray[np.uint32] | None
    schedule: str | None


@dataclass(frozen=True)
class Units:
    """U sets of ops; all ops of a unit go to one device. Units are numbered by their first op in topological order.

    unit_of_op: uint32[N], the unit of each op. `devices[..., units.unit_of_op]` turns devices of units, uint8[B, U],
        into placements, uint8[B, N].
    allowed: bool[U, D], whether the device can run every op of the unit.
    """

    unit_of_op: npt.NDArray[np.uint32]
    allowed: npt.NDArray[np.bool_]

    @property
    def count(self) -> int:
        """U, the number of units."""
        return len(self.allowed)


class Simulation:
    """The results of Problem.simulate(). Arrays have the shape of the batch: () for one placement, [B] for B."""

    def __init__(self, outcomes: _core.Outcomes, batch: tuple[int, ...]) -> None:
        self._outcomes = outcomes
        self._batch = batch

    @cached_property
    def makespan_ps(self) -> npt.NDArray[np.int64]:
        """int64[B]: the step time in picoseconds (objective "pipeline": the load of the busiest device).

        -1 if there is none: an op cannot run on its device, or a route is missing. A placement that needs too much
        memory or splits a co-location group has a time, but is not feasible.
        """
        return self._outcomes.makespan_ps.reshape(self._batch)

    @cached_property
    def seconds(self) -> npt.NDArray[np.float64]:
        """float64[B]: the step time in seconds; NaN if there is none."""
        return np.where(self.makespan_ps < 0, np.nan, self.makespan_ps / PICOSECONDS)

    @cached_property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """bool[B]: whether every op can run, the memory suffices, and no co-location group is split."""
        return self._outcomes.feasible.reshape(self._batch)

    @cached_property
    def overflow_bytes(self) -> npt.NDArray[np.int64]:
        """int64[B]: bytes by which the devices' peaks exceed their memory, summed over devices."""
        return self._outcomes.overflow_bytes.reshape(self._batch)

    @cached_property
    def peak_bytes(self) -> npt.NDArray[np.int64] | None:
        """int64[B, D]: each device's peak of memory, in bytes; -1 if there is no step time. None with peaks=False."""
        peaks = self._outcomes.peak_bytes
        return None if peaks is None else peaks.reshape(*self._batch, peaks.shape[1])

    def reason(self, *index: int) -> str:
        """Why the placement at `index` of the batch is not feasible, as one sentence; "" if it is feasible.

        With peaks=False the sentence does not say how much memory is missing.
        """
        if len(index) != len(self._batch):
            raise IndexError(f"reason() needs {len(self._batch)} numbers, found {len(index)}")
        return self._outcomes.reason(int(np.ravel_multi_index(index, self._batch)) if index else 0)

    def __len__(self) -> int:
        if not self._batch:
            raise TypeError("the simulation of one placement has no length")
        return self._batch[0]

    def __repr__(self) -> str:
        return f"<emplace.Simulation of shape {shape_text(self._batch)}: {int(self.feasible.sum())} feasible>"


@dataclass(frozen=True)
class Timeline:
    """All start and end times of one step, in picoseconds from its start.

    makespan_ps: the step time.
    op_start_ps, op_end_ps: int64[N].
    transfers: a structured array, one row per transfer, ordered by start, with the fields tensor, from_device,
        to_device, requested_ps, start_ps and end_ps.
    device_busy_ps: int64[D], sum of the durations of the device's ops.
    device_peak_bytes: int64[D].
    channel_busy_ps: int64[C], sum of the durations of the transfers over the channel.
    channel_bytes: int64[C].
    """

    makespan_ps: int
    op_start_ps: npt.NDArray[np.int64]
    op_end_ps: npt.NDArray[np.int64]
    transfers: npt.NDArray[Any]
    device_busy_ps: npt.NDArray[np.int64]
    device_peak_bytes: npt.NDArray[np.int64]
    channel_busy_ps: npt.NDArray[np.int64]
    channel_bytes: npt.NDArray[np.int64]


@dataclass(frozen=True)
class CriticalPath:
    """The critical path: K ops and transfers, each of which begins when the one before it ends.

    op: int32[K]; -1 for a transfer.
    transfer: int32[K], the row in Timeline.transfers; -1 for an op.
    tensor: int32[K]; for a transfer the tensor that it sends, for an op the input that arrived last (-1: none).
    channel: int32[K], the channel for which a transfer waited (-1: none).
    ready_ps: int64[K], when all inputs of the op had arrived, or the transfer was requested.
    start_ps, end_ps: int64[K].
    reason: text[K], why it did not begin earlier: "none", "input", "device busy", "channel busy" or "turn".
    computing_ps, transferring_ps, waiting_ps: the parts of the step time; they add up to it.
    """

    op: npt.NDArray[np.int32]
    transfer: npt.NDArray[np.int32]
    tensor: npt.NDArray[np.int32]
    channel: npt.NDArray[np.int32]
    ready_ps: npt.NDArray[np.int64]
    start_ps: npt.NDArray[np.int64]
    end_ps: npt.NDArray[np.int64]
    reason: npt.NDArray[np.str_]
    computing_ps: int
    transferring_ps: int
    waiting_ps: int


@dataclass(frozen=True)
class Placed:
    """The result of a placer.

    placement: uint8[N], the device of each op.
    order: uint32[N], the order of the ops; None under "fifo".
    makespan_ps: the step time (or load) in picoseconds; -1 if there is none.
    feasible, reason: as in Simulation.
    evaluations: number of placements that the placer simulated.
    seconds: duration of the placer.
    lower_bound_ps: no feasible placement is faster than this.
    proved_optimal: whether it is proved that no placement is faster than this one.
    note: a remark of the placer, or "".
    """

    placement: npt.NDArray[np.uint8]
    order: npt.NDArray[np.uint32] | None
    makespan_ps: int
    feasible: bool
    reason: str
    evaluations: int
    seconds: float
    lower_bound_ps: int
    proved_optimal: bool
    note: str


@dataclass(frozen=True)
class Bound:
    """A lower bound on the step time (or load) of every feasible placement.

    ps: the largest bound of all methods, in picoseconds; None if no placement is feasible.
    method: the method that found it; "" if no placement is feasible.
    methods_ps: the bound of each method, in picoseconds.
    infeasible: one sentence that proves that no placement is feasible; None if some may be.
    """

    ps: int | None
    method: str
    methods_ps: Mapping[str, int] = field(default_factory=dict)
    infeasible: str | None = None


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def _memory_bytes(values: Any, devices: int) -> list[int | None]:
    """None: no limit."""
    listed = [values] * devices if np.ndim(values) == 0 else list(values)
    if len(listed) != devices:
        raise InputError(f"memory_bytes: must have shape [{devices}], found [{len(listed)}]")
    numbers = [None if value is None or value == np.inf else int(value) for value in listed]
    for device, number in enumerate(numbers):
        if number is not None and not 0 <= number <= 2**62:
            raise InputError(f"memory_bytes: must be from 0 to 2^62, found {number} for device {device}")
    return numbers


def _shapes(shapes: Sequence[Sequence[int] | None] | None, edges: int) -> list[list[int] | None]:
    if shapes is None:
        return []
    if len(shapes) != edges:
        raise InputError(f"edge_shapes: must have {edges} shapes, found {len(shapes)}")
    return [None if shape is None else integers(shape, "edge_shapes", (len(shape),)).tolist() for shape in shapes]


def _group_names(groups: npt.ArrayLike | None, ops: int) -> list[str]:
    if groups is None or np.asarray(groups).dtype.kind == "U":
        names = None if groups is None else [str(group) for group in np.asarray(groups)]
        return texts(names, "groups", ops, "")
    return ["" if group < 0 else f"group:{group}" for group in integers(groups, "groups", (ops,))]


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
            _group_names(groups, ops),
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
                    _memory_bytes(memory_bytes, devices),
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
            _shapes(edge_shapes, count),
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
