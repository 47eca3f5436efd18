"""What the commands of scripts/best-known do with the kept placements, apart from races and the page."""

import concurrent.futures
import datetime
import difflib
import re
import sys
import threading
import time
from dataclasses import replace

from best_known import program
from best_known.kept import LISTS, Refused, Row, chosen, tried
from best_known.program import Problem, Unfit

# What one try after the other does with a problem; their budget doubles after each round.
PLAN = ("best", "best:kept", "bound", "anneal:kept", "brkga:kept", "tabu:kept", "ruin:kept", "contracted:kept")


def today():
    return datetime.date.today().isoformat()


def is_here(arguments, which, row):
    """Files of published workloads may be absent."""
    if which != "published":
        return True
    file = re.split("[#?]", row.problem)[0]
    return arguments.workloads is not None and (arguments.workloads / file).is_file()


def argument_of(arguments, which, row):
    return f"{arguments.workloads}/{row.problem}" if which == "published" else row.problem


def read_problem(arguments, which, row):
    """The row's problem. Unfit if it is no longer that for which the placement was kept."""
    problem = Problem(argument_of(arguments, which, row), row.objective, row.schedule)
    if problem.digest != row.digest:
        raise Unfit(f"its content has changed since its placement was kept: the digest is {problem.digest}, not {row.digest}; "
                    f"`scripts/best-known add` begins it anew")
    return problem


def wanted(arguments):
    """Pairs of a list and a row, and how many more have no file here."""
    named = [(which, row) for which in LISTS for row in chosen(arguments.folder.rows(which), arguments.only)]
    if not named:
        raise Refused(f"no kept problem's name contains or matches {' or '.join(arguments.only)}" if arguments.only
                      else f"{arguments.folder.path} has no problems")
    pairs = [pair for pair in named if is_here(arguments, *pair)]
    return pairs, len(named) - len(pairs)


