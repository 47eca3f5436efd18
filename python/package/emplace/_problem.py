"""Problems: their contents, simulations, placers and bounds."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import device_rows, one_placement, order_rows
from ._core import InputError
from ._from_arrays import ProblemOfArrays
from ._results import Bound, Channel, CriticalPath, Device, Placed, SavedPlacement, Simulation, Timeline, Units

Path = str | os.PathLike[str]


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


class Problem(ProblemOfArrays):
    """Ops with a time on each device, the tensors between them, the devices, and the channels between devices.

    load(), Problem.from_file() and Problem.from_arrays() make one. It never changes; its arrays are read-only.
    """

    @classmethod
    def from_arrays(cls, op_seconds: npt.ArrayLike, **arrays: Any) -> Problem:
        """The same as Problem(op_seconds, ...)."""
        return cls(op_seconds, **arrays)

    @classmethod
    def from_file(cls, path: Path) -> Problem:
        """Reads a problem JSON or a published workload (`FILE#instance`, `FILE?processors=4`)."""
        from ._load import load  # which itself needs this class

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
        """Guesses of the cost model, one sentence each."""
        return tuple(self._handle.warnings)

    def units(self, grouping: str = "colocation", groups: int = 0, seed: int = 0) -> Units:
        """Groups ops into units, as a recipe's keys `grouping` and `groups` do.

        grouping: "op", "colocation", "chain", "random", "colocrl", "colocrl-group", "colocrl-blocks",
            "single-parent", "even" or "layers".
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
