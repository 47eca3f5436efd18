"""emplace.train() against the program, its callbacks, its folders, and what it refuses."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from support import ROOT, emplace, load_quietly, needs_program, printed, run, write_problem

RECIPE = {
    "graph": "zoo:nmt?layers=2",
    "machine": "k40x2",
    "policy": "post",
    "learner": "post",
    "grouping": "chain",
    "groups": 16,
    "evaluations": 400,
    "seed": 5,
}


@needs_program
def test_a_training_learns_what_it_learns_in_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained = emplace.train(RECIPE)
    overrides = [f"{key}={value}" for key, value in RECIPE.items()]
    (tmp_path / "empty.toml").write_text("")
    program = printed("train", "empty.toml", *overrides, "run=program", "--json", codes=(0, 3))
    problem = load_quietly("zoo:nmt?layers=2", machine="k40x2")
    assert [problem.devices[device].name for device in trained.placement] == list(program["ops"].values())
    assert trained.makespan_ps == program["makespan_ps"] and trained.evaluations == program["evaluations"] == 400
    assert trained.feasible == program["feasible"] and trained.finished and trained.run is None
    assert problem.simulate(trained.placement).makespan_ps == trained.makespan_ps
    header, *rows = (tmp_path / "program/metrics.csv").read_text().splitlines()
    columns = dict(zip(header.split(","), zip(*(row.split(",") for row in rows))))
    assert list(trained.history) == list(columns)
    for name, cells in columns.items():
        if not name.startswith("wall_"):
            wanted = [float(cell) if cell else np.nan for cell in cells]
            np.testing.assert_array_equal(trained.history[name], wanted)
    assert sorted(os.listdir(tmp_path)) == ["empty.toml", "program"]  # the temporary run folder is gone


def test_a_callback_sees_every_update_once_and_may_end_the_training(tmp_path):
    seen = []
    trained = emplace.train(RECIPE, seen.append)
    assert [row["update"] for row in seen] == list(range(1, trained.updates + 1))
    assert seen[-1].keys() == trained.history.keys() and seen[-1]["evaluations"] == 400
    assert [row["best_step_time"] for row in seen] == trained.history["best_step_time"].tolist()

    ended = emplace.train(RECIPE, lambda row: row["update"] < 3, run=tmp_path / "run")
    assert ended.updates == 3 and not ended.finished and ended.run == str(tmp_path / "run")
    assert (tmp_path / "run/status").read_text().strip() == "interrupted"
    rows = []
    resumed = emplace.train(RECIPE, rows.append, run=tmp_path / "run", resume=True)
    assert [row["update"] for row in rows] == list(range(4, resumed.updates + 1))
    assert resumed.makespan_ps == trained.makespan_ps and (resumed.placement == trained.placement).all()
    assert resumed.history["update"].tolist() == trained.history["update"].tolist()


def test_what_a_callback_raises_ends_the_training_with_a_checkpoint(tmp_path):
    def callback(row):
        if row["update"] == 2:
            raise ZeroDivisionError("a bug of the caller's")

    with pytest.raises(ZeroDivisionError, match="a bug of the caller's"):
        emplace.train(RECIPE, callback, run=tmp_path / "run")
    assert (tmp_path / "run/status").read_text().strip() == "interrupted"
    assert (tmp_path / "run/checkpoint.h5").is_file()
    assert emplace.train(RECIPE, run=tmp_path / "run", resume=True).finished


def test_recipes_come_from_files_and_keys_replace_theirs(tmp_path):
    trained = emplace.train(
        ROOT / "configs/recipes/quickstart.toml",
        run=str(tmp_path / "run"),
        updates=2,
        post={"coarse_units": 8},
        seed=np.int64(4),
    )
    assert trained.updates == 2
    config = (tmp_path / "run/config.toml").read_text()
    assert "coarse_units = 8" in config and "seed = 4" in config


def test_a_problem_takes_the_place_of_the_recipes(tmp_path):
    recipe = {key: value for key, value in RECIPE.items() if key not in ("groups", "grouping")}
    problem = load_quietly(write_problem(tmp_path / "p.json", 12))
    of_file = emplace.train(recipe, problem=problem)
    of_path = emplace.train(recipe, problem=tmp_path / "p.json")
    assert (of_file.placement == of_path.placement).all() and len(of_file.placement) == problem.op_count

    made = chain_of_arrays(6)
    trained = emplace.train(recipe, problem=made, run=tmp_path / "run")
    assert made.simulate(trained.placement).makespan_ps == trained.makespan_ps

    training = load_quietly("zoo:nmt?layers=2", machine="k40x2", training=True)
    learned = emplace.train({**RECIPE, "batch": 3, "roofline": {"fuse": True}}, problem=training)
    assert len(learned.placement) == training.op_count
    with pytest.raises(emplace.InputError, match="train: machine is given twice"):
        emplace.train(RECIPE, problem=training, machine="k40x4")


def chain_of_arrays(ops):
    return emplace.Problem(
        np.arange(1.0, 2 * ops + 1).reshape(ops, 2),
        edges=[(i, i + 1) for i in range(ops - 1)],
        bandwidth_bytes_per_s=1e9,
    )


def problem_of_run(run):
    """The problem that the run's configuration names."""
    source = re.search(r'^problem = "(.*)"$', (run / "config.toml").read_text(), re.M)
    return load_quietly(source[1])


SMALL_RECIPE = {"policy": "post", "learner": "post", "updates": 2}


