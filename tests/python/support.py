"""Shared by the tests of the Python package: the program, and random problems of small numbers."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest


def skip_or_fail(reason):
    """Skips a file of tests. ctest sets the variable, because its build has what they need: there they fail."""
    if os.environ.get("EMPLACE_TESTS_MUST_RUN"):
        raise RuntimeError(reason)
    pytest.skip(reason, allow_module_level=True)


if importlib.util.find_spec("emplace") is None:
    skip_or_fail("the package is not installed: scripts/python-test installs it")
import emplace  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("EMPLACE_PROGRAM", ROOT / "build/release/emplace"))
SCHEDULES = ["fifo", "priority", "in-order"]
TICK = 1e-12

if os.environ.get("EMPLACE_PROGRAM") and not PROGRAM.is_file():
    raise RuntimeError(f"EMPLACE_PROGRAM: there is no program {PROGRAM}")
needs_program = pytest.mark.skipif(
    not PROGRAM.is_file(), reason=f"there is no program {PROGRAM}: scripts/build builds it"
)


def run(*arguments, codes=(0,)):
    """Runs the program, which must end with one of `codes`."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in codes, f"{arguments} ended with {done.returncode}: {done.stderr}"
    return done


def printed(*arguments, codes=(0,)):
    """The JSON value that the program prints."""
    return json.loads(run(*arguments, codes=codes).stdout)


def error_of(*arguments):
    """The sentence with which the program refuses."""
    return run(*arguments, codes=(1, 2)).stderr.strip().removeprefix("error: ")


def random_problem(seed):
    """A problem JSON of few ops with small numbers, so that ties, missing routes and full memories are everywhere."""
    rng = np.random.default_rng(seed)
    devices = int(rng.integers(1, 5))
    ops = int(rng.integers(1, 30))
    channels = [
        {
            "name": f"c{c}",
            "latency_s": int(rng.integers(0, 4)) * TICK,
            "bytes_per_s": 1 / (int(rng.integers(1, 4)) * TICK),
            "contention": bool(rng.random() < 0.8),
        }
        for c in range(int(rng.integers(1, 6)))
    ]
    joined = 1.0 if rng.random() < 0.7 else 0.8
    routes = [
        {
            "from": i,
            "to": j,
            "channels": rng.permutation(len(channels))[: rng.integers(1, min(3, len(channels)) + 1)].tolist(),
        }
        for i in range(devices)
        for j in range(devices)
        if i != j and rng.random() < joined
    ]
    limited = rng.random() < 0.5
    groups = int(rng.integers(0, 4))
    everywhere = rng.random() < 0.5

    def op(i):
        times = [int(rng.integers(0, 7)) * TICK for _ in range(devices)]
        # Device 0 runs everything, so that each group has a device.
        times = [t if d == 0 or everywhere or rng.random() < 0.9 else None for d, t in enumerate(times)]
        return {
            "name": f"op {i}",
            "type": ["MatMul", "Relu", ""][i % 3],
            "seconds": times,
            "resident_bytes": int(rng.integers(0, 20)),
            "scratch_bytes": int(rng.integers(0, 10)),
            "colocate": f"g{rng.integers(groups)}" if groups and rng.random() < 0.3 else None,
        }

    tensors = []
    for i in range(ops):
        for _ in range(int(rng.integers(0, 3))):
            to = [j for j in range(i + 1, min(ops, i + 8)) if rng.random() < 0.3]
            tensors.append({"from": i, "bytes": int(rng.integers(0, 12)), "to": to})
    return {
        "emplace": "problem/2",
        "name": f"random {seed}",
        "devices": [
            {
                "name": f"d{d}",
                "kind": "cpu" if d == 0 else "gpu",
                "memory_bytes": int(rng.integers(60, 300)) if limited else None,
            }
            for d in range(devices)
        ],
        "channels": channels,
        "routes": routes,
        "ops": [op(i) for i in range(ops)],
        "tensors": tensors,
    }


def write_problem(path, seed):
    path.write_text(json.dumps(random_problem(seed)))
    return path


def load_quietly(*arguments, **options):
    """A problem without its warnings."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", emplace.InputWarning)
        return emplace.load(*arguments, **options)


def random_order(problem, rng):
    """A random topological order."""
    edges = problem.edges
    missing = np.bincount(edges["consumer"], minlength=problem.op_count)
    consumers = [edges["consumer"][edges["producer"] == op] for op in range(problem.op_count)]
    ready = [op for op in range(problem.op_count) if missing[op] == 0]
    order = []
    while ready:
        op = ready.pop(int(rng.integers(len(ready))))
        order.append(op)
        for consumer in consumers[op]:
            missing[consumer] -= 1
            if missing[consumer] == 0:
                ready.append(int(consumer))
    return np.array(order, dtype=np.uint32)


def random_placements(problem, count, rng):
    """Anywhere, but mostly where each op can run and groups are together."""
    placements = rng.integers(0, problem.device_count, (count, problem.op_count), dtype=np.uint8)
    for row in placements[: 3 * count // 4]:
        for op in range(problem.op_count):
            if problem.op_times_ps[op, row[op]] < 0:
                row[op] = 0
        for group in range(len(problem.group_names)):
            row[problem.groups == group] = 0
    return placements
