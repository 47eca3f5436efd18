"""The records that Problem's properties and methods return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import shape_text

PICOSECONDS = 1e12


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
