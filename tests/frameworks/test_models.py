"""One model, three files: what the program reads of torch.export, ONNX and OpenVINO IR agrees, and agrees with what torch
itself counts; the same for the forms in which TensorFlow hands on a model.

Run by `build/frameworks/venv/bin/python -m pytest tests/frameworks/test_models.py`; `-m "not long"` takes three models
of PyTorch and two of TensorFlow. scripts/framework-models makes the files.
"""
import json
import subprocess

import pytest

from program import EMPLACE, ROOT, inspect

FOLDER = ROOT / "build/frameworks/models"

try:
    from architectures import ARCHITECTURES
except ImportError as error:
    pytest.skip(f"left out: the frameworks are not installed ({error}); run scripts/frameworks", allow_module_level=True)
from export_tensorflow import MODELS  # noqa: E402


# The forms before the exporters optimise, and after: they fold batch normalisation into convolutions (its scale and shift
# become one bias), slices of position embeddings, and masks and tables that depend on no input into constants.
PLAIN = ["pt2", "plain.onnx", "plain.xml"]
OPTIMISED = ["onnx", "xml"]
PRODUCTS = ("matmul", "convolution", "depthwise")


def marked(names, quick):
    return [name if name in quick else pytest.param(name, marks=pytest.mark.long) for name in names]


def made(name):
    """What the framework counts; makes the model's files where they are missing."""
    run = subprocess.run([ROOT / "scripts/framework-models", name], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads((FOLDER / f"{name}.json").read_text())


def products(graph):
    return sum(graph["flops_by_class"].get(cls, 0) for cls in PRODUCTS)


def check_costs(graph, form=None):
    if form != "plain.onnx":  # in which parts of a tensor may be a sequence, which has no size
        assert graph["static_tensors"] == graph["tensors"], form
    assert sum(graph["uncosted_ops"].values()) <= 0.001 * graph["ops"], graph["uncosted_ops"]


@pytest.mark.parametrize("name", marked([a.name for a in ARCHITECTURES], [a.name for a in ARCHITECTURES if a.quick]))
def test_the_three_problems_of_a_model_agree(name):
    facts = made(name)
    ir_constants = next(a.ir_constants for a in ARCHITECTURES if a.name == name)
    graphs = {form: inspect(FOLDER / f"{name}.{form}") for form in PLAIN + OPTIMISED}
    # What is placed: after the passes that fold constants.
    placed = {form: graph["lowered"] for form, graph in graphs.items()}
    for form, graph in placed.items():
        check_costs(graph, form)
    flops = [graph["flops"] for graph in placed.values()]
    assert max(flops) <= 1.02 * min(flops), {form: graph["flops"] for form, graph in placed.items()}
    # torch counts products without biases and without the softmax of attention.
    for form, graph in placed.items():
        assert products(graph) == pytest.approx(facts["flops"], rel=0.02), form
    # A learned scalar cannot be told from a coefficient, and only .pt2 tells buffers from weights.
    weights = facts["parameters"] - facts["scalar_parameters"]
    assert graphs["pt2"]["weights"] == weights
    assert graphs["plain.onnx"]["weights"] == weights + facts["unmarked_buffers"]
    assert graphs["plain.xml"]["weights"] == weights + facts["unmarked_buffers"] + ir_constants
    for form in OPTIMISED:
        assert graphs[form]["weights"] == pytest.approx(weights, rel=0.015), form


@pytest.mark.parametrize("name", marked(MODELS, [name for name, model in MODELS.items() if model.quick]))
def test_the_forms_of_a_tensorflow_model_agree(name):
    facts = made(name)
    saved = inspect(FOLDER / f"{name}.saved/saved_model.pb")
    check_costs(saved["lowered"])
    assert saved["weights"] == facts["parameters"] + MODELS[name].constants
    frozen = inspect(FOLDER / f"{name}.frozen.pb")
    assert frozen["weights"] == facts["parameters"] + MODELS[name].constants
    inspect(FOLDER / f"{name}.function.pb")  # without the weights' sizes: it is read
    if not MODELS[name].loops_over_lists:  # of which a frozen graph does not say how large their elements are
        assert frozen["lowered"]["flops"] == pytest.approx(saved["lowered"]["flops"], rel=0.02)


@pytest.mark.long
def test_hsdags_graphs_have_the_papers_nodes_and_its_table_is_made_of_them(tmp_path):
    run = subprocess.run([ROOT / "scripts/hsdag-graphs"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    published = {"inception-v3": 728, "resnet-50": 396, "bert-base": 1009}
    for name, nodes in published.items():
        ops = inspect(FOLDER / f"hsdag/{name}.xml")["ops"]
        assert abs(ops - nodes) <= 2, name  # OpenVINO 2023.3 made two more of Inception-V3
        placed = inspect(FOLDER / f"hsdag/{name}.xml?constants=placed@i9-flex170-no-igpu")
        assert placed["ops"] == ops, "constants are among what is placed"
    run = subprocess.run([EMPLACE, "reproduce", "hsdag-openvino", "--quick", "--files", FOLDER / "hsdag", "-o", tmp_path / "made",
                          "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    made = {row["row"] for row in json.loads(run.stdout)["rows"] if row["method"] == "hsdag" and row["ours_s"]}
    assert made == {"Inception-V3", "ResNet", "BERT"}
