"""What is asked of a measurement, and whether it was reached."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from best_known.page import human

BUDGETS = {"seeds": 5, "long": 30, "middle": 10, "short": 1, "updates": 50}  # with which the figures are asked


def number_text(value):
    return f"{value:.4f}".rstrip("0").rstrip(".")


def share_text(value):
    return f"{100 * value:.4g} %"


def step_text(ps):
    return human(ps) if ps < math.inf else "infeasible"


@dataclass(frozen=True)
class Asked:
    figure: str
    column: str  # of the values that a part measured; a value is None where nothing feasible was found
    value: Callable  # of all values of the column
    must: float | None
    aim: float | None = None
    text: Callable = number_text
    limit: str = "at most"  # or "at least" or "below"

    def reached(self, value, limit):
        yes = {"at most": value <= limit, "at least": value >= limit, "below": value < limit}[self.limit]
        return "reached" if yes else "not reached"

    def line(self, columns):
        """What is asked first, in words, and then what was found."""
        word, limit = ("asked", self.must) if self.must is not None else ("aim", self.aim)
        asked = f"{word}: {self.figure} {self.limit} {self.text(limit)}:"
        if None in columns[self.column]:
            return asked, f"no figure, as nothing feasible was found on {columns[self.column].count(None)} of its problems"
        value = self.value(columns[self.column])
        found = f"{self.text(value)}, {self.reached(value, limit)}"
        if self.must is not None and self.aim is not None:
            found += f"; aim {self.text(self.aim)}: {self.reached(value, self.aim)}"
        return asked, found


def other_settings(arguments, budgets):
    """How the call's budgets differ from those of the figures; more seeds than asked are as good."""
    found = []
    for name in budgets:
        value, wanted = getattr(arguments, name), BUDGETS[name]
        if value < wanted or (name != "seeds" and value > wanted):
            found.append(f"--{name} {value:g} in place of {wanted}")
    return found


def verdict(asked, columns):
    lines = [each.line(columns) for each in asked]
    width = max(len(line[0]) for line in lines)
    return "\n".join(f"{first.ljust(width)} {found}" for first, found in lines)
