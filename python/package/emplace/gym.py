"""A Gymnasium environment: each step places one unit, the last step gives the reward.

Only this module needs gymnasium: pip install 'emplace[gym]'.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
import numpy.typing as npt

from ._core import InputError
from ._problem import Problem
from ._results import PICOSECONDS, Simulation

Observation = npt.NDArray[np.float32]


def _squashed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """x / (1 + x): maps [0, infinity] to [0, 1]."""
    return np.where(np.isinf(values), 1.0, values / (1.0 + np.where(np.isinf(values), 0.0, values)))


class PlacementEnv(gymnasium.Env[Observation, np.int64]):
    """Places one problem. An episode has one step for each of the U units, in topological order of their first ops.

    Action: Discrete(D), the device of the unit. action_masks() says which devices can run it; another action is
    accepted, but then the placement is not feasible.

    Observation: Box(0, 1, [5 D + 1], float32) about the unit that is placed next (zeros after the last unit), with
    s(x) = x / (1 + x):
        [0, D)     s(U x seconds of the unit on each device / reference_seconds); 1 if the device cannot run it
        [D, 2D)    1 if the device can run the unit, else 0
        [2D, 3D)   s(seconds of the units placed so far on each device / reference_seconds)
        [3D, 4D)   of the bytes that the unit reads from other units, the share that each device produced
        [4D, 5D)   s(resident bytes so far / memory of each device); 0 without a limit
        [5D]       share of the units that are placed

    Reward: 0 before the last step. The last step gives log(reference_seconds / step time), which is above 0 if the
    placement is faster than the reference, or with reward="seconds" -log(step time in seconds). A placement that is
    not feasible gets `infeasible_reward`.

    The last step's info has "makespan_ps", "feasible", "reason" and "placement" (uint8[N]); each info has
    "action_mask".
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        problem: Problem,
        grouping: str = "colocation",
        groups: int = 0,
        schedule: str = "fifo",
        reward: str = "relative",
        reference_seconds: float | None = None,
        infeasible_reward: float = -10.0,
    ) -> None:
        """grouping, groups: the units (Problem.units).
        schedule: "fifo"; or "priority" or "in-order", with the order that the placer "single" gives.
        reward: "relative" or "seconds".
        reference_seconds: by default the step time on the best single device.
        infeasible_reward: the reward of a placement that is not feasible.
        """
        if reward not in ("relative", "seconds"):
            raise InputError(f"reward: must be 'relative' or 'seconds', found {reward!r}")
        self.problem = problem
        self.units = problem.units(grouping, groups)
        self.schedule = schedule
        self.reward = reward
        self.infeasible_reward = infeasible_reward
        single = problem.place("single", schedule=schedule)
        if reference_seconds is None:
            if single.makespan_ps < 0:
                raise InputError("reference_seconds: is missing, and no single device gives a time")
            reference_seconds = single.makespan_ps / PICOSECONDS
        self.reference_seconds = reference_seconds
        self._order = single.order
        self._prepare()
        devices = problem.device_count
        self.action_space = gymnasium.spaces.Discrete(devices)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (5 * devices + 1,), np.float32)
        self._actions = np.zeros(self.units.count, dtype=np.uint8)
        self._began = False
        self._begin_episode()

    def _begin_episode(self) -> None:
        self._next = 0
        self._busy = np.zeros(self.problem.device_count)  # seconds of the units placed so far
        self._held = np.zeros(self.problem.device_count)  # resident bytes so far

    def _prepare(self) -> None:
        problem, unit_of_op, count = self.problem, self.units.unit_of_op, self.units.count
        seconds = np.maximum(problem.op_times_ps, 0) / PICOSECONDS
        self._seconds = np.zeros((count, problem.device_count))
        np.add.at(self._seconds, unit_of_op, seconds)
        self._resident = np.bincount(unit_of_op, problem.resident_bytes, count)
        limits = [np.inf if device.memory_bytes is None else device.memory_bytes for device in problem.devices]
        self._memory = np.maximum(np.array(limits, dtype=np.float64), 1.0)
        producer, consumer = unit_of_op[problem.edges["producer"]], unit_of_op[problem.edges["consumer"]]
        crosses = producer != consumer
        size = problem.tensors["bytes"][problem.edges["tensor"]]
        by_consumer = np.argsort(consumer[crosses], kind="stable")
        self._read_from = producer[crosses][by_consumer]
        self._read_bytes = size[crosses][by_consumer].astype(np.float64)
        self._read_begin = np.searchsorted(consumer[crosses][by_consumer], np.arange(count + 1))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """bool[D]: where the next unit can run."""
        if self._next == self.units.count:
            return np.ones(self.problem.device_count, dtype=np.bool_)
        return np.array(self.units.allowed[self._next])

    def _observe(self) -> Observation:
        devices, unit = self.problem.device_count, self._next
        observation = np.zeros((5, devices))
        if unit == self.units.count:
            return np.append(observation.ravel(), 1.0).astype(np.float32)
        allowed = self.units.allowed[unit]
        scale = self.units.count / self.reference_seconds
        observation[0] = np.where(allowed, _squashed(self._seconds[unit] * scale), 1.0)
        observation[1] = allowed
        observation[2] = _squashed(self._busy / self.reference_seconds)
        reads = slice(self._read_begin[unit], self._read_begin[unit + 1])
        made = self._read_from[reads] < unit  # a unit made of a group may also read from units after it
        total = self._read_bytes[reads].sum()
        if total > 0:
            places = self._actions[self._read_from[reads][made]]
            observation[3] = np.bincount(places, self._read_bytes[reads][made], devices) / total
        observation[4] = _squashed(self._held / self._memory)
        return np.append(observation.ravel(), unit / self.units.count).astype(np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode. Only sample() draws random numbers; `seed` seeds them."""
        super().reset(seed=seed)
        self._begin_episode()
        self._began = True
        return self._observe(), {"action_mask": self.action_masks()}

    def step(self, action: np.int64 | int) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Puts the next unit on the device `action`."""
        if not self._began:
            raise gymnasium.error.ResetNeeded("step: no episode has begun, reset() begins one")
        if self._next == self.units.count:
            raise InputError("step: the episode has ended, reset() begins another")
        device = int(action)
        if not 0 <= device < self.problem.device_count:
            raise InputError(f"step: an action is from 0 to {self.problem.device_count - 1}, found {device}")
        self._actions[self._next] = device
        self._busy[device] += self._seconds[self._next, device]
        self._held[device] += self._resident[self._next]
        self._next += 1
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        if self._next < self.units.count:
            return self._observe(), 0.0, False, False, info
        placement = self._actions[self.units.unit_of_op]
        result = self._simulate(placement, 1)
        info |= {
            "makespan_ps": int(result.makespan_ps),
            "feasible": bool(result.feasible),
            "reason": result.reason(),
            "placement": placement,
        }
        return self._observe(), float(self._rewards_of(result)), True, False, info

    def _simulate(self, placements: npt.NDArray[np.uint8], threads: int) -> Simulation:
        return self.problem.simulate(placements, self.schedule, self._order, threads=threads, peaks=False)

    def _rewards_of(self, result: Simulation) -> npt.NDArray[np.float64]:
        reference = self.reference_seconds if self.reward == "relative" else 1.0
        seconds = np.where(result.feasible, result.makespan_ps / PICOSECONDS, 1.0)
        return np.where(result.feasible, np.log(reference / seconds), self.infeasible_reward)

    def rewards(self, actions: npt.ArrayLike, threads: int = 0) -> npt.NDArray[np.float64]:
        """float64[B]: the rewards of B whole episodes with these actions (int[B, U]), simulated at once."""
        array = np.asarray(actions)
        if array.ndim == 0 or array.shape[-1] != self.units.count or array.dtype.kind not in "iu":
            raise InputError(
                f"actions: must be whole numbers of shape [..., {self.units.count}], found {array.dtype} {array.shape}"
            )
        return self._rewards_of(self._simulate(array[..., self.units.unit_of_op], threads))

    def sample(
        self, count: int, probabilities: npt.ArrayLike | None = None, threads: int = 0
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Draws `count` whole episodes at once: actions, uint8[count, U], and their rewards, float64[count].

        probabilities: float[U, D], weights of the devices of each unit; rows need not add up to 1. None: uniform.
            Devices that cannot run a unit are never drawn. reset(seed=...) seeds the random numbers.
        """
        wanted = (self.units.count, self.problem.device_count)
        weights = np.ones(wanted) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
        if weights.shape != wanted:
            raise InputError(f"probabilities: must have shape {list(wanted)}, found {list(weights.shape)}")
        weights = np.where(self.units.allowed, weights, 0.0)
        cumulated = np.cumsum(weights, axis=1)
        if not (np.isfinite(cumulated).all() and (weights >= 0).all() and (cumulated[:, -1] > 0).all()):
            raise InputError("probabilities: each unit needs one above 0 on a device that can run it, and none below 0")
        last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)  # rounding may exceed the sum
        drawn = self.np_random.random((count, self.units.count, 1)) * cumulated[:, -1:]
        actions = np.minimum((drawn >= cumulated).sum(axis=2), last).astype(np.uint8)
        return actions, self.rewards(actions, threads)
