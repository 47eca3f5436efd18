"""Runs of placers with policies, each made once: a line of runs.jsonl in the folder of a measurement."""

import csv
import datetime
import json
import math
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, replace
from functools import cache

from best_known import program
from best_known.kept import Refused
from best_known.page import human, short
from best_known.run_lines import RunLines
from best_known.work import in_parallel

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECIPE = ROOT / "configs" / "recipes" / "learned.toml"
FINE_TUNING = "gdp-finetune"  # the recipe
ZERO_SHOT = "zero-shot + polish"

# The models of docs/results.md that a policy is trained without, to see what it is worth on models it never saw.
UNSEEN = ("inception-v3", "gnmt", "bert-base", "bert-large")
# What a run depends on; policy and program by their content. `cores` is the number of ranks that search.
KEY = ("problem", "method", "seconds", "cores", "seed", "policy", "program")


@dataclass(frozen=True)
class Method:
    label: str
    placer: str
    options: tuple
    seconds: float
    policy: str | None  # "shipped", "without-families", "random", the path of a run folder; None: the placer needs none
    ranks: int | None = None  # None: by --cores

    @property
    def expected_s(self):
        return self.seconds or 60  # about what a fine-tuning takes

    def zero_shot(self):
        """What a fine-tuning is compared with: draws of its policy and searches from them, without an update."""
        return replace(self, label=ZERO_SHOT, placer="learned", options=("rounds=1",))


def fine_tuned(updates, policy):
    return Method(f"after {updates} update{'' if updates == 1 else 's'}", FINE_TUNING, (f"updates={updates}",), 0, policy, 1)


KNOWN = Method("best known", "", (), 0, None)


def geometric_mean(ratios):
    return 0.0 if 0 in ratios else math.exp(statistics.fmean(map(math.log, ratios)))


def model_of(problem):
    return re.split("[?@]", problem.removeprefix("zoo:"))[0]


@cache
def check_content(row):
    if program.Problem(row.problem, row.objective, row.schedule).digest != row.digest:
        raise Refused(f"{row.name}: its content has changed since its placement was kept")


def network_of(policy):
    """Overrides that give a recipe the units and the network of a trained policy; when blocks are used is the recipe's matter."""
    config = tomllib.loads((policy / "config.toml").read_text())
    network = {key: value for key, value in config[config["policy"]].items() if key != "coarse_share"}
    return [f"policy={config['policy']}", f"grouping={config['grouping']}", f"groups={config['groups']}",
            *(f"{config['policy']}.{key}={json.dumps(value)}" for key, value in network.items())]


def evaluations_before(first_update):
    """The evaluations of a training before its first update, by the row of that update in metrics.csv."""
    own = sum(int(first_update.get(column) or 0) for column in ("samples", "polish_evaluations", "taught"))
    return int(first_update["evaluations"]) - own


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

    def ranks(self, method):
        return method.ranks or (1 if self.arguments.cores == 1 else 3)

    def cores(self, method):
        """Of several ranks the first one hands out work."""
        return max(1, self.ranks(method) - 1)

    def key(self, row, method, seed):
        policy = program.digest(self.policies.path(method.policy, seed) / "checkpoint.h5") if method.policy else ""
        return (row.problem, " ".join([method.placer, *method.options]), method.seconds, self.cores(method), seed, policy,
                program.digest(self.program))

    def missing(self, parts):
        """The runs of the tables, seed by seed, so that those that are compared are near in time."""
        tasks = {}
        for seed in range(1, self.arguments.seeds + 1):
            for part in parts:
                for policy in dict.fromkeys(method.policy for _, method in part.runs if method.policy):
                    self.policies.prepare(policy, seed)
                for row, method in part.runs:
                    if self.key(row, method, seed) not in self.runs.steps:
                        tasks.setdefault(self.key(row, method, seed), (row, method, seed))
        return list(tasks.values())

    def make(self, tasks):
        self.count, self.done = len(tasks), 0
        self.left_s = sum(method.expected_s for _, method, _ in tasks)
        try:
            in_parallel(self.arguments.jobs, self.run, tasks)
        finally:
            if tasks and sys.stderr.isatty():
                print(file=sys.stderr)

    def run(self, task):
        row, method, seed = task
        check_content(row)
        began = time.monotonic()
        if method.placer == FINE_TUNING:
            self.fine_tune(row, method, seed)
        else:
            self.place(row, method, seed, "--seconds", f"{method.seconds:g}")
        self.say(row, method, seed, time.monotonic() - began)

    def place(self, row, method, seed, *budget):
        variables = [f"EMPLACE={self.program}"]
        if method.policy:
            variables.append(f"EMPLACE_POLICY={self.policies.path(method.policy, seed)}")
        ranks = self.ranks(method)
        program_words = [self.program] if ranks == 1 else [str(ROOT / "launch" / "local"), "-np", str(ranks)]
        began = time.monotonic()
        done = program.ran("place", method.placer, row.problem, *method.options, "--schedule", row.schedule, "--seed", seed, *budget,
                           "--json", before=("env", *variables, *program_words))
        self.keep(row, method, seed, done, time.monotonic() - began)

    def fine_tune(self, row, method, seed):
        """The training, and what its policy finds without it in as many evaluations as it makes before its first update."""
        policy = self.policies.path(method.policy, seed)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            done = program.ran("train", FINE_TUNING, *method.options, *network_of(policy), f"init={policy}", f"problem={row.problem}",
                               f"schedule={row.schedule}", f"seed={seed}", f"run={folder}/run", "compare=[]", "--json", before=(self.program,))
            with open(f"{folder}/run/metrics.csv") as metrics:
                evaluations = evaluations_before(next(csv.DictReader(metrics)))
        spent = time.monotonic() - began
        # First what it is compared with, so that a training that is kept has that too.
        self.place(row, method.zero_shot(), seed, "--evaluations", evaluations)
        self.keep(row, method, seed, done, spent)

    def keep(self, row, method, seed, done, spent):
        result = json.loads(done.output)
        self.runs.add({**dict(zip(KEY, self.key(row, method, seed))), "step_ps": result["makespan_ps"] if result["feasible"] else None,
                       "searched_s": result["seconds"], "spent_s": round(spent, 3), "core_share": round(done.core_share, 3),
                       "date": datetime.datetime.now().isoformat(timespec="seconds")})

    def say(self, row, method, seed, spent):
        self.done += 1
        self.left_s -= method.expected_s
        self.busy += spent
        self.made_s += method.expected_s
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

    def core_share(self, parts):
        """Of the runs in the tables: the least share of its cores that one had, and how many had less than 0.9."""
        shares = []
        for part in parts:
            shares += [self.runs.core_shares[self.key(row, method, seed)] / self.cores(method) for row, method in part.runs
                       for seed in range(1, self.arguments.seeds + 1)]
        if not shares:
            return "nothing was run"
        return f"CPU time by wall-clock time and core: {min(shares):.2f} at least; below 0.9 in {sum(each < 0.9 for each in shares)} of {len(shares)} runs"
