"""What launch/run-tensorflow.py, run-openvino.py and run-pytorch.py share: the command line, `emplace export`, inputs,
the comparison of outputs and of devices."""

import argparse
import ctypes
import importlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
PASSED_ON = ("training", "fuse", "allow_unsized")  # options of `emplace export` that say how the problem was made


class Wrong(Exception):
    """What was asked for cannot be done: one sentence, exit code 2."""


class Differs(Exception):
    """The framework does not do what the placement or the model says: exit code 1."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def main(make_runner, description):
    """Prints what make_runner(arguments).run(folder) returns, with the errors and exit codes of emplace."""
    warnings.filterwarnings("ignore", category=FutureWarning)  # of a framework about itself
    keep_memory()
    arguments = command_line(description)
    try:
        if arguments.serve:
            serve(make_runner(arguments), arguments)
        else:
            with tempfile.TemporaryDirectory(prefix="emplace-run-") as folder:
                print(json.dumps(make_runner(arguments).run(pathlib.Path(folder))))
    except (Wrong, Differs) as error:
        say(f"error: {error}")
        sys.exit(2 if isinstance(error, Wrong) else 1)
    except KeyboardInterrupt:
        sys.exit(130)


def keep_memory():
    """Makes the C library keep the memory that ops free, as MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=2147483647 in the
    environment do. Else the kernel clears pages for most large tensors in each step, how many differs from process to
    process, and a step takes up to a fifth longer."""
    trim_threshold, mmap_max = -1, -4  # of malloc.h
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another C library than glibc
    mallopt(trim_threshold, 2**31 - 1)
    mallopt(mmap_max, 0)


def serve(runner, arguments):
    """Answers each line, a placement, with a line: the result, or {"error": why}. The first one is run twice: a process
    without memory of its own yet is slower for more steps than a warm-up has."""
    warm = False
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints is no answer
    for line in sys.stdin:
        with tempfile.TemporaryDirectory(prefix="emplace-run-") as folder:
            arguments.run = pathlib.Path(folder) / "line.json"
            arguments.run.write_text(line)
            try:
                if not warm:
                    runner.run(pathlib.Path(folder))
                warm, result = True, runner.run(pathlib.Path(folder))
            except (Wrong, Differs) as error:
                result = {"error": str(error)}
        print(json.dumps(result), file=answers, flush=True)


class Help(argparse.RawDescriptionHelpFormatter):
    """Begins as the help of the other launchers."""

    def _format_usage(self, usage, actions, groups, prefix):
        return super()._format_usage(usage, actions, groups, "Usage: ")


def command_line(description):
    """`description` is the script's docstring: what it does, its usage, then its own options as (name, settings)."""
    text, own = description
    parser = argparse.ArgumentParser(prog=f"launch/{pathlib.Path(sys.argv[0]).name}", description=text, formatter_class=Help)
    add = parser.add_argument
    add("run", metavar="RUN", nargs="?", help="folder of a run, a placement, or - for a placement on standard input")
    add("--serve", action="store_true",
        help="instead of RUN: a placement on each line of standard input; each is answered with a line")
    add("--model", help="the model that was placed; not needed for a run's folder")
    add("--shape", action="append", default=[], metavar="INPUT=SIZES", help="sizes of an input, as x=1x3x224x224")
    add("--batch", type=count(1), help="size of the unknown first dimension of the inputs")
    for name in PASSED_ON:
        add("--" + name.replace("_", "-"), action="store_true", help="as the placement was made")
    add("--optimizer", help="as the placement was made")
    add("--rename", action="append", default=[], metavar="DEVICE=NAME", help="the framework's name of a device")
    add("--runs", type=count(1), default=20, help="timed runs, whose median is printed (20)")
    add("--warm-up", type=count(0), default=5, help="runs before them, which do not count (5)")
    add("--threads", type=count(1), default=1, help="threads of each device (1)")
    add("--tolerance", type=float, default=1e-4, help="largest relative difference of outputs (0.0001)")
    add("--reference", type=float, metavar="SECONDS",
        help="what the model takes unplaced when the machine is as it should be: runs of it between the timed runs "
        "then say how much slower the machine is now, and the printed time is divided by that")
    add("--no-check", dest="check", action="store_false", help="neither compare outputs nor say where ops ran")
    for name, settings in own:
        add(name, **settings)
    if len(sys.argv) == 1:
        parser.print_help(sys.stderr)
        sys.exit(2)
    arguments = parser.parse_args()
    if (arguments.run is None) != arguments.serve:
        parser.error("needs either RUN or --serve")
    return arguments


