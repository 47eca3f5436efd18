"""Problem.place() and Problem.bound() against the program."""

import numpy as np
import pytest

from support import emplace, error_of, load_quietly, needs_program, printed, run, write_problem

QUICK = ["single", "round-robin", "contiguous", "greedy", "scotch", "metis", "heft", "cpop", "peft", "m-topo", "m-etf"]


@needs_program
@pytest.mark.parametrize("method", [*QUICK, "random", "layers", "climb", "anneal", "tabu", "ruin", "brkga", "contracted", "layered", "best", "branch-and-bound"])
def test_a_placer_finds_what_it_finds_in_the_program(tmp_path, method):
    path = write_problem(tmp_path / "p.json", 12)
    problem = load_quietly(path)
    for schedule in ("fifo", "priority"):
        arguments = ["--schedule", schedule, "--seed", "3", "--evaluations", "200", "--json"]
        program = printed("place", method, path, *arguments, codes=(0, 3))
        placed = problem.place(method, evaluations=200, seed=3, schedule=schedule)
        assert [problem.devices[device].name for device in placed.placement] == list(program["ops"].values())
        assert placed.makespan_ps == program["makespan_ps"] and placed.feasible == program["feasible"]
        assert placed.evaluations == program["evaluations"]
        assert placed.proved_optimal == program["proved_optimal"]
        assert placed.lower_bound_ps / 1e12 == program["lower_bound_s"]
        assert (None if placed.order is None else [problem.op_names[op] for op in placed.order]) == program["order"]
        again = problem.simulate(placed.placement, schedule, placed.order)
        assert again.makespan_ps == placed.makespan_ps
        assert bool(again.feasible) == placed.feasible and (placed.reason == "") == placed.feasible


@needs_program
def test_refusals_have_the_programs_words(tmp_path):
    path = write_problem(tmp_path / "p.json", 12)
    problem = load_quietly(path)
    for method, options in [
        ("hefft", {}),
        ("climb", {"kick": 3}),
        ("climb", {"kicks": "many"}),
        ("device:x", {}),
        ("dp", {}),
    ]:
        with pytest.raises(emplace.InputError) as error:
            problem.place(method, **options)
        program = error_of("place", method, path, *(f"{key}={value}" for key, value in options.items()))
        assert str(error.value).removeprefix("place: ") == program.removeprefix("command line: ")


def test_budgets_and_starts_are_checked(tmp_path):
    problem = load_quietly(write_problem(tmp_path / "p.json", 12))
    for options in ({"seconds": 0}, {"seconds": float("inf")}, {"evaluations": 0}, {"evaluations": -1}, {"seed": -1}):
        with pytest.raises(emplace.InputError):
            problem.place("climb", **options)
    start = problem.place("heft")
    better = problem.place("climb", evaluations=300, start=start.placement)
    assert better.makespan_ps <= start.makespan_ps
    with pytest.raises(emplace.InputError, match="^start: is for .*climb, .*; 'heft' does not use a first placement$"):
        problem.place("heft", start=start.placement)
    with pytest.raises(emplace.InputError, match="^start: the schedule priority needs an order"):
        problem.place("climb", start=start.placement, schedule="priority")
    with pytest.raises(emplace.InputError, match=r"^start: must have shape \["):
        problem.place("climb", start=np.zeros(problem.op_count + 1, dtype=np.uint8))


@needs_program
@pytest.mark.parametrize("seed", [12, 13, 14])
def test_bounds_are_those_of_the_program(tmp_path, seed):
    path = write_problem(tmp_path / "p.json", seed)
    program = printed("bound", path, "--seconds", "5", "--json", codes=(0, 3))
    bound = load_quietly(path).bound(5)
    assert bound.ps == program["lower_bound_ps"] and (bound.method or None) == program["method"]
    assert bound.infeasible == program["reason"]
    assert {name: ps / 1e12 for name, ps in bound.methods_ps.items()} == {
        each["method"]: each["lower_bound_s"] for each in program["methods"]
    }


def test_a_bound_says_why_nothing_is_feasible():
    problem = emplace.Problem(np.ones((2, 2)), bandwidth_bytes_per_s=1e9, memory_bytes=10, resident_bytes=20)
    bound = problem.bound(1)
    assert bound.ps is None and bound.method == "" and not bound.methods_ps
    assert bound.infeasible == "'op:0' fits in the memory of no device that can run it"
    placed = problem.place("heft")
    assert not placed.feasible and placed.reason == "device 'device:0' has too little memory"
    result = problem.simulate(placed.placement)
    assert result.reason().startswith("device 'device:0' needs ")
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(emplace.InputError, match="^seconds: a budget must be above zero and finite, found "):
            problem.bound(seconds)


@needs_program
def test_the_program_simulates_what_was_placed_here(tmp_path):
    path = write_problem(tmp_path / "p.json", 16)
    problem = load_quietly(path)
    placed = problem.place("heft", schedule="in-order")
    problem.save_placement(tmp_path / "placement.json", placed.placement, "in-order", placed.order)
    run("simulate", path, tmp_path / "placement.json")
    assert printed("simulate", path, tmp_path / "placement.json", "--json")["makespan_ps"] == placed.makespan_ps
