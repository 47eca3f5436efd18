"""Trains recipes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import InputError
from ._problem import Path, Problem

Metrics = dict[str, float]

# The keys with which a recipe gives its problem; in train() a Problem replaces them all.
PROBLEM_KEYS = ["problem", "problems", "graph", "machine", "batch", "shape", "roofline"]


@dataclass(frozen=True)
class Learned:
    """The best placement that a training found for one problem.

    problem: the name of the problem.
    placement: uint8[N], the device of each op.
    order: uint32[N], the order of the ops; None under "fifo".
    makespan_ps: the step time (or load) in picoseconds; -1 if there is none.
    feasible, reason: as in Simulation.
    evaluation: the number of the evaluation that found it, from 1.
    """

    problem: str
    placement: npt.NDArray[np.uint8]
    order: npt.NDArray[np.uint32] | None
    makespan_ps: int
    feasible: bool
    reason: str
    evaluation: int


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    best: the best placement of each problem.
    held_out: the policy's placement of each held-out problem.
    history: for each column of metrics.csv (docs/formats.md) a float64[updates]; NaN for an empty cell.
    updates, evaluations, seconds: totals of the run, including what it did before it was resumed.
    finished: True if a budget ended the training, False if the callback did.
    run: the run folder; None if it was a temporary one.
    """

    best: tuple[Learned, ...]
    held_out: tuple[Learned, ...]
    history: Mapping[str, npt.NDArray[np.float64]]
    updates: int
    evaluations: int
    seconds: float
    finished: bool
    run: str | None

    @property
    def placement(self) -> npt.NDArray[np.uint8]:
        """uint8[N]: the best placement of the (first) problem."""
        return self.best[0].placement

    @property
    def order(self) -> npt.NDArray[np.uint32] | None:
        """uint32[N]: the order of that placement; None under "fifo"."""
        return self.best[0].order

    @property
    def makespan_ps(self) -> int:
        """The step time (or load) of that placement in picoseconds; -1 if there is none."""
        return self.best[0].makespan_ps

    @property
    def feasible(self) -> bool:
        """Whether that placement is feasible."""
        return self.best[0].feasible


class _MetricsReader:
    """Reads the rows of a run's metrics.csv while the training writes them."""

    def __init__(self) -> None:
        self._offset = 0
        self._names: list[str] = []
        self.rows: list[list[float]] = []

    def new_rows(self, run: str) -> list[Metrics]:
        try:
            with open(os.path.join(run, "metrics.csv"), "rb") as file:
                file.seek(self._offset)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = whole.decode().splitlines()
        if lines and not self._names:
            self._names = lines.pop(0).split(",")
        rows = [[float(cell) if cell else float("nan") for cell in line.split(",")] for line in lines]
        self.rows += rows
        return [dict(zip(self._names, row)) for row in rows]

    def history(self) -> dict[str, npt.NDArray[np.float64]]:
        columns = np.array(self.rows, dtype=np.float64).reshape(-1, len(self._names)).T
        return {name: np.ascontiguousarray(column) for name, column in zip(self._names, columns)}


def _keep(problem: Problem, folder: str) -> str:
    """Writes a problem to a file of the folder that is named by its content, so that no file of a run is overwritten
    and a run of another problem has another configuration."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
        written = os.path.join(temporary, "problem.json")
        problem.save(written)
        with open(written, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:32]
        path = os.path.join(os.path.abspath(folder), f"{digest}.json")
        os.replace(written, path)
    return path


def _problem_keys(problem: Problem | Path, folder: str) -> dict[str, Any]:
    """The keys of a recipe that name this problem. A problem made from arrays is written to the folder first."""
    if not isinstance(problem, Problem):
        return {"problem": os.fspath(problem)}
    return problem._source or {"problem": _keep(problem, folder)}


def train(
    recipe: Mapping[str, Any] | Path,
    callback: Callable[[Metrics], object] | None = None,
    *,
    problem: Problem | Path | None = None,
    resume: bool = False,
    **overrides: Any,
) -> Trained:
    """Trains the policy of a recipe (docs/formats.md) in this process and returns the best placement.

    recipe: a TOML file, as those in configs/recipes, or a dictionary of the same keys; tables are dictionaries.
    callback: called after each update with the columns of metrics.csv, such as {"update": 1.0, "best_step_time": ...};
        an empty cell is NaN. The training ends if it returns False.
    problem: the problem, which replaces the recipe's: a value of the recipe's key `problem`, with the recipe's batch,
        shape and roofline; or a Problem, which replaces these too. One made from arrays is kept in RUN.problem/.
    resume: continue the unfinished run of the same recipe in its run folder, if there is one.
    overrides: other keys of the recipe: `updates=100`, `run="runs/mine"`, `post={"coarse_units": 4}`. Another policy or
        learner also replaces the options of the recipe's one.

    If neither the recipe nor an override names the run folder, it is a temporary one, which is deleted at the end.
    Ctrl-C ends the training after the present update, writes a checkpoint and raises KeyboardInterrupt; a second Ctrl-C
    does not wait for the update.
    """
    keys = dict(overrides)
    left_out: list[str] = []
    given: object = dict(recipe) if isinstance(recipe, Mapping) else os.fspath(recipe)
    reader = _MetricsReader()
    after_update = None
    started = False
    if callback is not None:
        wanted = callback  # mypy does not narrow a captured variable

        def after_update(run: str) -> bool:
            nonlocal started
            rows = reader.new_rows(run)
            if not started:  # rows that a resumed run had before
                started = True
                return False
            ends = [wanted(row) is False for row in rows]
            return any(ends)

    with tempfile.TemporaryDirectory(prefix="emplace-", ignore_cleanup_errors=True) as temporary:
        default_run = os.path.join(temporary, "run")
        if problem is not None:
            if isinstance(problem, Problem):
                left_out = PROBLEM_KEYS
            run = _core.run_of_recipe(given, left_out, keys)
            folder = f"{run.rstrip('/')}.problem" if run else temporary
            for key, value in _problem_keys(problem, folder).items():
                if key in keys:
                    raise InputError(f"train: {key} is given twice, by itself and with the problem")
                keys[key] = value
        result = _core.train(given, left_out, keys, default_run, resume, after_update)
        final = reader.new_rows(result["run"])
        if callback is not None and started:  # a finished run that is resumed has no update
            for row in final:  # rows of the last update
                callback(row)
        return Trained(
            best=tuple(Learned(*row) for row in result["problems"]),
            held_out=tuple(Learned(*row) for row in result["held_out"]),
            history=reader.history(),
            updates=result["updates"],
            evaluations=result["evaluations"],
            seconds=result["seconds"],
            finished=result["finished"],
            run=None if result["run"] == default_run else result["run"],
        )
