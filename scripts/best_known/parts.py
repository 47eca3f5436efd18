"""The parts of scripts/learned-against-search: of each, the runs that it needs, its table and its figures."""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from best_known.asked import Asked, other_settings, share_text, step_text, verdict
from best_known.measurement import KNOWN, RECIPE, UNSEEN, ZERO_SHOT, Method, fine_tuned, geometric_mean, model_of
from best_known.page import human, share, short

LARGE_GNMT = "zoo:gnmt?layers=8&training=true@p100x8"
LARGEST = "zoo:gnmt?layers=8&training=true&detail=framework@p100x8"  # 57,007 ops, of which 56,737 are placed


def within(excess):
    return lambda ratios: sum(each <= 1 + excess for each in ratios) / len(ratios)


@dataclass(frozen=True)
class Figures:
    """What is asked of a part, and with which settings."""

    about: Callable  # whether a kept row is one of its problems
    budgets: tuple
    trained: bool  # whether it needs policies that --recipe trains
    asked: tuple


def every(row):
    return True


def is_unseen(row):
    return model_of(row.problem) in UNSEEN


def is_tuned(row):
    return is_unseen(row) and "training=true" in row.problem and "detail=framework" not in row.problem


FIGURES = {
    "equal": Figures(every, ("seeds", "long"), False, (
        Asked("geometric mean of the ratio to classic", "classic 30 s", geometric_mean, 0.99, 0.96),
        Asked("largest ratio to classic", "classic 30 s", max, 1.03))),
    "known": Figures(every, ("seeds", "middle"), False, (
        Asked("share at most 1 % above the best known", "best known", within(0.01), 0.70, 0.90, share_text, "at least"),
        Asked("largest ratio to the best known", "best known", max, 1.05, 1.02))),
    "unseen": Figures(is_unseen, ("seeds", "short"), True, (
        Asked("geometric mean of the ratio to classic in 5 s", "classic 5 s", geometric_mean, 1),
        Asked("geometric mean of the ratio to classic in 10 s", "classic 10 s", geometric_mean, None, 1))),
    "fine-tuned": Figures(is_tuned, ("seeds", "updates"), True, (
        Asked("largest ratio of all problems and seeds", ZERO_SHOT, max, 1),)),
    "gnmt": Figures(lambda row: row.problem == LARGE_GNMT, ("seeds", "long"), False, (
        Asked("step time", "step", max, 225e9, 215e9, step_text),)),
    "gap": Figures(every, (), False, (
        Asked("median gap", "gap", statistics.median, 0.10, 0.08, share_text),
        Asked("largest gap", "gap", max, 0.45, 0.30, share_text))),
    "scaling": Figures(lambda row: row.problem == LARGEST, ("seeds", "long"), False, (
        Asked("ratio of 8 ranks to 1 rank", "1 rank", max, 1, limit="below"),)),
}


def ratio_of(own, other):
    """None where neither found anything feasible."""
    return own / other if other < float("inf") else 0.0 if own < float("inf") else None


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.3f}"


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip()
                     for row in rows)


def medians_of(seeds):
    return f"medians of {seeds} seed{'' if seeds == 1 else 's'}"


@dataclass(frozen=True)
class Comparison:
    """A method and others, in the median of the seeds."""

    name: str
    title: str
    rows: list
    method: Method
    others: list  # that it is compared with
    note: str = ""

    @property
    def runs(self):
        return [(row, method) for row in self.rows for method in (self.method, *self.others) if method is not KNOWN]

    def columns(self, measurement):
        """The method's steps, and by the label of each other the ratios to it: of all problems, in their order."""
        steps = [measurement.median(row, self.method) for row in self.rows]
        ratios = {other.label: [ratio_of(own, measurement.median(row, other)) for row, own in zip(self.rows, steps)] for other in self.others}
        return {"step": steps, **ratios}

    def text(self, measurement):
        columns = self.columns(measurement)
        header = ["problem", self.method.label]
        for other in self.others:
            header += [other.label, "ratio"]
        lines = []
        for number, row in enumerate(self.rows):
            cells = [short(row.problem), step_text(columns["step"][number])]
            for other in self.others:
                cells += [step_text(measurement.median(row, other)), ratio_text(columns[other.label][number])]
            lines.append(cells)
        page = (f"{self.title}\n{medians_of(measurement.arguments.seeds)}; problems: {len(self.rows)}; ratio: {self.method.label} by the "
                f"other\n{self.note}\n")
        if len(self.rows) == 1:
            return page + aligned([header, *lines])
        known = {other.label: [ratio for ratio in columns[other.label] if ratio is not None] for other in self.others}
        page += aligned([header, *lines, *summary(list(known.values()))])
        for label, ratios in known.items():
            if ratios:
                page += f"\nworst against {label}: {short(self.rows[columns[label].index(max(ratios))].problem)}"
        return page


def summary(ratios_of_others):
    """Rows below the ratios."""
    def row(label, value):
        cells = [label, ""]
        for ratios in ratios_of_others:
            cells += ["", value(ratios) if ratios else ""]
        return cells

    def per_cent(excess):
        return lambda ratios: f"{100 * within(excess)(ratios):.0f} %"

    return [row("geometric mean", lambda ratios: f"{geometric_mean(ratios):.3f}"), row("worst", lambda ratios: f"{max(ratios):.3f}"),
            row("not above it", per_cent(0)), row("at most 1 % above it", per_cent(0.01)), row("at most 5 % above it", per_cent(0.05))]


