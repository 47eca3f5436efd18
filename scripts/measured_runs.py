"""How scripts/measured-table and scripts/hand-over-costs profile a model with a framework on one core, make the problem of
it, and run its placements: ONNX Runtime by emplace-measure-onnx, the others by launch/run-*.py."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "launch"))
import placed  # noqa: E402

RUNNERS = {"openvino": "run-openvino.py", "tensorflow": "run-tensorflow.py", "pytorch": "run-pytorch.py"}
ENDINGS = {"onnxruntime": ".onnx", "openvino": ".xml", "tensorflow": ".pb", "pytorch": ".pt2"}
FUSED = {"openvino", "tensorflow"}  # frameworks that fuse ops, oneDNN by itself (TensorFlow)
WARM_UP = "3"
ENDLESS = 1_000_000  # runs of the process on the other core, which is ended before


class Failed(Exception):
    """A program ended with an error, which is the text."""


def python():
    """That of scripts/frameworks, else the one that runs this."""
    environment = ROOT / "build/frameworks/venv/bin/python"
    return str(environment if environment.exists() else sys.executable)


def call(*command, text=None):
    """Standard output of a program."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, input=text)
    if done.returncode not in (0, 3):  # 3: nothing feasible, which the JSON says
        lines = [line for line in done.stderr.strip().splitlines() if line] or ["it ended without a message"]
        raise Failed(lines[-1].removeprefix("error: ")[:160])
    return done.stdout


def emplace(*arguments):
    return json.loads(call(placed.program(), *arguments, "--json"))


