"""Runs the program `emplace`, which is on the PATH."""

import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import cache

from best_known.kept import Placement, Refused


class Unfit(Exception):
    """The program refuses to do this with the problem, for example a method that is not for its objective."""


def picoseconds(seconds):
    """The ticks of a time in seconds: a double holds those of steps below 2000 s exactly."""
    return round(seconds * 1e12)


running = set()  # processes, for stop()
stopped = threading.Event()


def stop():
    stopped.set()
    for process in list(running):
        process.terminate()


@dataclass
class Ran:
    output: str
    core_share: float  # CPU time by wall-clock time: below 1 where other programs had the cores meanwhile


def ran(*arguments, before=("emplace",)):
    """Runs a command of the program, which the words `before` start. Unfit with the program's message if it fails."""
    if stopped.is_set():
        raise KeyboardInterrupt
    if shutil.which("emplace") is None:
        raise Refused("there is no `emplace` on the PATH; scripts/build builds it, into build/release")
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen([*before, *map(str, arguments)], stdout=output, stderr=errors)
        running.add(process)
        try:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except KeyboardInterrupt:  # in the main thread; a training still writes its checkpoint
            process.terminate()
            process.wait()
            raise
        finally:
            running.discard(process)
        if stopped.is_set():
            raise KeyboardInterrupt
        output.seek(0)
        errors.seek(0)
        if process.returncode not in (0, 3):  # 3: done, but nothing feasible found
            last = (errors.read().strip().splitlines() or [f"exit code {process.returncode}"])[-1]
            raise Unfit(last.removeprefix("error: "))
        return Ran(output.read(), (used.ru_utime + used.ru_stime) / (time.monotonic() - began))


def run(*arguments):
    return ran(*arguments).output


@cache
def version():
    return run("--version").strip()


def digest(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()[:16]


@cache
def build():
    """The version with a digest of the program on the PATH, which every change of it changes."""
    return f"{version()}+{digest(shutil.which('emplace'))}"


@cache
def recipes():
    return {each["name"] for each in json.loads(run("list", "recipes", "--json"))}


@cache
def placers():
    return {each["name"] for each in json.loads(run("list", "placers", "--json"))}


def read_placement(file):
    try:
        result = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused(f"{file}: {error}") from None
    if not isinstance(result, dict) or result.get("emplace") != "placement/1":
        raise Refused(f"{file} is not a placement JSON, which has \"emplace\": \"placement/1\"")
    return result


class Problem:
    """A problem as the program reads it now."""

    def __init__(self, argument, objective, schedule):
        self.argument = argument
        self.objective = objective
        self.schedule = schedule
        found = json.loads(run("inspect", argument, "--json", "--names"))
        if found["kind"] != "problem":
            raise Unfit(f"{argument} is a {found['kind']}, not a problem")
        self.digest = found["digest"]
        self.op_names = found["op_names"]
        self.device_names = found["device_names"]

    def scoring(self):
        return "--objective", self.objective, "--schedule", self.schedule

    def json_of(self, placement):
        ops = {op: self.device_names[device] for op, device in zip(self.op_names, placement.devices)}
        result = {"emplace": "placement/1", "problem": "", "schedule": self.schedule, "ops": ops}
        if placement.order:
            result["order"] = [self.op_names[op] for op in placement.order]
        return result

    def placement_of(self, result):
        device = {name: index for index, name in enumerate(self.device_names)}
        op = {name: index for index, name in enumerate(self.op_names)}
        try:
            devices = bytes(device[result["ops"][name]] for name in self.op_names)
            # Under fifo an order means nothing, and is not kept.
            order = () if self.schedule == "fifo" else tuple(op[name] for name in result.get("order") or ())
        except (KeyError, TypeError) as error:
            raise Unfit(f"the placement is not one of this problem: {error}") from None
        return Placement(devices, order)

    def simulated(self, placement):
        """Picoseconds, or None with the reason if the placement is not feasible."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kept.placement.json"
            file.write_text(json.dumps(self.json_of(placement)))
            return self.simulated_file(file)

    def simulated_file(self, file):
        outcome = json.loads(run("simulate", self.argument, file, *self.scoring(), "--json"))
        if not outcome["feasible"]:
            return None, outcome["reason"]
        return outcome["makespan_ps"] if self.objective == "step" else picoseconds(outcome["load_s"]), None

    def bound(self, seconds):
        """Picoseconds and the method."""
        found = json.loads(run("bound", self.argument, "--objective", self.objective, "--seconds", f"{seconds:g}", "--json"))
        if found["lower_bound_ps"] is None:
            raise Unfit(f"no placement is feasible: {found['reason']}")
        return found["lower_bound_ps"], found["method"]


@dataclass
class Found:
    placement: Placement | None  # None: no feasible one
    bound_ps: int  # certified by the search itself; 0: none
    seconds: float
    curve: list  # pairs of seconds and picoseconds, each better than those before
    core_share: float


def parse_method(text):
    """NAME[+key=value...][:kept], of a placer or a recipe: its name, its options, whether it starts from what is kept."""
    text, kept = (text.removesuffix(":kept"), True) if text.endswith(":kept") else (text, False)
    name, *options = text.split("+")
    if name not in placers() and name not in recipes():
        raise Refused(f"'{name}' is neither a placer nor a recipe; see `emplace list placers` and `emplace list recipes`")
    if not all(re.fullmatch(r"[^=]+=.*", option) for option in options):
        raise Refused(f"'{text}' is not a method such as best+rounds=2: an option has the form key=value")
    if kept and name not in placers():
        raise Refused(f"'{text}:kept': a recipe's training does not start from a placement")
    return name, options, kept


def search(problem, method, seconds, seed, start=None):
    """Runs a placer or a training for this long."""
    name, options, kept = parse_method(method)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if name in placers():
            arguments = ["place", name, problem.argument, *options, *problem.scoring(), "--seed", seed]
            arguments += ["--seconds", f"{seconds:g}", "--curve", folder / "curve.csv", "--json"]
            if kept:
                (folder / "start.placement.json").write_text(json.dumps(problem.json_of(start)))
                arguments += ["--start", folder / "start.placement.json"]
            done = ran(*arguments)
            times = [(float(row["seconds"]), int(row["step_ps"])) for row in csv.DictReader(open(folder / "curve.csv"))]
        else:
            arguments = ["train", name, f"problem={problem.argument}", f"objective={problem.objective}"]
            arguments += [f"schedule={problem.schedule}", f"seconds={seconds:g}", f"seed={seed}", f"run={folder / 'run'}"]
            done = ran(*arguments, "compare=[]", *options, "--json")
            rows = csv.DictReader(open(folder / "run" / "metrics.csv"))
            times = [(float(row["wall_seconds"]), picoseconds(float(row["best_step_time"]))) for row in rows if row["best_step_time"]]
    result = json.loads(done.output)
    placement = problem.placement_of(result) if result["feasible"] else None
    bound = picoseconds(result["lower_bound_s"]) if result.get("lower_bound_s") else 0
    curve = [point for i, point in enumerate(times) if all(point[1] < earlier[1] for earlier in times[:i])]
    return Found(placement, bound, result["seconds"], curve, done.core_share)
