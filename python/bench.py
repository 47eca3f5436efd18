"""Compares the speed of Problem.simulate() with a plain C++ loop of the engine.

    python python/bench.py [--ops 2000 10000] [--placements 256] [--repetitions 7] [--threads 2]

Each line is one graph. Numbers are nanoseconds per (op + edge) of a placement, medians of the repetitions:
- C++: CPU time of the engine's evaluate() over placements in memory (emplace._core.seconds_of_engine);
- Python: CPU time of simulate() on one thread, from a NumPy array to NumPy arrays;
- ratio: C++ / Python, the speed of simulate() relative to the engine;
- threads: wall time of simulate() on several threads, and how many times as fast that is as on one.

Under "in-order" with one order, simulate() takes 16 placements at a time, so its ratio is above 1. The graphs are like
those of bench/simulate.cpp: 1.5 edges per op, inputs from the 256 ops before, 4 devices, a channel for each ordered
pair of devices. All placements are random and differ.
"""

import argparse
import time

import numpy as np

import emplace
from emplace import _core

CASES = [("fifo", False), ("fifo", True), ("priority", False), ("in-order", False)]


def random_problem(ops, devices, rng):
    """Op times log-uniform in 1-100 us, tensors in 10 kB - 1 MB, one or two inputs from the 256 ops before."""
    seconds = 10 ** rng.uniform(-6, -4, (ops, 1)) * rng.uniform(0.5, 1.5, (ops, devices))
    op = np.arange(1, ops)
    reach = np.minimum(op, 256)
    first = op - 1 - rng.integers(reach)
    second = op - 1 - rng.integers(reach)
    two = (rng.random(ops - 1) < 0.5) & (second != first)
    edges = np.concatenate([np.stack([first, op], 1), np.stack([second[two], op[two]], 1)])
    unread = np.setdiff1d(np.arange(ops), edges[:, 0])
    edges = np.concatenate([edges, np.stack([unread, np.full(len(unread), -1)], 1)])
    sizes = (10 ** rng.uniform(4, 6, ops)).astype(np.int64)
    return emplace.Problem(
        seconds,
        edges=edges,
        edge_bytes=sizes[edges[:, 0]],
        edge_tensors=edges[:, 0],
        bandwidth_bytes_per_s=1e10,
        latency_s=1e-5,
        name=f"{ops} ops",
    )


def seconds(clock, call):
    begin = clock()
    call()
    return clock() - begin


def measure(problem, placements, schedule, peaks, arguments):
    """Medians in seconds: CPU of C++, CPU of simulate(), wall of simulate() on one thread and on several."""
    order = None if schedule == "fifo" else problem.topological_order

    def simulate(threads):
        return lambda: problem.simulate(placements, schedule, order, threads, peaks)

    simulate(arguments.threads)()  # makes the engines
    rounds = []
    for _ in range(arguments.repetitions):  # in turns, so that other programs disturb all of them
        rounds.append(
            [
                _core.seconds_of_engine(problem._handle, placements, schedule, order, peaks, 1),
                seconds(time.process_time, simulate(1)),
                seconds(time.perf_counter, simulate(1)),
                seconds(time.perf_counter, simulate(arguments.threads)),
            ]
        )
    return np.median(rounds, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=int, nargs="+", default=[2000, 10000])
    parser.add_argument("--placements", type=int, default=256)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    print(
        f"{'ops':>6} {'schedule':>9} {'peaks':>5} {'C++':>7} {'Python':>7} {'ratio':>6} {arguments.threads:>3} threads"
    )
    for ops in arguments.ops:
        problem = random_problem(ops, 4, rng)
        placements = rng.integers(0, 4, (arguments.placements, ops), dtype=np.uint8)
        unit = 1e-9 * arguments.placements * (problem.op_count + problem.edge_count)
        for schedule, peaks in CASES:
            engine, python, one, several = measure(problem, placements, schedule, peaks, arguments)
            print(
                f"{ops:>6} {schedule:>9} {'yes' if peaks else 'no':>5} {engine / unit:>7.2f} {python / unit:>7.2f}"
                f" {engine / python:>6.2f} {several / unit:>5.2f} {one / several:>4.2f}x",
                flush=True,
            )


if __name__ == "__main__":
    main()
