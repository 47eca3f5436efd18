"""How launch/run-*.py time a step: the median of runs after a warm-up, with a look at how steady the machine is."""

import os
import pathlib
import statistics
import time

from placed import say

MOST_REPETITIONS = 3


CORES = sorted(os.sched_getaffinity(0))


def pin_to_cores(devices):
    """Keeps all threads of the process on one core for each device; says so if there are fewer."""
    if devices > len(CORES):
        say(f"{devices} devices share {len(CORES)} cores")
    for thread in pathlib.Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), CORES[:devices])
        except ProcessLookupError:
            pass  # the thread has ended


def timed(step, arguments, unplaced=None):
    """The median of the runs after the warm-up, so that outliers change nothing. Where the machine is not steady, all runs
    are repeated, at most twice; the last ones count."""
    for _ in range(arguments.warm_up):
        step()
        if arguments.reference:
            unplaced()
    for _ in range(MOST_REPETITIONS):
        seconds, reference, waiting = [], [], Waiting()
        for _ in range(arguments.runs):
            seconds.append(seconds_of(step))
            if arguments.reference:
                reference.append(seconds_of(unplaced))
        result = {**summary(seconds), "waited": waiting.share()}
        if is_steady(result):
            break
    say_waited(result)
    return against_reference(result, reference, arguments)


def is_steady(result):
    """False where the later half of the runs took 10 % longer or shorter than the earlier half."""
    if abs(result["drift"]) > 0.1:
        say(f"the machine is not steady: the later runs took {100 * result['drift']:+.0f} % longer than the earlier")
    return abs(result["drift"]) <= 0.1


def summary(seconds):
    middle, half = statistics.median(seconds), len(seconds) // 2
    spread = statistics.median(abs(value - middle) for value in seconds)
    drift = statistics.median(seconds[-half:]) / statistics.median(seconds[:half]) - 1 if half > 1 else 0.0
    return {"seconds": middle, "least": min(seconds), "runs": len(seconds), "drift": round(drift, 4),
            "outliers": sum(abs(value - middle) > 5 * spread for value in seconds)}


def against_reference(result, reference, arguments):
    if arguments.reference:
        slower = statistics.median(reference) / arguments.reference
        result["unplaced_seconds"], result["seconds"] = statistics.median(reference), result["seconds"] / slower
    return result


def seconds_of(step):
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


class Waiting:
    """How long a thread of this process waits for a core that others use."""

    def __init__(self):
        self.begin, self.delays = time.perf_counter(), self.now()

    @staticmethod
    def now():
        delays = {}
        for thread in pathlib.Path("/proc/self/task").iterdir():
            try:
                delays[thread.name] = int((thread / "schedstat").read_text().split()[1]) / 1e9
            except OSError:
                pass  # the thread has ended, or the kernel does not count
        return delays

    def share(self):
        """Of the time since the beginning, that of the thread that waited longest."""
        most = max((delay - self.delays.get(thread, 0) for thread, delay in self.now().items()), default=0)
        return round(most / (time.perf_counter() - self.begin), 4)


def say_waited(result):
    if result["waited"] > 0.1:
        say(f"a thread waited for a core for {100 * result['waited']:.0f} % of the time: other programs run, or there are more "
            "threads than cores")
