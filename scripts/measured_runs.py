"""How scripts/measured-table and scripts/hand-over-costs profile a model with a framework on one core, make the problem of
it, and run its placements: ONNX Runtime by emplace-measure-onnx, the others by launch/run-*.py."""

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


class Model:
    """A model in a folder of its own, which has all files that are made from it. Its runner is started once."""

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

    def profile(self, runs):
        """Measures ops on one core; returns the file."""
        profile = self.work / "profile"
        if self.framework == "onnxruntime":
            call(placed.program() + "-measure-onnx", "profile", self.file, "--runs", runs, "-o", profile)
        else:
            call("taskset", "-c", min(os.sched_getaffinity(0)), python(), ROOT / "launch/profile-model.py", self.framework,
                 self.file, "--runs", runs, "-o", profile)
        return profile

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
            command = [python(), ROOT / "launch" / RUNNERS[self.framework], "--serve", "--model", self.file, "--allow-unsized",
                       *self.options, "--runs", runs, "--warm-up", WARM_UP, "--no-check"]
            with (self.work / "runner.log").open("w") as log:
                self.server = subprocess.Popen([str(each) for each in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               stderr=log, text=True)
        print(json.dumps(json.loads(placement.read_text())), file=self.server.stdin, flush=True)
        answer = json.loads(self.server.stdout.readline() or '{"error": "the runner has ended; see runner.log"}')
        if "error" in answer:
            raise Failed(f"{placement.stem}: {answer['error'][:160]}")
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait()
