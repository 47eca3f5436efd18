"""Runs of placers with policies, each made once: a line of runs.jsonl in the folder of a measurement."""

import datetime
import json
import math
import pathlib
import re
import shutil
import statistics
import sys
import time
import tomllib
from dataclasses import dataclass
from functools import cache

from best_known import program
from best_known.kept import Refused
from best_known.page import human, short
from best_known.run_lines import RunLines
from best_known.work import in_parallel

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The models of docs/results.md that a policy is trained without, to see what it is worth on models it never saw.
UNSEEN = ("inception-v3", "gnmt", "bert-base", "bert-large")
# What a run depends on; policy and program by their content.
KEY = ("problem", "method", "seconds", "cores", "seed", "policy", "program")


@dataclass(frozen=True)
class Method:
    label: str
    placer: str
    options: tuple
    seconds: float
    policy: str | None  # "shipped", "without-families", "random", the path of a run folder; None: the placer needs none


KNOWN = Method("best known", "", (), 0, None)


def geometric_mean(ratios):
    return 0.0 if 0 in ratios else math.exp(statistics.fmean(map(math.log, ratios)))


def model_of(problem):
    return re.split("[?@]", problem.removeprefix("zoo:"))[0]


@cache
@cache
def check_content(row):
    if program.Problem(row.problem, row.objective, row.schedule).digest != row.digest:
        raise Refused(f"{row.name}: its content has changed since its placement was kept")


class Policies:
    """Run folders. Those that the program does not have are trained once, in the folder of the runs."""

    def __init__(self, arguments):
        self.folder = arguments.folder / "policies"
        self.recipe = arguments.recipe

    def prepare(self, name, seed):
        if name == "random":
            # A training whose one update changes nothing; see docs/results.md.
            self.train(self.path(name, seed), f"seed={seed}", "updates=1", "cross-entropy.teacher=", "cross-entropy.learning_rate=1e-9",
                       "cross-entropy.learning_rate_end=1e-10")
        elif name == "without-families":
            problems = [each for each in tomllib.loads(self.recipe.read_text())["problems"] if model_of(each) not in UNSEEN]
            self.train(self.path(name, seed), f"problems={json.dumps(problems)}")
        if not (self.path(name, seed) / "checkpoint.h5").is_file():
            raise Refused(f"{self.path(name, seed)} is no run folder: it has no checkpoint.h5")

    def path(self, name, seed):
        if name == "shipped":
            return ROOT / "configs" / "policies" / "learned"
        if name == "random":
            return self.folder / f"random-{seed}"
        return self.folder / name  # of a path that is absolute, that path

    def train(self, run, *overrides):
        status = run / "status"
        if status.is_file() and status.read_text().strip() == "finished":
            return
        print(f"training {run}", file=sys.stderr, flush=True)
        program.run("train", self.recipe, *overrides, f"run={run}", "--continue")


class Runs:
    """A run counts only for the program and the policy that made it."""

    def __init__(self, folder):
        self.steps = {}  # by key: picoseconds, infinite if nothing feasible was found
        self.core_shares = {}
        self.add = RunLines(folder, self.take).add

    def take(self, run):
        key = tuple(run[part] for part in KEY)
        self.steps[key] = math.inf if run["step_ps"] is None else int(run["step_ps"])
        self.core_shares[key] = float(run["core_share"])


class Measurement:
    def __init__(self, arguments):
        self.arguments = arguments
        self.policies = Policies(arguments)
        self.runs = Runs(arguments.folder)
        self.program = shutil.which("emplace") or program.version()  # version() says that there is none
        self.busy = self.made_s = 0  # seconds of runs by the clock, and of their budgets

    def key(self, row, method, seed):
        policy = program.digest(self.policies.path(method.policy, seed) / "checkpoint.h5") if method.policy else ""
        return (row.problem, " ".join([method.placer, *method.options]), method.seconds, self.arguments.cores, seed, policy,
                program.digest(self.program))

    def missing(self, wanted):
        """The runs of the tables, seed by seed, so that those that are compared are near in time."""
        tasks = {}
        for seed in range(1, self.arguments.seeds + 1):
            for table in wanted:
                for method in (table.method, *table.others):
                    if method.policy:
                        self.policies.prepare(method.policy, seed)
                for row in table.rows:
                    for method in (table.method, *table.others):
                        if method is not KNOWN and self.key(row, method, seed) not in self.runs.steps:
                            tasks.setdefault(self.key(row, method, seed), (row, method, seed))
        return list(tasks.values())

    def make(self, tasks):
        self.count, self.done = len(tasks), 0
        self.left_s = sum(method.seconds for _, method, _ in tasks)
        try:
            in_parallel(self.arguments.jobs, self.run, tasks)
        finally:
            if tasks and sys.stderr.isatty():
                print(file=sys.stderr)

    def run(self, task):
        row, method, seed = task
        check_content(row)
        variables = [f"EMPLACE={self.program}"]
        if method.policy:
            variables.append(f"EMPLACE_POLICY={self.policies.path(method.policy, seed)}")
        program_words = [self.program] if self.arguments.cores == 1 else [str(ROOT / "launch" / "local"), "-np", "3"]
        began = time.monotonic()
        done = program.ran("place", method.placer, row.problem, *method.options, "--schedule", row.schedule, "--seed", seed,
                           "--seconds", f"{method.seconds:g}", "--json", before=("env", *variables, *program_words))
        spent = time.monotonic() - began
        result = json.loads(done.output)
        self.runs.add({**dict(zip(KEY, self.key(row, method, seed))), "step_ps": result["makespan_ps"] if result["feasible"] else None,
                       "searched_s": result["seconds"], "spent_s": round(spent, 3), "core_share": round(done.core_share, 3),
                       "date": datetime.datetime.now().isoformat(timespec="seconds")})
        self.say(row, method, seed, spent)

    def say(self, row, method, seed, spent):
        self.done += 1
        self.left_s -= method.seconds
        self.busy += spent
        self.made_s += method.seconds
        left = max(0, self.left_s) * self.busy / self.made_s / self.arguments.jobs
        left = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min"
        step = self.step(row, method, seed)
        text = (f"{self.done} of {self.count} runs, {left} left: {short(row.problem)}  {method.label}  seed {seed}  "
                f"{human(step) if step < math.inf else 'nothing feasible'}")
        live = sys.stderr.isatty()
        print(f"\r\033[K{text[:shutil.get_terminal_size().columns - 1]}" if live else text, end="" if live else "\n", file=sys.stderr, flush=True)

    def step(self, row, method, seed):
        return row.step_ps if method is KNOWN else self.runs.steps[self.key(row, method, seed)]

    def median(self, row, method):
        return statistics.median(self.step(row, method, seed) for seed in range(1, self.arguments.seeds + 1))

    def core_share(self, wanted):
        """Of the runs in the tables: the least share of its cores that one had, and how many had less than 0.9."""
        shares = []
        for table in wanted:
            for method in (table.method, *table.others):
                shares += [self.runs.core_shares[self.key(row, method, seed)] / self.arguments.cores for row in table.rows
                           for seed in range(1, self.arguments.seeds + 1) if method is not KNOWN]
        return f"CPU time by wall-clock time and core: {min(shares):.2f} at least; below 0.9 in {sum(each < 0.9 for each in shares)} of {len(shares)} runs"
