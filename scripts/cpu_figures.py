"""Figures of a CPU with some threads as emplace's machine files have them, from measured times of language models."""

from __future__ import annotations

import ctypes
import functools
import json
import subprocess
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

CONTEXT = 256  # cells that llama.cpp reads at least


@dataclass(frozen=True)
class Figures:
    memory_bytes_per_s: float
    i8_flops: float  # products of quantised weights
    experts: float  # share of it that products with experts reach
    launch_overhead_s: float

    def __str__(self) -> str:
        return (f"{self.memory_bytes_per_s / 1e9:.1f} GB/s, {self.i8_flops / 1e9:.0f} GFLOP/s, experts at "
                f"{self.experts:.2f} of that, {self.launch_overhead_s * 1e6:.1f} us an op")  # fmt: skip

    def machine(self) -> str:
        tanh = 1 / (tanh_seconds() * self.i8_flops / 2)  # a share of the flops below: an op of one flop for each value
        return f"""name = "this-cpu"
[[device]]
name = "cpu"
kind = "cpu"
memory = "1 TiB"
memory_bytes_per_s = {self.memory_bytes_per_s:.4g}
launch_overhead_s = {self.launch_overhead_s:.4g}
peak_flops = {{ i8 = {self.i8_flops:.4g}, default = {self.i8_flops / 2:.4g} }}
efficiency = {{ default = 1, "ggml.mul_mat_id" = {min(1, self.experts):.4g}, "ggml.tanh" = {min(1, tanh):.4g} }}
"""


@functools.cache
def tanh_seconds() -> float:
    """Of one value. ggml calls the C library's tanhf for one value after another, on one thread however many there are."""
    loop = "#include <math.h>\nvoid loop(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = tanhf(x[i]); }"
    count = 1 << 18
    values, results = np.linspace(-2, 2, count, dtype=np.float32), np.empty(count, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loop.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-lm"], input=loop.encode(), check=True)
        run = ctypes.CDLL(str(library)).loop
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in (values, results)]
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            run(*addresses, count)
            times.append(time.perf_counter() - begin)
    return min(times) / count


START = Figures(2e10, 1e11, 0.7, 1e-5)


def predicted(program: str, figures: Figures, path: Path, prompt: int, folder: Path) -> dict[str, float]:
    """Seconds of a prompt that is computed as one micro-batch, and of a token after it."""
    machine = folder / "this-cpu.toml"
    machine.write_text(figures.machine())
    command = [program, "fit", path, machine, "--json", "--context", CONTEXT, "--prompt", prompt, "--micro-batch", prompt]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"emplace fit ends with {done.returncode} for {path}: {done.stderr.strip()}")
    plan = json.loads(done.stdout)
    return {"prefill_s": plan["first_token_s"], "decode_s": plan["step_s"]}


def calibrated(program: str, measured: dict[Path, dict[str, float]], prompt: int, folder: Path) -> Figures:
    """The figures with which predictions of these models' times are closest: least squares of logarithms, by
    Gauss-Newton steps, damped because few times may leave a figure open."""

    def errors(logs: np.ndarray) -> np.ndarray:
        figures = Figures(*np.exp(logs))
        times = [(predicted(program, figures, path, prompt, folder), wanted) for path, wanted in measured.items()]
        return np.array([np.log(found[key] / wanted[key]) for found, wanted in times for key in wanted])

    logs, step, damping = np.log(astuple(START)), 0.01, 0.02
    for _ in range(12):
        now = errors(logs)
        slopes = np.stack([(errors(logs + step * unit) - now) / step for unit in np.eye(len(logs))], axis=1)
        logs -= np.linalg.solve(slopes.T @ slopes + damping * np.eye(len(logs)), slopes.T @ now)
    return Figures(*map(float, np.exp(logs)))