@dataclass(frozen=True)
class FineTunings:
    """Trainings on one problem each, and what their policy found before; of every seed."""

    name: str
    title: str
    rows: list
    method: Method

    @property
    def runs(self):
        return [(row, self.method) for row in self.rows]  # each of them makes its zero-shot run too

    def measured(self, measurement):
        """(problem, seed, zero-shot, fine-tuned, ratio)"""
        found = []
        for row in self.rows:
            for seed in range(1, measurement.arguments.seeds + 1):
                zero_shot, tuned = measurement.step(row, self.method.zero_shot(), seed), measurement.step(row, self.method, seed)
                found.append((short(row.problem), seed, zero_shot, tuned, ratio_of(tuned, zero_shot)))
        return found

    def columns(self, measurement):
        return {ZERO_SHOT: [ratio for *_, ratio in self.measured(measurement)]}

    def text(self, measurement):
        lines = [["problem", "seed", ZERO_SHOT, self.method.label, "ratio"]]
        for problem, seed, zero_shot, tuned, ratio in self.measured(measurement):
            lines.append([problem, str(seed), step_text(zero_shot), step_text(tuned), ratio_text(ratio)])
        return f"{self.title}\nproblems: {len(self.rows)}; ratio: {self.method.label} by {ZERO_SHOT}\n\n{aligned(lines)}"


@dataclass(frozen=True)
class Gaps:
    """What is kept, against its certified bounds."""

    name: str
    title: str
    rows: list
    runs: tuple = ()

    def columns(self, _):
        return {"gap": [row.gap for row in self.rows]}

    def text(self, measurement):
        gaps = self.columns(measurement)["gap"]
        lines = [[short(row.problem), human(row.step_ps), human(row.bound_ps), share(row.gap)] for row in self.rows]
        lines += [["median", "", "", share(statistics.median(gaps))], ["largest", "", "", share(max(gaps))]]
        worst = max(self.rows, key=lambda row: row.gap)
        return (f"{self.title}\nproblems: {len(self.rows)}; gap: (step - bound) / bound\n\n"
                f"{aligned([['problem', 'step', 'bound', 'gap'], *lines])}\nlargest: {short(worst.problem)}")


def parts_of(arguments, rows):
    """Those of --parts that have a problem among these rows."""
    def learned(seconds, policy):
        return Method(f"learned, {policy}" if arguments.policy else "learned", "learned", (), seconds, policy)

    def best(seconds, policy, ranks=None):
        label = "best" if ranks is None else f"{ranks} rank{'' if ranks == 1 else 's'}"
        return Method(f"{label}, {policy}" if arguments.policy else label, "best", (), seconds, policy, ranks)

    def classic(seconds):
        return Method(f"classic {seconds:g} s", "best", ("roles=classic",), seconds, None)

    def compared(name, title, method, usual, others, note=""):
        methods = [method(arguments.policy), method(usual)] if arguments.policy else [method(usual)]
        return Comparison(name, title, of[name], methods[0], [*methods[1:], *others, KNOWN], note)

    of = {name: [row for row in rows if figures.about(row)] for name, figures in FIGURES.items()}
    long, middle, brief = arguments.long, arguments.middle, arguments.short
    tuned = fine_tuned(arguments.updates, arguments.policy or "without-families")
    every_part = [
        compared("equal", f"place learned --seconds {long:g}, against place best roles=classic in the same time",
                 lambda policy: learned(long, policy), "shipped", [classic(long)]),
        compared("known", f"place best --seconds {middle:g}, against the best known placements", lambda policy: best(middle, policy), "shipped", []),
        compared("unseen", f"place learned --seconds {brief:g} on families that its policy was not trained on",
                 lambda policy: learned(brief, policy), "without-families", [classic(5 * brief), classic(10 * brief)]),
        FineTunings("fine-tuned", f"a policy that is fine-tuned by {arguments.updates} updates, on families that it was not trained on",
                    of["fine-tuned"], tuned),
        compared("gnmt", f"place best --seconds {long:g} on GNMT with 8 layers", lambda policy: best(long, policy), "shipped", []),
        Gaps("gap", "the best known placements, against their certified bounds", of["gap"]),
        compared("scaling", f"place best --seconds {long:g} with 8 ranks, against 1 rank, on the model with most ops",
                 lambda policy: best(long, policy, 8), "shipped", [best(long, arguments.policy or "shipped", 1)],
                 f"cores: {len(os.sched_getaffinity(0))}; with fewer cores than ranks little can be gained\n"),
    ]
    return [part for part in every_part if part.name in arguments.parts and part.rows]


def asked_text(part, measurement, kept):
    """The verdict's lines, or why there is none; `kept`: all rows there are."""
    arguments, figures = measurement.arguments, FIGURES[part.name]
    others = other_settings(arguments, figures.budgets)
    count = sum(map(figures.about, kept))
    if len(part.rows) < count:
        others.append(f"{len(part.rows)} of {count} problems")
    if part.runs and arguments.policy:
        others.append("--policy")
    if figures.trained and arguments.recipe.resolve() != RECIPE:
        others.append("--recipe")
    if others:
        return f"no verdict, as the measurement is not the one that is asked for: {', '.join(others)}"
    return verdict(figures.asked, part.columns(measurement))