def find_onnxruntime():
    """Names the shared library of the Python package to emplace-measure-onnx, unless another is named."""
    if "ONNXRUNTIME_LIBRARY" not in os.environ:
        found = sorted((ROOT / "build/frameworks/venv").glob("lib/*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
        if not found:
            raise placed.Wrong("ONNXRUNTIME_LIBRARY names no library of ONNX Runtime, and scripts/frameworks was not run")
        os.environ["ONNXRUNTIME_LIBRARY"] = str(found[-1])


def with_dispatch(problem, step):
    """The problem with as much time as a step takes on the first device, where it is `step` seconds: what it takes more than the
    sum of the ops' times is the framework's work between ops, and what it takes less that of its profiler, each as
    long for every op that takes time."""
    for device in range(len(problem["devices"])):
        ops = [op for op in problem["ops"] if op["seconds"][device]]
        total = sum(op["seconds"][device] for op in ops)
        for op in ops:
            op["seconds"][device] = max(0.0, op["seconds"][device] + (step - total) / len(ops))
        scale = step / sum(op["seconds"][device] for op in ops) if step < total else 1.0
        for op in ops:
            op["seconds"][device] *= scale
    return problem


def with_pools_together(problem):
    """The problem in which each gradient of TensorFlow's max-pooling is on the device of the pooling: oneDNN keeps the positions
    of the maxima for it only there, and without them it takes many times as long."""
    for tensor in problem["tensors"]:
        pool = problem["ops"][tensor["from"]]
        gradients = [problem["ops"][reader] for reader in tensor["to"] if problem["ops"][reader]["type"] == "MaxPoolGrad"]
        if pool["type"] == "MaxPool" and gradients:
            group = next((op["colocate"] for op in [pool, *gradients] if op.get("colocate")), "pool/" + pool["name"])
            for op in [pool, *gradients]:
                op["colocate"] = group
    return problem


class Model:
    """A model in a folder of its own, which has all files that are made from it. Its runner keeps running until stop()."""

    def __init__(self, framework, file, work):
        self.framework, self.work, self.server = framework, work, None
        self.options = ["--fuse"] if framework in FUSED else []
        self.file = pathlib.Path(file)
        if framework == "onnxruntime":
            self.file = self.optimized()

    def optimized(self):
        """The model after ONNX Runtime's basic passes. It is beside its weights, as its segments will have to be."""
        for source in [self.file, *self.file.parent.glob(self.file.name + ".*")]:
            if source.parent.resolve() != self.work.resolve():
                shutil.copy(source, self.work)
        basic = self.work / "basic.onnx"
        call(placed.program() + "-measure-onnx", "optimize", self.work / self.file.name, "-o", basic)
        return basic

    def profiler(self, core, runs, profile):
        """The command that measures ops on a core."""
        command = ([placed.program() + "-measure-onnx", "profile", self.file] if self.framework == "onnxruntime" else
                   [python(), ROOT / "launch/profile-model.py", self.framework, self.file])
        return [str(each) for each in ("taskset", "-c", core, *command, "--runs", runs, "-o", profile)]

    def profile(self, runs, beside=False):
        """Measures ops on one core; returns the file and the seconds of a step without the profiler. `beside`: while another
        process does the same on the next core, so that the times contain what two busy cores cost each other."""
        profile, cores = self.work / ("profile-beside" if beside else "profile"), sorted(os.sched_getaffinity(0))

        def measure():
            printed = call(*self.profiler(cores[0], runs, profile))
            if self.framework != "onnxruntime":
                return profile, json.loads(printed.splitlines()[-1])["step_s"]
            step = call("taskset", "-c", cores[0], placed.program() + "-measure-onnx", "run", self.file, "--runs", runs)
            return profile, json.loads(step)["seconds"]

        if not beside:
            return measure()
        if len(cores) < 2:
            raise placed.Wrong("this process may use one core only, and placements need two")
        with subprocess.Popen(self.profiler(cores[1], ENDLESS, self.work / "profile-other"), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as other:
            try:
                measured = measure()
                if other.poll() is not None:
                    raise Failed("the process on the other core ended before the profile")
                return measured
            finally:
                other.kill()

    def problems(self, machine, runs):
        """The problem with the times of a core while the other is idle, and that while it is busy; made once. HETERO of
        OpenVINO runs parts one after the other, so that there the other core is always idle."""
        made = {}
        for beside in (False, True)[:1 if self.framework == "openvino" else 2]:
            made[beside] = self.work / ("problem-busy.json" if beside else "problem.json")
            if not made[beside].exists():
                profile, step = self.profile(runs, beside)
                part = self.problem(machine, profile, "problem.part")
                part.write_text(json.dumps(with_dispatch(with_pools_together(json.loads(part.read_text())), step)))
                part.rename(made[beside])
        return made[False], made.get(True, made[False])

    def predicted(self, idle, busy, placement):
        """The seconds of a step by the two problems of problems(): the step with each one's times, in proportion to the share
        of the work that is done while the other core works, too."""
        alone, beside = emplace("simulate", idle, placement), emplace("simulate", busy, placement)
        work = [device["busy_s"] for device in alone["devices"]]
        if self.framework == "openvino":
            return sum(work) + sum(channel["busy_s"] for channel in alone["channels"])
        overlap = max(0, sum(work) - alone["makespan_s"])
        return alone["makespan_s"] + min(1, 2 * overlap / sum(work)) * (beside["makespan_s"] - alone["makespan_s"])

    def problem(self, machine, profile, name="problem.json"):
        """The file of the problem; without a profile times are estimates."""
        problem = self.work / name
        measured = ["--profile", profile, "--profile-device", "cpu"] if profile else []
        call(placed.program(), "cost", self.file, machine, "--allow-unsized", *self.options, *measured, "-o", problem)
        return problem

    def run(self, placement, runs):
        """What the runner prints."""
        if self.framework == "onnxruntime":
            exported = self.work / placement.with_suffix(".onnx").name
            call(placed.program(), "export", placement, "--for", "onnx", "--model", self.file, "-o", exported)
            return json.loads(call(placed.program() + "-measure-onnx", "run", exported.with_suffix(".segments.json"), "--runs",
                                   runs, "--warm-up", WARM_UP))
        if self.server is None:
            with (self.work / "runner.log").open("w") as log:
                self.server = subprocess.Popen(self.runner(runs, WARM_UP), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               stderr=log, text=True)
        print(json.dumps(json.loads(placement.read_text())), file=self.server.stdin, flush=True)
        answer = json.loads(self.server.stdout.readline() or '{"error": "the runner has ended; see runner.log"}')
        if "error" in answer:
            raise Failed(f"{placement.stem}: {answer['error'][:160]}")
        return answer

    def runner(self, runs, warm_up, *more):
        """The command of a launch/run-*.py that answers each placement."""
        command = [python(), ROOT / "launch" / RUNNERS[self.framework], "--serve", "--model", self.file, "--allow-unsized",
                   *self.options, "--runs", runs, "--warm-up", warm_up, "--no-check", *more]
        return [str(each) for each in command]

    def evaluator(self, runs, unplaced):
        """The program for `evaluator = "command"`, and whether it keeps running. `unplaced`: seconds of a step without
        placement when the machine is as fast as it should be taken to be."""
        if self.framework == "onnxruntime":
            return [str(ROOT / "launch/measure-onnx"), str(self.file), "--runs", str(runs), "--warm-up", "1"], False
        return self.runner(runs, 1, "--reference", unplaced), True

    def stop(self):
        """Ends the runner, which the next call of run() starts again."""
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait()
            self.server = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Table:
    """A CSV in a folder, without the incomplete line of a killed run."""

    def __init__(self, folder, name, columns, settings):
        folder.mkdir(parents=True, exist_ok=True)
        self.file, self.columns, kept = folder / name, columns, folder / "settings"
        if self.file.exists() and (not kept.exists() or kept.read_text() != settings + "\n"):
            raise placed.Wrong(f"{folder} has a table of other settings; remove it or choose another folder")
        kept.write_text(settings + "\n")
        text = self.file.read_text() if self.file.exists() else ""
        self.file.write_text(text[:text.rfind("\n") + 1] or ",".join(columns) + "\n")
        self.rows = list(csv.DictReader(self.file.open()))

    def add(self, rows):
        with self.file.open("a") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        self.rows += [dict(zip(self.columns, map(str, values))) for values in rows]
