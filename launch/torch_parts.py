"""A PyTorch program in the parts that `emplace export --for pytorch` names, and what the process of a device does with
its own."""

import functools
import importlib
import operator
import zipfile

import torch
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torch.fx.passes.split_module import split_module


def load(file):
    """The program of an archive of torch.export. Those of transformers can be loaded when it has registered the classes
    of its outputs."""
    with zipfile.ZipFile(file) as archive:
        descriptions = [name for name in archive.namelist() if name.endswith(".json")]
        if any(b"transformers.modeling_outputs." in archive.read(name) for name in descriptions):
            importlib.import_module("transformers.modeling_outputs")
    return torch.export.load(file)


def parts_of(graph, segments):
    """The number of the segment in which each node of the program runs: that of the last op of the node (ONNX files may
    have several). Nodes that were not placed run with the first op that reads them, else with what they read. Nodes
    whose inputs come from later segments than their own run with these, and items of a list where the list is."""
    segment_of = {node: number for number, segment in enumerate(segments) for node in segment["nodes"]}
    nodes = [node for node in graph.graph.nodes if node.op.startswith("call_")]
    wanted, part_of = {node: segment_of.get(node.name) for node in nodes}, {}
    for node in reversed(nodes):
        if wanted[node] is None:
            wanted[node] = min((wanted[user] for user in node.users if wanted.get(user) is not None), default=None)
    for node in nodes:
        before = max((part_of[value] for value in node.all_input_nodes if value in part_of), default=0)
        part_of[node] = before if node.target is operator.getitem else max(wanted[node] or 0, before)
    return part_of


@functools.cache
def module_of(program):
    """What all placements of the program are cut from."""
    graph = program.module(check_guards=False)
    graph.graph.eliminate_dead_code()
    return graph


class Cut:
    """The program as one sub-module for each part, and the device of each. Inputs and results are flat lists."""

    def __init__(self, program, segments, inputs):
        graph = module_of(program)
        part_of = parts_of(graph, segments)
        for node in part_of:
            node.meta["op"] = node.name  # parts give nodes new names
        self.parts = split_module(graph, None, part_of.get, partition_affix="part")
        self.parts.graph.set_codegen(torch.fx.graph.CodeGen())
        self.parts.recompile()
        ShapeProp(self.parts).propagate(*inputs)
        segment_of = {node: int(node.target.rsplit("_", 1)[1]) for node in self.parts.graph.nodes if node.op == "call_module"}
        # In the order of the placement, which split_module does not keep.
        self.device_of = {node: segments[segment_of[node]]["device"] for node in sorted(segment_of, key=segment_of.get)}
        self.rank_of = {node: int(device.removeprefix("rank:")) for node, device in self.device_of.items()
                        if device.startswith("rank:")}
        self.inputs = [node for node in self.parts.graph.nodes if node.op == "placeholder"]
        output = next(node for node in self.parts.graph.nodes if node.op == "output")
        self.results = flat(output.args[0])
        # Inputs and weights, which each process has.
        self.fixed = dict(zip(self.inputs, inputs))
        for node in self.parts.graph.nodes:
            if node.op == "get_attr":
                self.fixed[node] = operator.attrgetter(node.target)(self.parts)

    def run(self, part, values):
        values[part] = getattr(self.parts, part.target)(*(value_of(values, argument) for argument in part.args))

    def ops_of(self, part, values):
        """Runs the part node by node; returns the names of the nodes that it ran."""
        names, module = [], getattr(self.parts, part.target)

        class Recorder(torch.fx.Interpreter):
            def run_node(self, node):
                names.extend([node.meta["op"]] if node.op.startswith("call_") else [])
                return super().run_node(node)

        values[part] = Recorder(module).run(*(value_of(values, argument) for argument in part.args))
        return names

    def tensors(self):
        """The tensors that parts make, each with the part."""
        for value in self.parts.graph.nodes:
            part = producer(value)
            if part is not None and isinstance(value.meta.get("tensor_meta"), TensorMetadata):
                yield value, part


def flat(values):
    return [each for value in values for each in flat(value)] if isinstance(values, (tuple, list)) else [values]


def producer(value):
    """The part that makes a value; None if it is an input, a weight, or no tensor."""
    return next((each for each in taken_from(value) if each.op == "call_module"), None)


def taken_from(value):
    """A value, and the lists that it is an item of."""
    while isinstance(value, torch.fx.Node):
        yield value
        value = value.args[0] if value.target is operator.getitem else None


def value_of(values, node):
    if not isinstance(node, torch.fx.Node):
        return node
    if node not in values:
        values[node] = operator.getitem(value_of(values, node.args[0]), node.args[1])
    return values[node]


# Tensors are sent as flat lists. The order of their dimensions in memory is kept, because `view` works only on the one with
# which the program was exported.