def in_parallel(jobs, work, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            return [each.result() for each in waiting]
        except BaseException:
            program.stop()
            for each in waiting:
                each.cancel()
            raise


def check(arguments):
    with arguments.folder.locked():
        kept = {which: arguments.folder.placements(which, arguments.folder.rows(which)) for which in LISTS}
        pairs, absent = wanted(arguments)

    def fault(pair):
        which, row = pair
        try:
            step, reason = read_problem(arguments, which, row).simulated(kept[which][row.name])
        except Unfit as error:
            return f"{row.name}: {error}"
        if step is None:
            return f"{row.name}: the kept placement is not feasible: {reason}"
        return None if step == row.step_ps else f"{row.name}: the step takes {step} ps, and not the {row.step_ps} that are kept"

    faults = [each for each in in_parallel(arguments.jobs, fault, pairs) if each]
    for each in faults:
        print(f"error: {each}", file=sys.stderr)
    left = f"; of {absent} more the file is not here (--workloads)" if absent else ""
    print(f"{len(pairs) - len(faults)} of {len(pairs)} placements have the kept step{left}")
    return 2 if faults else 0


def add(arguments):
    """Begins problems: a short search and a short bound."""
    if program.parse_method(arguments.method)[2]:
        raise Refused(f"--method {arguments.method}: no placement is kept yet")
    for text in arguments.problems:
        which = arguments.list
        row = Row(text, arguments.objective, arguments.schedule, 0, 0, "", 0, 0, "", "", "", "", "", 0, 0)
        problem = Problem(argument_of(arguments, which, row), row.objective, row.schedule)
        old = arguments.folder.rows(which).get(row.name)
        if old is not None and old.digest == problem.digest:
            print(f"{row.name}: was kept already")
            continue
        found = program.search(problem, arguments.method, arguments.seconds, 0)
        step = problem.simulated(found.placement)[0] if found.placement else None
        if step is None:
            raise Unfit(f"{row.name}: {arguments.method} found no feasible placement in {arguments.seconds:g} s")
        row = replace(row, ops=len(problem.op_names), devices=len(problem.device_names), digest=problem.digest, step_ps=step,
                      bound_ps=max(1, found.bound_ps), bound_by=f"place {arguments.method} in {arguments.seconds:g} s", who="emplace",
                      how=f"{arguments.method} --seed 0 --seconds {arguments.seconds:g}", version=program.version(), date=today())
        bound, by = (0, "") if row.solved else problem.bound(arguments.seconds)
        if bound > row.bound_ps:
            row = replace(row, bound_ps=bound, bound_by=f"{by} in {arguments.seconds:g} s")
        with arguments.folder.locked():
            arguments.folder.keep(which, row, found.placement)
        print(f"{row.name}: {step} ps, bound {row.bound_ps} ps", flush=True)
    return 0


def keep_if_better(arguments, which, row, problem, placement, news):
    """Simulates the placement and keeps it if it is better than what is kept now. Returns its step, None where it is not
    feasible with the reason, and whether it was kept."""
    step, reason = problem.simulated(placement)
    if step is None:
        return None, reason, False
    with arguments.folder.locked():
        now = arguments.folder.rows(which)[row.name]
        if step >= now.step_ps:
            return step, None, False
        if step < now.bound_ps:
            raise Unfit(f"{row.name}: a step of {step} ps is below the bound of {now.bound_ps} ps ({now.bound_by}), so that one of "
                        f"them is wrong: please report this")
        arguments.folder.keep(which, replace(now, step_ps=step, version=program.version(), date=today(), **news), placement)
    return step, None, True


def keep_bound(arguments, which, row, ticks, by):
    with arguments.folder.locked():
        now = arguments.folder.rows(which)[row.name]
        if now.bound_ps < ticks <= now.step_ps:
            arguments.folder.keep(which, replace(now, bound_ps=ticks, bound_by=by))


def now_kept(arguments, which, name):
    with arguments.folder.locked():
        row = arguments.folder.rows(which)[name]
        return row, arguments.folder.placements(which, {name: row})[name]


def try_once(arguments, which, row, seconds):
    """One step of the plan for a problem."""
    plan = arguments.methods or PLAN
    method = plan[row.tries % len(plan)]
    problem = read_problem(arguments, which, row)
    began = time.monotonic()
    try:
        if method == "bound":
            ticks, by = problem.bound(seconds)
            keep_bound(arguments, which, row, ticks, f"{by} in {seconds:g} s")
        else:
            start = None
            if method.endswith(":kept"):
                row, start = now_kept(arguments, which, row.name)
            found = program.search(problem, method, seconds, row.tries, start)
            keep_bound(arguments, which, row, found.bound_ps, f"place {method.split(':')[0]} in {seconds:g} s")
            if found.placement:
                how = f"{method.removesuffix(':kept')} --seed {row.tries} --seconds {seconds:g}"
                if start:
                    how += f" from {row.step_ps} ps of {row.who}"
                keep_if_better(arguments, which, row, problem, found.placement, {"who": "emplace", "how": how})
    except Unfit as error:
        print(f"{row.name}: {method} does not run here: {error}", file=sys.stderr)
    with arguments.folder.locked():
        now = tried(arguments.folder.rows(which)[row.name], time.monotonic() - began)
        arguments.folder.keep(which, now)
    if now.step_ps < row.step_ps or now.bound_ps > row.bound_ps:
        print(f"{row.name}: {method} in {seconds:g} s: {row.step_ps} -> {now.step_ps} ps, gap {100 * row.gap:.2f} -> {100 * now.gap:.2f} %",
              flush=True)


def improve(arguments):
    ends = time.monotonic() + 3600 * arguments.hours
    choice = threading.Lock()
    busy, bad = set(), {}
    for method in arguments.methods or ():
        if method != "bound":
            program.parse_method(method)
    wanted(arguments)

    def next_task():
        """The problem with the largest gap for the number of tries so far; even a small gap gets its turn."""
        with choice:
            with arguments.folder.locked():
                pairs, _ = wanted(arguments)
            open_pairs = [(which, row) for which, row in pairs if not row.solved and row.name not in busy and row.name not in bad]
            if not open_pairs or time.monotonic() > ends - 1:
                return None
            which, row = max(open_pairs, key=lambda pair: (pair[1].gap + 0.05) / (1 + pair[1].tries))
            busy.add(row.name)
        rounds = row.tries // len(arguments.methods or PLAN)
        return which, row, min(arguments.seconds * 2**rounds, arguments.most, ends - time.monotonic())

    def worker(_):
        while task := next_task():
            which, row, seconds = task
            try:
                try_once(arguments, which, row, round(seconds, 1))
            except Unfit as error:
                bad[row.name] = error
            busy.discard(row.name)

    in_parallel(arguments.jobs, worker, range(arguments.jobs))
    for name, error in bad.items():
        print(f"error: {name}: {error}", file=sys.stderr)
    return 2 if bad else 0


def submit(arguments):
    rows = {(which, row.name): row for which in LISTS for row in arguments.folder.rows(which).values()}
    named = [key for key in rows if key[1] == arguments.problem]
    if not named:
        near = difflib.get_close_matches(arguments.problem, [key[1] for key in rows], 3, 0.5)
        raise Refused(f"no kept problem is called '{arguments.problem}'" + (f"; near it: {', '.join(near)}" if near else ""))
    which = named[0][0]
    if any(c in arguments.by for c in "\t\n\r") or not arguments.by.strip():
        raise Refused("--by names who found it, in one line without tabs")
    row = rows[named[0]]
    if not is_here(arguments, which, row):
        raise Refused(f"{arguments.problem} is in a file that is not in the folder of --workloads")
    problem = read_problem(arguments, which, row)
    result = program.read_placement(arguments.file)
    step, reason, kept = keep_if_better(arguments, which, row, problem, problem.placement_of(result),
                                        {"who": arguments.by.strip(), "how": "submitted"})
    if step is None:
        raise Unfit(f"the placement is not feasible: {reason}")
    if kept:
        print(f"kept: {step} ps, {100 * (1 - step / row.step_ps):.3f} % less than the {row.step_ps} ps of {row.who}")
        return 0
    print(f"not kept: {step} ps, and {row.step_ps} ps of {row.who} were known")
    return 3
