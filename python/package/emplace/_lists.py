"""Lists of everything that has a name: placers, policies, learners, evaluators, models, machines, readers."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core


@dataclass(frozen=True)
class Option:
    """An option of an Entry.

    name, type, unit: texts; the unit may be empty.
    default: the default value as a text; "" if there is none.
    help: one sentence.
    choices: the allowed texts; () if any text is allowed.
    """

    name: str
    type: str
    default: str
    help: str
    unit: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A placer, policy, model ...: its name, a summary of one sentence, its paper or source, and its options."""

    name: str
    summary: str
    reference: str
    options: tuple[Option, ...]


def _entries(kind: str) -> list[Entry]:
    return [
        Entry(name, summary, reference, tuple(Option(*option[:5], tuple(option[5])) for option in options))
        for name, summary, reference, options in _core.list_entries(kind)
    ]


def list_placers() -> list[Entry]:
    """The methods of Problem.place(); they do not learn."""
    return _entries("placers")


def list_policies() -> list[Entry]:
    """The values of a recipe's key `policy`."""
    return _entries("policies")


def list_learners() -> list[Entry]:
    """The values of a recipe's key `learner`."""
    return _entries("learners")


def list_evaluators() -> list[Entry]:
    """The values of a recipe's key `evaluator`."""
    return _entries("evaluators")


def list_models() -> list[Entry]:
    """The built-in models, mostly of papers: load("zoo:NAME?option=value")."""
    return _entries("models")


def list_machines() -> list[Entry]:
    """The built-in machines; load() also takes a machine's TOML file."""
    return _entries("machines")


def list_readers() -> list[Entry]:
    """The formats of models and published workloads that load() and Problem.from_file() read."""
    return _entries("readers")