def layout(value):
    """Strides in the order of those that the tensor has, without gaps."""
    meta, strides, next_stride = value.meta["tensor_meta"], [0] * len(value.meta["tensor_meta"].shape), 1
    for dim in sorted(range(len(strides)), key=lambda dim: (meta.stride[dim], -dim)):
        strides[dim] = next_stride
        next_stride *= meta.shape[dim]
    return tuple(strides)


def pack(tensor, value):
    wanted = layout(value)
    if any(size > 1 and found != stride for size, found, stride in zip(tensor.shape, tensor.stride(), wanted)):
        tensor = torch.empty_strided(tensor.shape, wanted, dtype=tensor.dtype).copy_(tensor)
    return tensor.as_strided((tensor.numel(),), (1,))


def unpack(buffer, value):
    return buffer.as_strided(value.meta["tensor_meta"].shape, layout(value))


def sized(value):
    """Its elements and their type."""
    meta = value.meta["tensor_meta"]
    return meta.shape.numel(), meta.dtype


class Process:
    """What the process of one device does in a step: it runs its parts in their order, as soon as it has what they
    read, and hands over what others read. `exchange_of(tensors)` makes the memory that they share."""

    def __init__(self, cut, rank, exchange_of):
        self.cut = cut
        self.own = [part for part, of_part in cut.rank_of.items() if of_part == rank]
        readers = {value: {cut.rank_of[user] for user in value.users if user in cut.rank_of} - {cut.rank_of[part]}
                   for value, part in cut.tensors()}
        self.exchange = exchange_of({value: sized(value) for value, others in readers.items() if others})
        self.receives = {value: unpack(self.exchange.buffers[value], value) for value, others in readers.items() if rank in others}
        self.sends = {part: [] for part in self.own}
        for value, part in cut.tensors():
            if readers[value] and part in self.sends:
                self.sends[part].append(value)
        self.results = {position: value for position, value in enumerate(cut.results)
                        if producer(value) in self.own or (producer(value) is None and rank == 0)}
        self.drops = self.unread_after()

    def unread_after(self):
        """For each own part, the values that are not read here after it: their memory is used again in the same step, as in
        the program that was not cut."""
        last = {}
        for part in [*self.own, None]:
            for value in [part, *self.sends[part], *part.all_input_nodes] if part else self.results.values():
                last.update((each, part) for each in taken_from(value))
        return {part: [value for value, reader in last.items() if reader == part and value not in self.cut.fixed]
                for part in self.own}

    def step(self, run):
        values, waited = {**self.cut.fixed, **self.receives}, set()
        for part in self.own:
            for value in part.all_input_nodes:
                if value in self.receives and value not in waited:
                    self.exchange.wait_for(value)
                    waited.add(value)
            run(part, values)
            for value in self.sends[part]:
                self.exchange.hand_over(value, pack(value_of(values, value), value))
            for value in self.drops[part]:
                values.pop(value, None)
        return values


class Stage(torch.nn.Module):
    """A part as a stage of torch.distributed.pipelining, which passes on what later stages and the results need."""

    def __init__(self, cut, number):
        super().__init__()
        self.cut, stages = cut, list(cut.rank_of)
        self.part, at = stages[number], {part: i for i, part in enumerate(stages)}
        values = [(value, -1) for value in cut.inputs if isinstance(cut.fixed[value], torch.Tensor)]
        values += [(value, at[part]) for value, part in cut.tensors()]
        last = {value: len(stages) if value in cut.results else max((at[user] for user in value.users if user in at),
                                                                    default=-1) for value, _ in values}

        def carried(to):
            return [value for value, made in values if made < to <= last[value]]

        self.takes = carried(number) if number else [value for value, made in values if made < 0]
        self.gives = carried(number + 1) if number + 1 < len(stages) else [
            value for value in cut.results if isinstance(value, torch.fx.Node)]

        self.is_first, self.is_last = number == 0, number + 1 == len(stages)

    def forward(self, *taken):
        values = dict(self.cut.fixed)
        for value, tensor in zip(self.takes, taken):
            values[value] = tensor if self.is_first else unpack(tensor, value)
        self.cut.run(self.part, values)
        made = [value_of(values, value) for value in self.gives]
        return tuple(tensor.contiguous() if self.is_last else pack(tensor, value) for tensor, value in zip(made, self.gives))

    def examples(self):
        """Tensors like those that the stage takes and gives."""
        return [tuple(self.cut.fixed[value] if raw and value in self.cut.fixed else
                      torch.empty(value.meta["tensor_meta"].shape, dtype=value.meta["tensor_meta"].dtype) if raw else
                      torch.empty(sized(value)[0], dtype=sized(value)[1]) for value in values)
                for values, raw in ((self.takes, self.is_first), (self.gives, self.is_last))]