def test_a_problem_of_arrays_is_kept_beside_the_run_that_a_file_names(tmp_path):
    (tmp_path / "recipe.toml").write_text(
        f'policy = "post"\nlearner = "post"\nupdates = 2\nrun = "{tmp_path}/run"\n'
    )
    made = chain_of_arrays(6)
    emplace.train(tmp_path / "recipe.toml", problem=made)
    assert problem_of_run(tmp_path / "run")._handle.same_as(made._handle)


def test_a_problem_of_arrays_replaces_no_problem_of_another_run(tmp_path):
    six, seven = chain_of_arrays(6), chain_of_arrays(7)
    emplace.train(SMALL_RECIPE, problem=six, run=tmp_path / "run")
    emplace.train(SMALL_RECIPE, problem=seven, run=tmp_path / "run")
    assert problem_of_run(tmp_path / "run.1")._handle.same_as(six._handle)
    assert problem_of_run(tmp_path / "run")._handle.same_as(seven._handle)
    assert len(list((tmp_path / "run.problem").iterdir())) == 2


def test_a_run_is_resumed_with_the_same_arrays_only(tmp_path):
    six = chain_of_arrays(6)
    emplace.train(SMALL_RECIPE, lambda row: False, problem=six, run=tmp_path / "run")
    with pytest.raises(emplace.InputError, match="holds an unfinished run of another configuration: 'problem' is"):
        emplace.train(SMALL_RECIPE, problem=chain_of_arrays(7), run=tmp_path / "run", resume=True)
    assert problem_of_run(tmp_path / "run")._handle.same_as(six._handle)
    resumed = emplace.train(SMALL_RECIPE, problem=chain_of_arrays(6), run=tmp_path / "run", resume=True)
    assert resumed.finished and resumed.updates == 2


def test_resuming_a_finished_run_calls_no_callback(tmp_path):
    trained = emplace.train(SMALL_RECIPE, problem=chain_of_arrays(6), run=tmp_path / "run")
    rows = []
    again = emplace.train(SMALL_RECIPE, rows.append, problem=chain_of_arrays(6), run=tmp_path / "run", resume=True)
    assert rows == [] and again.finished
    assert again.history["update"].tolist() == trained.history["update"].tolist() == [1, 2]


def test_a_training_in_a_callback_is_refused(tmp_path):
    program = """
import emplace
recipe = {"problem": "zoo:nmt?layers=1@k40x2", "policy": "post", "learner": "post", "updates": 2}
try:
    emplace.train(recipe, lambda row: emplace.train(recipe))
except emplace.InputError as error:
    print(error)
print(emplace.train(recipe).updates)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
    )
    says = "train: a callback or signal handler of a training cannot begin another training"
    assert done.stdout.splitlines() == [says, "2"], done.stderr


def test_a_failed_training_closes_its_log(tmp_path):
    diverging = {
        "reward": "time",
        "penalty_cap": 0,
        "time_unit": 1e-12,
        "optimizer": "sgd",
        "momentum": 0,
        "learning_rate": 1000,
        "clip_norm": 0,
    }
    recipe = {
        "problem": "zoo:nmt?layers=2&sequence=4&training=true@k40x2",
        "policy": "hierarchical",
        "learner": "reinforce",
        "grouping": "chain",
        "groups": 8,
        "updates": 100,
        "hierarchical": {"hidden": 8, "grouper_hidden": 8},
        "reinforce": diverging,
    }
    with pytest.raises(emplace.EnvironmentError, match="the network computes a logit of"):
        emplace.train(recipe, run=tmp_path / "run")
    assert (tmp_path / "run/status").read_text() == "failed\n"
    opened = {os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}
    assert str(tmp_path / "run/log.txt") not in opened


def test_several_problems_are_learned_at_once():
    recipe = {
        "problems": ["zoo:nmt?layers=1@k40x2", "zoo:nmt?layers=2@k40x2"],
        "policy": "post",
        "learner": "post",
        "grouping": "chain",
        "groups": 8,
        "updates": 2,
    }
    trained = emplace.train(recipe)
    assert [each.problem for each in trained.best] == ["zoo:nmt?layers=1@k40x2", "zoo:nmt?layers=2@k40x2"]
    assert trained.held_out == () and all(each.evaluation >= 1 for each in trained.best)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"polcy": "post"}, "recipe: unknown key 'polcy' (did you mean 'policy'?)"),
        ({"policy": "pots"}, "recipe: unknown policy 'pots' (did you mean 'post'?)"),
        ({"seed": -1}, "recipe: 'seed' must be at least 0, found -1"),
        ({"evaluations": 1.5}, "recipe: 'evaluations' must be a whole number, found a number"),
        ({"seed": object()}, "recipe: must be a text, number, true or false, list or dictionary, found object"),
        ({"seed": 2**70}, f"recipe: {2**70} is beyond 64 bits"),
        ({"machine": None}, "recipe: `graph` needs `machine` beside it"),
        ({"evaluations": 3}, "recipe: the budget of 3 evaluations is less than the 20 of one update"),
    ],
)
def test_recipes_that_are_none_are_refused_with_a_sentence(changes, text):
    with pytest.raises(emplace.InputError) as error:
        emplace.train({**RECIPE, **changes})
    assert str(error.value) == text


@needs_program
def test_a_missing_recipe_is_refused_with_the_programs_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(emplace.InputError) as error:
        emplace.train("nowhere.toml")
    assert str(error.value) == run("train", "nowhere.toml", codes=(2,)).stderr.strip().removeprefix("error: ")
