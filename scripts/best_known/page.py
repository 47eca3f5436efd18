"""The page with the kept placements and the races: docs/leaderboard.md."""

import statistics

from best_known import race
from best_known.kept import LISTS, Refused

SHOWN = 10
NEAR = (0.05, 0.01)  # how near a method is to come to the best known step

HEAD = """# Best known placements

Made by `scripts/best-known page` of [bench/best-known](../bench/best-known/README.md), which has the placements; do not edit it.
*Step* is the simulated time of a step (*load*: of the busiest device of a pipeline), *bound* a certified lower bound:
no placement has less, so that no more than the *gap* can be gained.
"""

SUBMIT = """
## How to submit

A placement of any origin counts. Write it as a [placement JSON](formats.md#placement-json) and call

    scripts/best-known submit mine.placement.json --problem 'PROBLEM' --by 'NAME, how'

with PROBLEM as in the table. It is simulated, and kept if it is better: send the changes of `bench/best-known`, and of
this page after `scripts/best-known page`, as a pull request. `emplace cost GRAPH MACHINE -o problem.json` writes a
problem for programs that do not read GRAPH@MACHINE, and `scripts/best-known check --only 'PROBLEM'` is what the
tests run.
"""


def human(ps):
    for factor, unit in ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")):
        if ps >= factor:
            return f"{ps / factor:.4g} {unit}" if ps < 1000 * factor else f"{ps / factor:.0f} {unit}"
    return f"{ps} ps"


def seconds(value):
    return "-" if value is None else "<0.01" if value < 0.01 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def share(value):
    return "0" if value == 0 else f"{100 * value:.2f} %"


def escaped(text):
    return text.replace("|", "\\|")


def short(name):
    return name.removeprefix("zoo:")


def summary(rows):
    gaps = sorted(row.gap for row in rows)
    solved = sum(row.solved for row in rows)
    return (f"{len(rows)} problems; {solved} are solved (their gap is 0, or a few ps of ops without cost). Of all, the median gap is {share(statistics.median(gaps))} "
            f"and the largest {share(gaps[-1])}.")


def table(rows):
    lines = ["| problem | ops | devices | step | bound | gap | who | since |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| `{short(row.name)}` | {row.ops:,} | {row.devices} | {human(row.step_ps)} | {human(row.bound_ps)} | "
                     f"{share(row.gap)} | {escaped(row.who)}: {escaped(row.how)} | {row.date} |")
    return lines


def published_tables(rows):
    """The collections in a line each, and of each the instances of the largest gaps that are not solved."""
    groups = {}
    for row in rows:
        groups.setdefault((row.problem.split("#")[0].split("/")[0], row.objective, row.schedule), []).append(row)
    lines = ["| collection | objective | schedule | problems | ops | solved | median gap | largest gap |", "|---|---|---|---|---|---|---|---|"]
    for (collection, objective, schedule), each in groups.items():
        gaps, ops = [row.gap for row in each], [row.ops for row in each]
        lines.append(f"| {collection} | {objective} | {schedule} | {len(each)} | {min(ops)} to {max(ops)} | {sum(row.solved for row in each)} | "
                     f"{share(statistics.median(gaps))} | {share(max(gaps))} |")
    lines += ["", f"The largest gaps, at most {SHOWN} of a collection:", ""]
    largest = [sorted((row for row in each if not row.solved), key=lambda row: -row.gap)[:SHOWN] for each in groups.values()]
    return lines + table([row for each in largest for row in each])


def race_tables(rows, runs):
    by_name = {row.name: row for row in rows}
    known = [run for run in runs if run.problem in by_name]
    if not known:
        return []
    had = [run.seconds * run.core_share for run in known if run.seconds > 0]
    lines = ["## How fast methods come near", "",
             f"`scripts/best-known race`; trainings start without a trained policy. Seconds of CPU time until a step within 5 % and "
             f"within 1 % of the best known was found, in the median over all runs, which had up to {max(had):.1f} s (in the median "
             f"{statistics.median(had):.1f} s, as other programs ran beside them); -: most runs did not come so near.", "",
             "| method | runs | within 5 % | after, s | within 1 % | after, s | above the best, at the end |", "|---|---|---|---|---|---|---|"]
    methods = {}
    for run in known:
        methods.setdefault(run.method, []).append(run)

    def times(each, near):
        return [run.time_to((1 + near) * by_name[run.problem].step_ps) for run in each]

    def above(run):
        return run.curve[-1][1] / by_name[run.problem].step_ps - 1 if run.curve else float("inf")

    def row_of(method):
        each = methods[method]
        cells = [f"`{method}`", str(len(each))]
        for near in NEAR:
            reached = times(each, near)
            median = statistics.median_high(sorted(float("inf") if time is None else time for time in reached))
            cells += [str(sum(time is not None for time in reached)), seconds(None if median == float("inf") else median)]
        worst = statistics.median(map(above, each))
        return [*cells, "no placement" if worst == float("inf") else share(worst)]

    order = sorted(methods, key=lambda method: statistics.median(map(above, methods[method])))
    lines += ["| " + " | ".join(row_of(method)) + " |" for method in order]
    lines += ["", "Of each problem, the median seconds to 5 % / to 1 %:", "", "| problem | " + " | ".join(f"`{m}`" for m in order) + " |",
              "|---|" + "---|" * len(order)]
    for row in rows:
        cells = []
        for method in order:
            each = [run for run in methods[method] if run.problem == row.name]
            if not each:
                cells.append("")
                continue
            medians = []
            for near in NEAR:
                median = statistics.median_high(sorted(float("inf") if t is None else t for t in times(each, near)))
                medians.append(seconds(None if median == float("inf") else median))
            cells.append(" / ".join(medians) if medians != ["-", "-"] else "-")
        if any(cells):
            lines.append(f"| `{short(row.name)}` | " + " | ".join(cells) + " |")
    return lines + [""]


def text_of(folder):
    zoo, published = (list(folder.rows(which).values()) for which in LISTS)
    if not zoo:
        raise Refused(f"{folder.path} has no problems")
    lines = [HEAD, "## Models of the zoo", "", summary(zoo), "", *table(zoo), ""]
    lines += race_tables(zoo, race.runs(folder))
    if published:
        lines += ["## Published workloads", "", summary(published),
                  "The files are [not in the repository](outside-files.md).", "", *published_tables(published), ""]
    return "\n".join(lines).rstrip("\n") + "\n" + SUBMIT


def page(arguments):
    arguments.o.write_text(text_of(arguments.folder), encoding="utf-8")
    return 0
