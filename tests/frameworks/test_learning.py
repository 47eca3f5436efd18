"""scripts/learn-from-measurements: trainings on what a framework measures, with and without a training on the simulator."""

import csv
import os
import subprocess
import sys

import pytest

import small_models
from program import EMPLACE, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import measured_runs  # noqa: E402

SCRIPT = ROOT / "scripts/learn-from-measurements"
LITTLE = ["--measurements", "30", "--simulations", "200", "--runs", "1", "--final-runs", "2", "--rounds", "2", "--best-seconds", "0.5"]


def learn(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "EMPLACE": EMPLACE})


def rows(file):
    with file.open() as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("framework, make, file", [
    ("tensorflow", "tensorflow_training", "m.pb"), pytest.param("openvino", "openvino_cnn", "m.xml", marks=pytest.mark.long),
    pytest.param("pytorch", "torch_program", "m.pt2", marks=pytest.mark.long),
    pytest.param("onnxruntime", "torch_attention", "m.onnx", marks=pytest.mark.long)])
def test_each_way_measures_as_often_as_it_may_and_a_second_call_measures_nothing(tmp_path, framework, make, file):
    pytest.importorskip({"pytorch": "torch"}.get(framework, framework))
    if make == "torch_program":
        small_models.torch_attention(tmp_path / "m.onnx")
        model = (tmp_path / "program.pt2").rename(tmp_path / file)
    else:
        model = getattr(small_models, make)(tmp_path / file, *([True] if framework == "tensorflow" else []))
    out = tmp_path / "out"
    done = learn(framework, out, model, *LITTLE)
    assert done.returncode == 0, done.stderr
    table = {row["way"]: row for row in rows(out / "learned.csv")}
    assert list(table) == ["one-core", "best", "prior", "fine-tuned", "fresh"]
    for way in ("one-core", "best", "prior"):  # which measure nothing while they search
        assert table[way]["measurements"] == "0" and table[way]["found_s"] == ""
    for way in ("fine-tuned", "fresh"):
        assert 20 <= int(table[way]["measurements"]) <= 30 and float(table[way]["found_s"]) > 0
        curve = [row for row in rows(out / "curves.csv") if row["way"] == way]
        best = [float(row["best_s"]) for row in curve]
        assert best == sorted(best, reverse=True) and float(table[way]["found_s"]) == pytest.approx(best[-1], rel=1e-5)
        assert curve[-1]["measurements"] == table[way]["measurements"]
        faster = [row["measurements"] for row in curve if float(row["best_s"]) < 0.97 * float(row["one_core_s"])]
        assert table[way]["until_faster"] == (faster[0] if faster else "")
    assert all(float(row["measured_s"]) > 0 for row in table.values()) and table["one-core"]["devices"] == "1"
    assert "| m | fine-tuned | " in done.stdout
    kept = (out / "learned.csv").read_text()
    again = learn(framework, out, model, *LITTLE)
    assert again.returncode == 0 and (out / "learned.csv").read_text() == kept and again.stdout == done.stdout
    other = learn(framework, out, model, *LITTLE, "--seed", "2")
    assert other.returncode == 2 and "has a table of other settings" in other.stderr


@pytest.mark.parametrize("step, expected", [
    (5.0, [1.5, 3.5, 0.0]),  # 1 s more than the ops take: half for each op that takes time
    (4.0, [1.0, 3.0, 0.0]),
    (2.0, [0.0, 2.0, 0.0]),  # 2 s less: 1 s less for each
    (1.0, [0.0, 1.0, 0.0]),  # 1.5 s less for each, but no op takes less than nothing: 1.5 s are left, and are scaled to 1
])
def test_what_a_step_takes_beside_its_ops_is_divided_evenly(step, expected):
    problem = {"devices": [{}], "ops": [{"seconds": [seconds]} for seconds in (1.0, 3.0, 0.0)]}
    found = [op["seconds"][0] for op in measured_runs.with_dispatch(problem, step)["ops"]]
    assert found == pytest.approx(expected) and sum(found) == pytest.approx(step)


def test_the_gradient_of_a_max_pooling_is_placed_with_it():
    ops = [{"name": name, "type": kind, "colocate": None} for name, kind in
           (("pool", "MaxPool"), ("relu", "Relu"), ("back", "MaxPoolGrad"), ("sum", "AddN"))]
    tensors = [{"from": 0, "to": [1, 2]}, {"from": 1, "to": [2]}, {"from": 2, "to": [3]}]
    bound = measured_runs.with_pools_together({"ops": ops, "tensors": tensors})
    assert [op["colocate"] for op in bound["ops"]] == ["pool/pool", None, "pool/pool", None]


def test_the_time_of_busy_cores_counts_for_the_work_that_is_done_while_both_are_busy(tmp_path, monkeypatch):
    found = {"idle": {"makespan_s": 6.0, "devices": [{"busy_s": 6.0}, {"busy_s": 2.0}]},
             "busy": {"makespan_s": 9.0, "devices": [{"busy_s": 9.0}, {"busy_s": 3.0}]}}
    monkeypatch.setattr(measured_runs, "emplace", lambda command, problem, placement: found[problem])
    model = measured_runs.Model("pytorch", tmp_path / "m.pt2", tmp_path)
    # 8 s of work in 6 s: for at least 2 s both cores are busy, in which 4 of the 8 s are done.
    assert model.predicted("idle", "busy", None) == pytest.approx(6 + 0.5 * (9 - 6))


def test_a_model_that_does_not_run_is_named_and_bad_arguments_are_refused(tmp_path):
    pytest.importorskip("tensorflow")
    (tmp_path / "bad.pb").write_text("no model")
    done = learn("tensorflow", tmp_path / "out", tmp_path / "bad.pb", *LITTLE)
    assert done.returncode == 1 and "not run: bad: " in done.stderr
    for arguments, why in ((["--recipe", "none"], "there is no configs/recipes/none.toml"), (["--ways", "fresh,old"], "unknown way 'old'")):
        done = learn("tensorflow", tmp_path / "out", tmp_path / "bad.pb", *arguments)
        assert done.returncode == 2 and why in done.stderr
