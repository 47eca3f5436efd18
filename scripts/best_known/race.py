"""How fast methods come near the best known placements: curves in race.tsv, a run in each line."""

import sys
from dataclasses import dataclass

from best_known import program
from best_known.kept import Refused
from best_known.program import Unfit
from best_known.work import in_parallel, keep_if_better, read_problem, wanted

FILE = "race.tsv"
HEADER = ("problem", "method", "seed", "seconds", "core_share", "version", "curve")
WORTH_KEEPING = 0.998  # a point of a curve is kept if its step is below this share of the point before


@dataclass(frozen=True)
class Run:
    problem: str  # Row.name
    method: str
    seed: int
    seconds: float  # budget, by the clock
    core_share: float  # CPU time by clock time: below 1 where other programs had the cores meanwhile
    version: str
    curve: tuple  # pairs of seconds and picoseconds; empty: nothing feasible was found

    def time_to(self, step_ps):
        """Seconds of CPU time until a step of at most this was known; None: it was not reached."""
        return next((seconds * self.core_share for seconds, step in self.curve if step <= step_ps), None)

    def line(self):
        points = " ".join(f"{seconds:.3f}:{step}" for seconds, step in self.curve)
        return "\t".join([self.problem, self.method, str(self.seed), f"{self.seconds:g}", f"{self.core_share:.2f}", self.version, points])


def thinned(curve):
    kept = []
    for point in curve:
        if not kept or point[1] < WORTH_KEEPING * kept[-1][1] or point == curve[-1]:
            kept.append(point)
    return tuple(kept)


def run_of(line, place):
    cells = line.split("\t")
    try:
        if len(cells) != len(HEADER):
            raise ValueError(f"a row has {len(HEADER)} cells, found {len(cells)}")
        points = [point.split(":") for point in cells[6].split()]
        curve = tuple((float(seconds), int(step)) for seconds, step in points)
        return Run(cells[0], cells[1], int(cells[2]), float(cells[3]), float(cells[4]), cells[5], curve)
    except ValueError as error:
        raise Refused(f"{place}: {error}") from None


def runs(folder):
    lines = folder.lines(FILE)
    if lines and lines[0] != "\t".join(HEADER):
        raise Refused(f"{folder.file(FILE)}:1: the header is not: {' '.join(HEADER)}")
    return [run_of(line, f"{folder.file(FILE)}:{number}") for number, line in enumerate(lines[1:], 2)]


def key_of(run):
    return run.problem, run.method, run.seed


def keep(folder, new):
    """Adds the run, in place of one of the same problem, method and seed."""
    with folder.locked():
        kept = sorted([each for each in runs(folder) if key_of(each) != key_of(new)] + [new], key=key_of)
        folder.write(FILE, "\n".join(["\t".join(HEADER), *(each.line() for each in kept)]) + "\n")


def race(arguments):
    for method in arguments.methods:
        if program.parse_method(method)[2]:
            raise Refused(f"'{method}': a race starts from nothing")
    folder = arguments.folder
    # Runs of the same program that had no less time are not repeated.
    done = {key_of(each) for each in runs(folder) if each.seconds >= arguments.seconds and each.version == program.build()}
    tasks = [(which, row, method, seed) for seed in range(arguments.seeds) for which, row in wanted(arguments)[0]
             for method in arguments.methods if (row.name, method, seed) not in done]

    def run(task):
        which, row, method, seed = task
        problem = read_problem(arguments, which, row)
        try:
            found = program.search(problem, method, arguments.seconds, seed)
        except Unfit as error:
            print(f"{row.name}: {method} does not run here: {error}", file=sys.stderr)
            return
        if found.placement:
            how = f"{method} --seed {seed} --seconds {arguments.seconds:g}"
            keep_if_better(arguments, which, row, problem, found.placement, {"who": "emplace", "how": how})
        keep(folder, Run(row.name, method, seed, arguments.seconds, found.core_share, program.build(), thinned(found.curve)))

    in_parallel(arguments.jobs, run, tasks)
    return 0
