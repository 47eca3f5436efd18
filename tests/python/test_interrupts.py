"""Ctrl-C in long calls: KeyboardInterrupt, and soon."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from support import ROOT, emplace, load_quietly

NMT = "problem = emplace.load('zoo:nmt?layers=2', machine='k40x2', training=True)"
RECIPE = f"{ROOT}/configs/recipes/quickstart.toml"


def interrupted(prepare, call, tmp_path, afterwards=""):
    """Seconds from the signal to KeyboardInterrupt. The program runs the line `afterwards` at its end."""
    program = f"""
import signal
import numpy as np
import emplace
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has background jobs ignore the signal
{prepare}
print("begun", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print("more:", problem.simulate(np.ones(problem.op_count, np.uint8)).makespan_ps > 0, flush=True)
{afterwards}
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        too_long = threading.Timer(120, process.kill)
        too_long.daemon = True
        too_long.start()
        assert process.stdout.readline() == "begun\n", process.stderr.read()
        time.sleep(1)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        seconds = time.monotonic() - begin
        rest, errors = process.stdout.read(), process.stderr.read()
        too_long.cancel()
    assert line == "interrupted\n", errors
    assert process.returncode == 0 and rest == "more: True\n", (process.returncode, rest, errors)
    return seconds


@pytest.mark.parametrize(
    ("prepare", "call"),
    [
        (f"{NMT}\nmany = np.ones((40000, problem.op_count), np.uint8)", "problem.simulate(many, threads=1)"),
        (f"{NMT}\nmany = np.ones((40000, problem.op_count), np.uint8)", "problem.simulate(many, threads=2)"),
        (NMT, "problem.place('best', seconds=60)"),
        (NMT, "problem.bound(60)"),
        (NMT, f"emplace.train({RECIPE!r}, evaluations=10**8, run='run')"),
        (NMT, f"emplace.train({RECIPE!r}, lambda row: None, evaluations=10**8, run='run')"),
    ],
    ids=["simulate", "simulate-threads", "place", "bound", "train", "train-callback"],
)
def test_ctrl_c_raises_keyboard_interrupt_soon(prepare, call, tmp_path):
    assert interrupted(prepare, call, tmp_path) < 10  # a second or so; machines may be busy
    if "run='run'" in call:
        assert (tmp_path / "run/status").read_text().strip() == "interrupted"
        assert (tmp_path / "run/checkpoint.h5").is_file()


class HandlerError(Exception):
    pass


def test_what_another_signals_handler_raises_ends_a_call():
    def handler(*_):
        raise HandlerError

    problem = load_quietly("zoo:nmt?layers=2", machine="k40x2")
    before = signal.signal(signal.SIGUSR1, handler)
    sender = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        begin = time.monotonic()
        sender.start()
        with pytest.raises(HandlerError):
            problem.place("climb", seconds=60)
        assert time.monotonic() - begin < 30
    finally:
        sender.cancel()
        signal.signal(signal.SIGUSR1, before)


def test_an_interrupted_bound_leaves_no_work_behind(tmp_path):
    prepare = """
import os, time

rng = np.random.default_rng(1)
edges = [(i, j) for i in range(60) for j in range(i + 1, 60) if rng.random() < 0.06]
problem = emplace.Problem(rng.random((60, 4)) + 0.5, edges=edges, edge_bytes=10**9, bandwidth_bytes_per_s=2e9)

def busy_share():
    begin, before = time.monotonic(), time.process_time()
    time.sleep(1)
    return (time.process_time() - before) / (time.monotonic() - begin)
"""
    interrupted(prepare, "problem.bound(60)", tmp_path, "time.sleep(2); assert busy_share() < 0.2")


def test_other_threads_of_python_run_meanwhile():
    problem = load_quietly("zoo:nmt?layers=2", machine="k40x2")
    placed = []
    thread = threading.Thread(target=lambda: placed.append(problem.place("climb", seconds=1)))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.01)
    assert turns > 20 and placed[0].feasible
