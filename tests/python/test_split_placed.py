"""examples/python/split_placed.py: a PyTorch model in the parts that `emplace export --for pytorch` names."""

import importlib.util
import inspect
import json
import re
import warnings

import pytest

from support import ROOT, needs_program, run

torch = pytest.importorskip("torch", reason="PyTorch is not installed: Debian has python3-torch")

spec = importlib.util.spec_from_file_location("split_placed", ROOT / "examples/python/split_placed.py")
split_placed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(split_placed)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(8, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.scale = torch.nn.Parameter(torch.randn(8))

    def forward(self, x):
        y = self.q(x)
        return self.norm(x + torch.softmax(y @ y.transpose(-1, -2), -1) @ x) * self.scale


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(8, 8)
        self.layers = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return x.flatten(1)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    return Model().eval()


INPUT = torch.arange(64.0).reshape(2, 4, 8) / 64


def segments_of(*pairs):
    """A file of op names that are those of nodes, as torch.onnx.export(dynamo=True) writes them."""
    return {"segments": [{"device": device, "ops": ops} for device, ops in pairs], "module_of_op": {}}


def nodes_in(graph):
    return [node.name for node in graph.graph.nodes if node.op.startswith("call_")]


def without_numbers(names):
    """torch.fx numbers the names anew in each part: matmul_2 becomes matmul."""
    return [re.sub(r"_\d+$", "", name) for name in names]


def test_each_node_runs_in_the_segment_that_names_it(model):
    graph = torch.fx.symbolic_trace(model)
    names = nodes_in(graph)
    cuts = [names[:3], names[3:4], names[4:9], names[9:]]
    placed = segments_of(*(("cpu", ["node_" + name for name in part]) for part in cuts))
    parts = split_placed.split(graph, placed)
    for number, names_of_part in enumerate(cuts):
        part = getattr(parts, f"submod_{number}").part
        assert without_numbers(nodes_in(part)) == without_numbers(names_of_part)
    assert torch.equal(parts(INPUT), model(INPUT))


def test_weights_and_values_go_to_the_devices_of_their_parts(model):
    graph = torch.fx.symbolic_trace(model)
    names = ["node_" + name for name in nodes_in(graph)]
    parts = split_placed.split(graph, segments_of(("cpu", names[:6]), ("meta", names[6:])))
    assert {weight.device.type for weight in parts.submod_0.parameters()} == {"cpu"}
    assert {weight.device.type for weight in parts.submod_1.parameters()} == {"meta"}
    assert parts(INPUT).device.type == "meta"  # a device without numbers: only shapes
    assert parts(INPUT).shape == model(INPUT).shape


def test_a_node_that_is_not_named_runs_after_its_inputs(model):
    graph = torch.fx.symbolic_trace(model)
    placed = segments_of(("cpu", ["embed"]), ("cpu", ["layers.0.q"]))  # names of modules
    parts = split_placed.split(graph, placed)
    assert nodes_in(parts.submod_0.part) == ["embed"]
    assert nodes_in(parts.submod_1.part)[0] == "layers_0_q"
    assert torch.equal(parts(INPUT), model(INPUT))


def exported(model, file):
    """The model's file, from the exporter with names of nodes where this PyTorch has it, and its graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if importlib.util.find_spec("onnxscript") is None:
            older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
            torch.onnx.export(model, (INPUT,), str(file), **older)
            return torch.fx.symbolic_trace(model)
        program = torch.onnx.export(model, (INPUT,), dynamo=True, verbose=False)
        program.save(str(file))
        return program.exported_program.module()


@needs_program
@pytest.mark.parametrize("method", ["round-robin", "random", "single"])
def test_a_placement_of_the_exported_model_computes_what_the_model_does(model, tmp_path, method):
    onnx, placement, placed = (str(tmp_path / name) for name in ("m.onnx", "p.json", "placed.json"))
    graph = exported(model, onnx)
    run("place", method, onnx + "@k40x2", "-o", placement)
    renames = ("--rename", "gpu:0=cpu", "--rename", "gpu:1=cpu")
    run("export", placement, "--for", "pytorch", "--model", onnx, *renames, "-o", placed)
    with open(placed, encoding="utf-8") as file:
        document = json.load(file)
    parts = split_placed.split(graph, document)
    several = [name for name, _ in parts.named_children() if name.startswith("submod_")]
    assert (len(several) > 1) == (method != "single")
    assert bool(document["split_modules"]) == (method != "single")
    assert torch.equal(parts(INPUT), model(INPUT))
