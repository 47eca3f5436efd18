"""launch/run-*.py and launch/measure-onnx: placements run by TensorFlow, OpenVINO, PyTorch and ONNX Runtime.

Run with `build/frameworks/venv/bin/python -m pytest tests/frameworks/test_runners.py`, `-m "not long"` for the short form.
Outputs must equal those of the unplaced model within 1e-4 of their largest value; the runners check that, and say the
largest difference."""

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

import small_models
from program import EMPLACE, ROOT

FEW = ["--runs", "3", "--warm-up", "1"]

sys.path.insert(0, str(ROOT / "launch"))
import placed  # noqa: E402
import timing  # noqa: E402


def emplace(*arguments, code=0):
    done = subprocess.run([EMPLACE, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def launch(script, *arguments, text=None, **environment):
    begin = time.monotonic()
    done = subprocess.run([sys.executable, ROOT / "launch" / script, *map(str, arguments)], capture_output=True, text=True,
                          input=text, env={**os.environ, "EMPLACE": EMPLACE, **environment})
    done.elapsed = time.monotonic() - begin
    return done


def results_of(done):
    """Of each line. All timed runs were made while the script ran, however slow the machine is; at least half of them took
    the median or longer."""
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    for result in results:
        if "error" not in result:
            assert 0 < result["least"] <= result["seconds"] and result["seconds"] * result["runs"] / 2 < done.elapsed
    return results


def result_of(done):
    result, = results_of(done)
    return result


def needs(package):
    return pytest.importorskip(package, reason=f"{package} is not installed; scripts/frameworks makes the environment")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runners")


def place(model, method="round-robin", machine="cores-x2", *options):
    """The file of a placement of the model."""
    file = model.with_suffix(f"{model.suffix}.{method}.{machine}.json")
    emplace("place", method, f"{model}@{machine}", "-o", file, *options)
    return file


def devices_in(file):
    return set(json.loads(file.read_text())["ops"].values())


# TensorFlow


def test_a_network_of_tensorflow_runs_on_three_devices_as_placed(folder):
    needs("tensorflow")
    model = small_models.tensorflow_cnn(folder / "cnn.pb")
    placement = place(model, "round-robin", "cores-x3")
    assert len(devices_in(placement)) == 3
    result = result_of(launch("run-tensorflow.py", placement, "--model", model, *FEW))
    assert result["difference"] <= 1e-4 and result["devices"] == 3
    assert result["ops"]["elsewhere"] == result["ops"]["not_run"] == 0 < result["ops"]["as_placed"]


@pytest.mark.parametrize("resource", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_training_step_of_tensorflow_updates_its_variables_where_they_are_placed(folder, resource):
    needs("tensorflow")
    model = small_models.tensorflow_training(folder / f"training{resource}.pb", resource)
    placement = place(model, "round-robin", "cores-x2", "--allow-unsized")
    done = launch("run-tensorflow.py", "-", "--model", model, "--allow-unsized", *FEW, text=placement.read_text())
    result = result_of(done)
    assert result["ops"]["elsewhere"] == result["ops"]["not_run"] == 0 < result["ops"]["as_placed"]
    asked = json.loads(placement.read_text())["ops"]
    updates = [op for op in asked if "Apply" in op and "ReadVariableOp" not in op]
    assert len(updates) == 6 and len({asked[op] for op in updates}) == 2  # weights on both devices
    # 3 steps of loss and gradients, and all variables: the 6 weights, 12 of Adam, 2 powers
    assert "outputs are those of the unplaced model" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("options", [["--free-order"], ["--grappler"]])
def test_a_loop_of_cells_runs_in_tensorflow(folder, options):
    needs("tensorflow")
    model = small_models.tensorflow_lstm(folder / "lstm.pb")
    placement = place(model, "heft", "cores-x4", "--schedule", "in-order")
    done = launch("run-tensorflow.py", placement, "--model", model, *FEW, *options)
    assert result_of(done)["ops"]["elsewhere"] == 0
    assert ("Grappler and constant folding" in done.stderr) == (options == ["--grappler"])


# OpenVINO


def test_openvino_runs_layers_on_two_instances_of_its_cpu_plugin_as_placed(folder):
    needs("openvino")
    model = small_models.openvino_cnn(folder / "cnn.xml")
    placement = place(model)
    done = launch("run-openvino.py", placement, "--model", model, *FEW)
    result = result_of(done)
    assert result["difference"] <= 1e-4 and result["devices"] == 2
    assert result["ops"]["elsewhere"] == 0 < result["ops"]["as_placed"]
    assert "devices of them: CPU, CPU2" in done.stderr


@pytest.mark.long
def test_openvino_runs_a_recurrent_network_of_open_size_and_refuses_devices_that_it_lacks(folder):
    needs("openvino")
    model = small_models.openvino_lstm(folder / "lstm.xml")
    options = ["--shape", "x=7x16"]
    placement = place(model, "round-robin", "cores-x2", *options)
    result = result_of(launch("run-openvino.py", placement, "--model", model, *options, *FEW))
    assert result["ops"]["elsewhere"] == 0 < result["ops"]["as_placed"]
    done = launch("run-openvino.py", placement, "--model", model, *options, "--rename", "cpu:1=GPU.7")
    assert done.returncode == 2
    assert "OpenVINO has no device 'GPU.7' here; there are CPU" in done.stderr


# PyTorch


@pytest.fixture(scope="module")
def onnx_file(folder):
    needs("torch")
    needs("onnx")
    return small_models.torch_attention(folder / "attention.onnx")


@pytest.fixture(scope="module")
def program(onnx_file):
    return onnx_file.with_name("program.pt2")


@pytest.mark.parametrize("kind", ["program", pytest.param("onnx_file", marks=pytest.mark.long)])
def test_two_processes_run_a_program_of_pytorch_that_changes_devices_at_every_op(kind, request):
    model = request.getfixturevalue(kind)
    done = launch("run-pytorch.py", place(model), "--model", model, *FEW)
    result = result_of(done)
    assert result["difference"] <= 1e-4 and result["devices"] == 2
    # What makes two halves is one op of ONNX and none of PyTorch, which slices twice.
    assert result["ops"]["not_run"] == (kind == "onnx_file"), done.stderr
    assert result["ops"]["elsewhere"] == 0 and result["ops"]["as_placed"] >= 20
    assert "rank:0 on core" in done.stderr and "rank:1 on core" in done.stderr


def test_one_process_hands_tensors_from_part_to_part(program):
    """Where there is no GPU, both devices are the CPU: the cuts are those of a placement at every op."""
    done = launch("run-pytorch.py", place(program), "--model", program, "--by", "devices", *FEW)
    result = result_of(done)
    assert result["difference"] == 0 and result["devices"] == 2
    assert result["ops"]["elsewhere"] == 0 and result["ops"]["as_placed"] >= 20
    done = launch("run-pytorch.py", place(program), "--model", program, "--by", "devices", "--rename", "cpu:1=cuda:7")
    assert done.returncode == 2 and "PyTorch has no device 'cuda:7' here" in done.stderr


def test_a_process_runs_its_parts_in_the_order_of_the_placement_and_keeps_only_what_is_read():
    torch = needs("torch")
    import torch_parts

    class Net(torch.nn.Module):
        def forward(self, x):
            first, second = torch.relu(x), torch.tanh(x)
            return torch.sigmoid(first) + torch.exp(second)

    x = torch.randn(3)
    order = ["tanh", "exp", "relu", "sigmoid", "add"]
    segments = [{"device": f"rank:{number % 2}", "nodes": [node]} for number, node in enumerate(order)]
    cut = torch_parts.Cut(torch.export.export(Net(), (x,)), segments, [x])
    assert [part.target for part in cut.rank_of] == [f"submod_part_{number}" for number in range(5)]

    class Exchange:
        def __init__(self, tensors):
            self.buffers = {value: torch.zeros(elements) for value, (elements, _) in tensors.items()}
            self.hand_over = lambda value, flat: self.buffers[value].copy_(flat)
            self.wait_for = lambda value: None

    alone = torch_parts.Process(cut, 0, Exchange)  # runs tanh, relu and add; exp and sigmoid were not handed over
    values = alone.step(cut.run)
    assert [part.target for part in alone.own] == [f"submod_part_{number}" for number in (0, 2, 4)]
    assert {value.target for value in values if value.op == "call_module"} == {"submod_part_4"}


def halves(model, file):
    """A placement of the first half of the ops on one device, of the second half on another."""
    content = json.loads(place(model, "single").read_text())
    ops = list(content["ops"])
    content["ops"] = {op: "cpu:0" if i < len(ops) // 2 else "cpu:1" for i, op in enumerate(ops)}
    file.write_text(json.dumps(content))
    return file


@pytest.mark.long
def test_a_placement_in_two_stages_runs_in_pytorchs_pipeline(program, folder):
    done = launch("run-pytorch.py", halves(program, folder / "halves.json"), "--model", program, "--by", "pipeline",
                  "--microbatches", "3", *FEW)
    assert result_of(done)["difference"] <= 1e-4
    back = launch("run-pytorch.py", place(program), "--model", program, "--by", "pipeline")
    assert back.returncode == 2 and "the placement goes back to a device" in back.stderr


@pytest.mark.long
def test_the_archive_of_another_program_is_refused(program, onnx_file):
    """An ONNX file of PyTorch is made from a program whose nodes have other names than those of the first one."""
    other = onnx_file.with_name("other.pt2")
    small_models.save_program(small_models.torch_cnn(), [1, 3, 16, 16], other)
    done = launch("run-pytorch.py", place(onnx_file), "--model", onnx_file, "--program", other)
    assert done.returncode == 2 and "placed ops are nodes of it, so it is of another model" in done.stderr
    done = launch("run-pytorch.py", place(onnx_file), "--model", onnx_file, "--program", "none.pt2")
    assert done.returncode == 2 and "none.pt2: there is no such archive" in done.stderr


@pytest.mark.long
def test_accelerate_keeps_the_weights_of_the_second_device_on_disk(program):
    needs("accelerate")
    done = launch("run-pytorch.py", place(program), "--model", program, "--by", "device-map", *FEW)
    result = result_of(done)
    assert result["difference"] <= 1e-4
    assert result["weights"]["as_placed"] == 12 and "  disk: " in done.stderr
    # accelerate moves modules: a weight of the model itself stays.
    assert "1 were elsewhere: scale (asked disk, ran cpu)" in done.stderr


@pytest.mark.long
def test_accelerates_own_placement_fills_the_devices_in_the_order_of_the_modules(program, folder):
    needs("accelerate")
    file = folder / "accelerate.json"

    def place_by_accelerate(*limits):
        return subprocess.run([sys.executable, ROOT / "scripts/accelerate-placement", program, "k40x2", "-o", file, *limits],
                              capture_output=True, text=True, env={**os.environ, "EMPLACE": EMPLACE})

    assert place_by_accelerate().returncode == 0 and devices_in(file) == {"gpu:0"}
    # 25.6 kB for the embedding, then 50 kB for each layer: with 90 kB the second layer is on the next device.
    done = place_by_accelerate("--limit", "gpu:0=90000")
    assert done.returncode == 0, done.stderr
    ops = json.loads(file.read_text())["ops"]
    assert (ops["embedding"], ops["linear"], ops["linear_6"]) == ("gpu:0", "gpu:0", "gpu:1")
    emplace("simulate", f"{program}@k40x2", file)
    small = ("--limit", "gpu:0=1000", "--limit", "gpu:1=1000", "--limit", "cpu:0=1000")
    assert place_by_accelerate(*small).returncode == 2


# ONNX Runtime


def test_the_library_of_the_python_package_measures_placements_of_onnx_models(onnx_file):
    package = pathlib.Path(needs("onnxruntime").__file__).parent
    environment = {**os.environ, "EMPLACE": EMPLACE, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("ONNXRUNTIME_LIBRARY", None)
    done = subprocess.run([ROOT / "launch/measure-onnx", onnx_file, "--runs", "3"], capture_output=True, text=True,
                          input=place(onnx_file).read_text(), env=environment)
    assert json.loads(done.stdout)["onnxruntime"] == needs("onnxruntime").__version__, (package, done.stderr)


# Runs and evaluators


@pytest.fixture(scope="module")
def models(request, folder):
    def make(script):
        if script == "run-tensorflow.py":
            return small_models.tensorflow_training(folder / "served.pb", True)
        return small_models.openvino_cnn(folder / "served.xml") if script == "run-openvino.py" else request.getfixturevalue("program")

    return make


@pytest.mark.parametrize("script, package, options", [
    ("run-tensorflow.py", "tensorflow", ["--allow-unsized"]), ("run-openvino.py", "openvino", []), ("run-pytorch.py", "torch", []),
    pytest.param("run-pytorch.py", "torch", ["--by", "devices"], marks=pytest.mark.long)])
def test_a_script_that_serves_answers_each_placement_as_a_run_of_its_own_does(script, package, options, models):
    """Also after a placement that uses fewer devices, and after lines that are no placements of the model."""
    needs(package)
    model = models(script)
    unsized = [option for option in options if option == "--allow-unsized"]
    two, one = place(model, "round-robin", "cores-x2", *unsized), place(model, "single", "cores-x2", *unsized)
    of_another = json.loads(two.read_text())
    of_another["ops"]["no such op"] = of_another["ops"].pop(next(iter(of_another["ops"])))
    lines = [json.dumps(json.loads(file.read_text())) for file in (two, one)]
    lines = [lines[0], lines[1], "{", json.dumps(of_another), lines[0]]
    served = results_of(launch(script, "--serve", "--model", model, *options, *FEW, text="".join(line + "\n" for line in lines)))
    alone = [result_of(launch(script, file, "--model", model, *options, *FEW)) for file in (two, one)]
    assert len(served) == len(lines)
    for number, single in ((0, alone[0]), (1, alone[1]), (4, alone[0])):
        for key in ("difference", "ops", "devices", "runs"):
            assert served[number][key] == single[key], key
    assert "not valid JSON" in served[2]["error"] and "line.json" in served[2]["error"]
    assert "'no such op'" in served[3]["error"]


@pytest.mark.long
@pytest.mark.parametrize("script, make", [("run-tensorflow.py", "tensorflow_cnn"), ("run-openvino.py", "openvino_cnn")])
def test_a_training_measures_with_the_runner_and_its_folder_runs_by_itself(tmp_path, script, make):
    needs(script.removeprefix("run-").removesuffix(".py"))
    model = getattr(small_models, make)(tmp_path / ("m.pb" if "tensorflow" in make else "m.xml"))
    command = [str(ROOT / "launch" / script), "--serve", "--model", str(model), "--no-check", *FEW]
    emplace("train", "post", f"problem={model}@cores-x2", "evaluator=command", f"command.run={json.dumps(command)}",
            "command.keep=true", "command.repeat=1", "evaluations=4", "post.samples_per_update=2", "compare=[]", f"run={tmp_path / 'run'}")
    result = result_of(launch(script, tmp_path / "run", *FEW))
    assert result["ops"]["elsewhere"] == 0


# Bad input


@pytest.fixture(scope="module")
def tiny(folder):
    """A model and a placement that need no framework to be refused."""
    model = folder / "tiny.pbtxt"
    model.write_text("".join(f'node {{ name: "{name}" op: "{op}" {read} attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
                             'attr { key: "shape" value { shape { dim { size: 4 } } } } }\n'
                             for name, op, read in [("x", "Placeholder", ""), ("r", "Relu", 'input: "x"')]))
    return model, place(model, "single")


def test_a_placement_of_another_model_is_refused_with_the_names_of_ops(tiny, folder):
    needs("tensorflow")
    other = folder / "other.json"
    other.write_text(tiny[1].read_text().replace('"r"', '"elsewhere"'))
    done = launch("run-tensorflow.py", other, "--model", tiny[0])
    assert done.returncode == 2 and done.stdout == ""
    assert "'elsewhere'" in done.stderr and "the placement is of another model" in done.stderr


@pytest.mark.parametrize("rename, why", [
    ("cpu:7=/device:CPU:0", "--rename: no op is on the device 'cpu:7'; there are ops on cpu:0"),
    ("cpu:0=/device:GPU:9", "TensorFlow has no device '/device:GPU:9' here; there are /device:CPU:0"),
])
def test_unknown_devices_are_refused_by_name(tiny, rename, why):
    needs("tensorflow")
    done = launch("run-tensorflow.py", tiny[1], "--model", tiny[0], "--rename", rename)
    assert done.returncode == 2 and why in done.stderr


@pytest.mark.parametrize("package, version", [("tensorflow", "1.15.0"), ("openvino", "2021.4"), ("torch", "1.13.1")])
def test_another_version_of_a_framework_is_one_sentence(tmp_path, package, version):
    (tmp_path / f"{package}.py").write_text(f"__version__ = '{version}'\n")
    done = launch(f"run-{'pytorch' if package == 'torch' else package}.py", "none.json", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and f"error: {package} is {version}, and this script was written for" in done.stderr


def test_a_missing_framework_is_one_sentence(monkeypatch):
    monkeypatch.setattr(placed, "ROOT", pathlib.Path("/nowhere"))
    with pytest.raises(placed.Wrong, match="no_such_framework is not installed .*scripts/frameworks installs it"):
        placed.framework("no_such_framework", "1")


# The checks themselves


def test_outputs_that_differ_are_an_error_that_names_the_output():
    numpy = needs("numpy")
    right = {"y": numpy.array([1.0, 2.0])}
    assert placed.compare(right, {"y": numpy.array([1.0, 2.0001])}, 1e-4) == pytest.approx(5e-5)
    with pytest.raises(placed.Differs, match="the output 'y' differs .* by 0.001, and its largest value is 2"):
        placed.compare(right, {"y": numpy.array([1.0, 2.001])}, 1e-4)
    with pytest.raises(placed.Differs, match=r"'y' has the sizes \(1,\), and unplaced \(2,\)"):
        placed.compare(right, {"y": numpy.array([1.0])}, 1e-4)
    with pytest.raises(placed.Differs, match="other outputs: y, z"):
        placed.compare(right, {"z": right["y"]}, 1e-4)


def test_ops_are_counted_by_where_they_ran(capsys):
    counts = placed.say_where({"a": "CPU:0", "b": "CPU:1", "c": "CPU:1"}, {"a": "CPU:0", "b": "CPU:0"}, "merged")
    assert counts == {"as_placed": 1, "elsewhere": 1, "not_run": 1}
    said = capsys.readouterr().err
    assert "1 were elsewhere: b (asked CPU:1, ran CPU:0)" in said and "1 did not run by themselves (merged): c" in said


def test_the_median_ignores_outliers_and_drift_is_the_change_from_the_first_half_to_the_second():
    result = timing.summary([1.0, 1.01, 0.99, 1.2, 1.21, 50.0])
    # The median of six is the mean of the third and fourth, 1.01 and 1.2; the halves have the medians 1.0 and 1.21.
    assert result["seconds"] == pytest.approx(1.105) and result["least"] == 0.99
    assert result["drift"] == pytest.approx(0.21) and result["outliers"] == 1
    assert not timing.is_steady(result)
