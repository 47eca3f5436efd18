"""Runs a PyTorch model where `emplace export --for pytorch` placed its ops: torch.fx cuts its graph into segments.

With the default exporter of PyTorch 2.9 and later every op keeps the name of its node:

    program = torch.onnx.export(model, inputs, dynamo=True)
    program.save("model.onnx")                              # for emplace
    graph = program.exported_program.module()
    placed = split(graph, json.load(open("placed.json")))   # call it like the model

With the older exporter (dynamo=False), graph = torch.fx.symbolic_trace(model): modules run where they are placed, one
that is split in the last of its segments, and other functions where their last input is.
"""

import copy

import torch
from torch.fx.passes.split_module import split_module
from torch.utils._pytree import tree_map


class OnDevice(torch.nn.Module):
    """A part with its own copy of its weights on the device, to which it moves what it is given."""

    def __init__(self, part, device):
        super().__init__()
        self.part, self.device = copy.deepcopy(part).to(device), device

    def forward(self, *values):
        moved = tree_map(lambda value: value.to(self.device) if isinstance(value, torch.Tensor) else value, values)
        return self.part(*moved)


def split(graph, placed):
    """The GraphModule as one part for each segment of the exported file, each on its device."""
    segments = placed["segments"]
    segment_of = {}  # by name of an op and by module; of several the last
    for number, segment in enumerate(segments):
        for op in segment["ops"]:
            segment_of[op] = segment_of[placed["module_of_op"].get(op, op)] = number
    graph.graph.eliminate_dead_code()
    part_of = {}
    for node in graph.graph.nodes:
        if node.op.startswith("call_"):
            own = segment_of.get("node_" + node.name, segment_of.get(node.target, 0))
            part_of[node] = max([own] + [part_of[value] for value in node.all_input_nodes if value in part_of])
    parts = split_module(graph, None, part_of.get)
    parts.graph.set_codegen(graph.graph._codegen)  # it takes and gives what the model does, not flat lists
    parts.recompile()
    for name, part in list(parts.named_children()):
        if name.startswith("submod_"):
            setattr(parts, name, OnDevice(part, segments[int(name.removeprefix("submod_"))]["device"]))
    for node in parts.graph.nodes:
        if node.op == "get_attr":  # weights that are handed to parts wait on the device of the first that reads them
            device = next(getattr(parts, user.target).device for user in node.users if user.op == "call_module")
            owner, _, name = node.target.rpartition(".")
            value = getattr(parts.get_submodule(owner), name)
            is_weight, moved = isinstance(value, torch.nn.Parameter), value.detach().to(device)
            setattr(parts.get_submodule(owner), name, torch.nn.Parameter(moved) if is_weight else moved)
    return parts