def count(least):
    def parse(text):
        if not re.fullmatch(r"\d+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"needs a whole number from {least} on, got '{text}'")
        return int(text)

    return parse


def framework(package, version):
    """The imported package. Starts the script again in the environment of scripts/frameworks if only that has it."""
    if importlib.util.find_spec(package) is None:
        environment = ROOT / "build/frameworks/venv"
        if (environment / "bin/python").exists() and pathlib.Path(sys.prefix) != environment:
            os.execv(environment / "bin/python", [str(environment / "bin/python"), *sys.argv])
        raise Wrong(f"{package} is not installed for {sys.executable}; scripts/frameworks installs it")
    module = importlib.import_module(package)
    if module.__version__.split(".")[0] != version:
        raise Wrong(f"{package} is {module.__version__}, and this script was written for version {version}")
    return module


def program():
    """As find_program in launch/parts."""
    if given := os.environ.get("EMPLACE"):
        if found := shutil.which(given):
            return found
        raise Wrong(f"EMPLACE is '{given}', which is not a program")
    for path in (ROOT / "build/release/emplace", ROOT / "../../bin/emplace", shutil.which("emplace")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise Differs("no emplace here; run scripts/build")


class Exported:
    """A placement as `emplace export` wrote it for the framework."""

    def __init__(self, file, report, renamed, placement, settings):
        self.file = file  # what was written
        self.model = report["model"]
        self.not_in_model = report["not_in_model"]
        self.renamed = renamed  # the framework's name of each device, in the order of our names
        self.device_of_op = placement["ops"]
        self.order = placement.get("order")
        self.shapes = dict(text.rsplit("=", 1) for text in settings.get("shape", []))
        self.batch = settings.get("batch")

    def asked(self):
        """The framework's device of each op that was placed."""
        added = set(self.not_in_model)
        return {op: self.renamed[device] for op, device in self.device_of_op.items() if op not in added}


def natural(name):
    """cpu:10 comes after cpu:2."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def export(arguments, folder, target, ending, name_of):
    """Exports the placement; name_of(number) is the framework's name of the device that comes at this position. Without
    it devices get the names of PyTorch: "cpu", "cuda:0" for "gpu:0"."""
    name_of_device = {"cpu": lambda number: "cpu", "gpu": lambda number: f"cuda:{number}"}
    placement = pathlib.Path(arguments.run)
    if arguments.run == "-":
        placement = folder / "placement.json"
        placement.write_bytes(sys.stdin.buffer.read())
    elif placement.is_dir():
        placement = placement / "best.placement.json"
    config = placement.parent / "config.toml"  # a run's: it names the model and the sizes of its inputs
    settings = {"shape": arguments.shape, "batch": arguments.batch}
    if arguments.model is None and config.exists() and (placement.parent / "checkpoint.h5").exists():
        settings = tomllib.loads(config.read_text())
    try:
        content = json.loads(placement.read_text())
        devices = sorted(set(content["ops"].values()), key=natural)
    except OSError as error:
        raise Wrong(f"{placement}: cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        devices = []  # emplace says what is wrong
    given = dict(text.split("=", 1) for text in arguments.rename if "=" in text)
    for device in given:
        if devices and device not in devices:
            raise Wrong(f"--rename: no op is on the device '{device}'; there are ops on {', '.join(devices)}")
    renamed = {}
    for i, device in enumerate(devices):
        kind, _, number = device.partition(":")
        name = name_of(i) if name_of else name_of_device.get(kind, lambda number: device)(number)
        renamed[device] = given.get(device, name)

    file = folder / f"placed{ending}"
    command = [program(), "export", str(placement), "--for", target, "-o", str(file), "--json"]
    for device, name in renamed.items():
        command += ["--rename", f"{device}={name}"]
    for option in ("model", "optimizer", "batch"):
        if (value := getattr(arguments, option)) is not None:
            command += [f"--{option}", str(value)]
    for shape in arguments.shape:
        command += ["--shape", shape]
    command += ["--" + option.replace("_", "-") for option in PASSED_ON if getattr(arguments, option)]
    done = subprocess.run(command, capture_output=True, text=True)
    *notes, last = done.stderr.strip().splitlines() or [""]
    for line in notes + [last] * (done.returncode == 0):
        say(line)
    if done.returncode != 0:
        raise (Wrong if done.returncode == 2 else Differs)(last.removeprefix("error: "))
    report = json.loads(done.stdout)
    if report["not_in_model"]:
        say(f"{len(report['not_in_model'])} ops of the placement are not in the model's file (shared weights, and what was "
            "added for training): what runs is the file")
    return Exported(file, report, renamed, content, settings)


def sizes_of(name, sizes, exported):
    """Sizes of an input, those that the model leaves open (None) as the options say, else 1."""
    if text := exported.shapes.get(name, exported.shapes.get(name + ":0")):
        given = [int(size) for size in text.split("x")]
        if sizes is not None and len(given) != len(sizes):
            raise Wrong(f"--shape: the input '{name}' has {len(sizes)} dimensions, found {text}")
        return given
    if sizes is None:
        raise Wrong(f"the model does not say how many dimensions its input '{name}' has: give --shape {name}=SIZES")
    sizes = list(sizes)
    if sizes and sizes[0] is None and exported.batch:
        sizes[0] = exported.batch
    if None in sizes:
        say(f"sizes of the input '{name}' that the model does not fix are taken as 1 (--shape {name}=...)")
    return [1 if size is None else size for size in sizes]


def random_input(name, sizes, dtype, number):
    """The same for each call: normal numbers, and 0 or 1 where whole numbers may be positions in a table."""
    import numpy as np

    random, dtype = np.random.default_rng(number), np.dtype(dtype)
    if dtype.kind in "fc":
        return random.standard_normal(sizes).astype(dtype)
    if dtype.kind in "iub":
        return random.integers(0, 2, sizes).astype(dtype)
    raise Wrong(f"the input '{name}' is of type {dtype}, for which no random values can be made")


def compare(wanted, found, tolerance):
    """Raises Differs unless the outputs {name: array} are equal; returns the largest relative difference."""
    import numpy as np

    if set(wanted) != set(found):
        raise Differs(f"the placed model has other outputs: {', '.join(sorted(set(wanted) ^ set(found)))}")
    largest = 0.0
    for name, right in wanted.items():
        right, value = np.asarray(right), np.asarray(found[name])
        if right.shape != value.shape:
            raise Differs(f"the output '{name}' has the sizes {value.shape}, and unplaced {right.shape}")
        scale = float(np.max(np.abs(right[np.isfinite(right)]), initial=0))
        if not np.allclose(value, right, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            worst = float(np.nanmax(np.abs(value.astype(float) - right.astype(float))))
            raise Differs(f"the output '{name}' differs from that of the unplaced model by {worst:.3g}, and its largest "
                          f"value is {scale:.3g}")
        if scale > 0 and np.isfinite(right).all():
            difference = np.max(np.abs(value.astype(np.float64) - right.astype(np.float64)), initial=0)
            largest = max(largest, float(difference) / scale)
    say(f"{len(wanted)} outputs are those of the unplaced model (largest difference {largest:.2g} of the largest value)")
    return largest


def listed(names, most=5):
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def say_where(asked, ran, why_not, what="placed ops"):
    """Counts the placed ops that ran on the device that was asked for. `ran`: the device of each op that ran;
    `why_not`: what it means that an op did not."""
    elsewhere = [f"{op} (asked {device}, ran {ran[op]})" for op, device in asked.items() if ran.get(op, device) != device]
    absent = [op for op in asked if op not in ran]
    counts = {"as_placed": len(asked) - len(elsewhere) - len(absent), "elsewhere": len(elsewhere), "not_run": len(absent)}
    say(f"{counts['as_placed']} of {len(asked)} {what} were on their device")
    for device in dict.fromkeys(asked.values()):
        say(f"  {device}: {sum(ran.get(op) == device for op in asked)}")
    if elsewhere:
        say(f"{len(elsewhere)} were elsewhere: {listed(elsewhere)}")
    if absent:
        say(f"{len(absent)} did not run by themselves ({why_not}): {listed(absent)}")
    return counts
