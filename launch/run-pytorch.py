#!/usr/bin/env python3
"""Runs a PyTorch program with each op on its device, compares the outputs with those of the unplaced program, says where
each op ran, and prints the median time of a step as JSON; `-` makes it an evaluator (evaluator=command), --serve one
that keeps running (command.keep=true).

The program is an archive of torch.export (.pt2). The placement may also be of an ONNX file that torch.onnx.export made;
the archive is then that of the program that this returns (torch.export.save(program.exported_program, FILE)), named by
--program or like the model but for its ending.

--by processes (default)  a process on a core of its own for each device; the graph is cut where the device changes, and
                          the parts hand each other tensors in shared memory
--by devices              each part on its device in one process, which hands tensors over: for machines with GPUs (cpu,
                          cuda:0)
--by pipeline             the same cuts as stages of torch.distributed.pipelining, for a placement that goes from device
                          to device and never back: --microbatches samples, one after the other through all stages
--by device-map           the module map by accelerate: weights of the first device stay in memory, those of others on
                          disk until they are used; everything is computed on the one CPU, as accelerate does it"""

import ast
import functools
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is left in this folder
import placed
import timing
from placed import Differs, Wrong, say

OPTIONS = [
    ("--program", dict(metavar="FILE.pt2", help="the program, if the model that was placed is no archive of it")),
    ("--by", dict(choices=["processes", "devices", "pipeline", "device-map"], default="processes", help="how ops get to devices")),
    ("--microbatches", dict(type=placed.count(1), default=4, help="with --by pipeline (4)")),
]


class Program:
    """The program of a model, its inputs, and what it makes of them."""

    def __init__(self, torch, exported, arguments):
        import torch_parts

        self.torch, self.model = torch, exported.model
        file = pathlib.Path(arguments.program or exported.model)
        if file.suffix != ".pt2":
            file = file.with_suffix(".pt2")
        if not file.exists():
            raise Wrong(f"{file}: there is no such archive; torch.export.save writes one (--program)")
        self.file = str(file)
        try:
            self.program = torch_parts.load(self.file)
        except Exception as error:
            raise Wrong(f"{file}: PyTorch cannot load it: {str(error).splitlines()[0]}")
        self.inputs = inputs_of(torch, self.program)
        self.processes = {}  # by their number

    @functools.cached_property
    def outputs(self):
        with self.torch.no_grad():
            return dict(enumerate(self.torch.utils._pytree.tree_flatten(self.unplaced())[0]))

    @functools.cached_property
    def unplaced(self):
        args, kwargs = arguments_of(self.program, self.inputs)
        return functools.partial(self.program.module(), *args, **kwargs)

    @functools.cached_property
    def scopes(self):
        """The node of the program that each op of an ONNX file was made from."""
        return scopes_in(self.model) if self.model.endswith(".onnx") else {}


def inputs_of(torch, program):
    """Random tensors for what the program takes, as it was exported."""
    names = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    values = []
    for number, name in enumerate(program.graph_signature.user_inputs):
        value = names[name] if name in names else name
        if isinstance(value, torch.Tensor):
            sizes = [int(size) for size in value.shape]  # of a symbolic size, that with which it was exported
            dtype = torch.empty(0, dtype=value.dtype)
            if value.dtype == torch.bfloat16:
                value = torch.from_numpy(placed.random_input(name, sizes, "float32", number)).bfloat16()
            else:
                value = torch.from_numpy(placed.random_input(name, sizes, dtype.numpy().dtype, number))
        values.append(value)
    return values


def arrays(outputs):
    return {name: value.float().numpy() if value.dtype.is_floating_point else value.numpy()
            for name, value in outputs.items() if hasattr(value, "numpy")}


def arguments_of(program, inputs):
    from torch.utils._pytree import tree_unflatten

    return tree_unflatten(inputs, program.call_spec.in_spec)


def by_processes(runner, arguments, folder):
    """One process for each device; with --by pipeline each is a stage."""
    import torch_processes

    exported = placed.export(arguments, folder, "pytorch", ".json", lambda number: f"rank:{number}")
    ranks = len(exported.renamed)
    if sorted(exported.renamed.values()) != [f"rank:{rank}" for rank in range(ranks)]:
        raise Wrong(f"--rename: devices are processes here, rank:0 to rank:{ranks - 1}, each of one device")
    program = runner.program_of(exported)
    node_of = nodes_of_ops(exported, program)
    segments = segments_of(exported, node_of)
    microbatches = arguments.microbatches if arguments.by == "pipeline" else 0
    if microbatches:
        segments = merged(segments)
        want_pipeline(program, segments)
    if ranks not in program.processes or program.processes[ranks].ended:
        program.processes[ranks] = torch_processes.Processes(ranks, program.file, program.inputs, arguments.threads)
    processes = program.processes[ranks]
    done = processes.prepare(segments, microbatches)
    for rank, one in enumerate(done):
        say(f"rank:{rank} on core {one['core']}: {one['parts']} parts" +
            ("" if microbatches else f", {one['sent']} tensors sent"))
    result = check(program, done, exported, node_of, microbatches, arguments) if arguments.check else {}
    timed = processes.time(arguments.runs, arguments.warm_up, bool(arguments.reference))
    times = [max(end for _, end in step) - min(begin for begin, _ in step) for step in zip(*(one["times"] for one in timed))]
    times = [each / max(microbatches, 1) for each in times]
    result = {**timing.summary(times), "waited": max(one["waited"] for one in timed), **result, "devices": ranks}
    timing.say_waited(result)
    return timing.against_reference(result, timed[0]["reference"], arguments)


def segments_of(exported, node_of):
    return [{"device": segment["device"], "nodes": [node_of[op] for op in segment["ops"] if op in node_of]}
            for segment in json.loads(exported.file.read_text())["segments"]]


def merged(segments):
    """Those that follow each other on a device as one."""
    result = []
    for segment in segments:
        if result and result[-1]["device"] == segment["device"]:
            result[-1]["nodes"] += segment["nodes"]
        else:
            result.append(segment)
    return result


def by_devices(runner, arguments, folder):
    """All parts in this process."""
    import torch_devices

    torch = runner.torch
    exported = placed.export(arguments, folder, "pytorch", ".json", None)
    for name in exported.renamed.values():
        if name != "cpu" and not (name.startswith("cuda:") and torch.cuda.is_available()):
            raise Wrong(f"PyTorch has no device '{name}' here; --rename gives it another name")
    program = runner.program_of(exported)
    node_of = nodes_of_ops(exported, program)
    with torch.no_grad():
        model = torch_devices.Placed(program.program, segments_of(exported, node_of), program.inputs)
        result = {}
        if arguments.check:
            found = {position: value.cpu() for position, value in enumerate(model.step()) if hasattr(value, "cpu")}
            ran = model.devices_of_ops()
            result = {"difference": placed.compare(arrays(program.outputs), arrays(found), arguments.tolerance),
                      "ops": placed.say_where(exported.asked(), {op: ran[node] for op, node in node_of.items() if node in ran},
                                              "the program has no node for them")}
        times = timing.timed(model.step, arguments, program.unplaced)
    return {**times, **result, "devices": len(exported.renamed)}


def scopes_in(file):
    import onnx

    scopes = {}
    for node in onnx.load(file, load_external_data=False).graph.node:
        for entry in node.metadata_props:
            if entry.key == "pkg.torch.onnx.name_scopes":
                scopes[node.name] = ast.literal_eval(entry.value)[-1]  # modules, then the node
    return scopes


def nodes_of_ops(exported, program):
    """The node of the program that each placed op is (part of)."""
    names, scopes, asked = {node.name for node in program.program.graph.nodes}, program.scopes, exported.asked()
    found = {}
    for op in asked:
        for name in (op, scopes.get(op), op.removeprefix("node_")):
            if name in names:
                found.setdefault(op, name)
    if len(found) < len(asked) / 2:
        raise Wrong(f"{program.file}: only {len(found)} of {len(asked)} placed ops are nodes of it, so it is of another "
                    "model; of an ONNX file, it has to be saved from the program that torch.onnx.export returns "
                    "(torch.export.save(program.exported_program, FILE))")
    return found


def want_pipeline(program, segments):
    """Puts the devices in the order of their stages; Wrong if one has two."""
    import torch_parts

    order = list(torch_parts.Cut(program.program, segments, program.inputs).rank_of.values())
    if len(set(order)) != len(order):
        raise Wrong(f"--by pipeline: the placement goes back to a device ({len(order)} parts on {len(set(order))} devices); "
                    "--by processes runs it")
    for segment in segments:
        segment["device"] = f"rank:{order.index(int(segment['device'].removeprefix('rank:')))}"


def check(program, done, exported, node_of, microbatches, arguments):
    found = {position: value for one in done for position, value in one["results"].items()}
    wanted = program.outputs
    if microbatches:
        wanted = {position: program.torch.cat([value] * microbatches) for position, value in wanted.items()}
        return {"difference": placed.compare(arrays(wanted), arrays(found), arguments.tolerance)}
    ran_nodes = {node: f"rank:{rank}" for rank, one in enumerate(done) for node in one["ops"]}
    ran = {op: ran_nodes[node] for op, node in node_of.items() if node in ran_nodes}
    return {"difference": placed.compare(arrays(wanted), arrays(found), arguments.tolerance),
            "ops": placed.say_where(exported.asked(), ran, "the program has no node for them")}


def by_device_map(runner, arguments, folder):
    """The modules of the program, dispatched by accelerate."""
    placed.framework("accelerate", "1")
    import accelerate

    torch = runner.torch
    exported = placed.export(arguments, folder, "pytorch", ".json", lambda number: "disk" if number else "cpu")
    for name in exported.renamed.values():
        if name not in ("cpu", "disk") and not (name.startswith("cuda:") and torch.cuda.is_available()):
            raise Wrong(f"--rename: PyTorch has no device '{name}' here; there are cpu and disk")
    program = runner.program_of(exported)
    content = json.loads(exported.file.read_text())
    module = torch.export.unflatten(program.program)
    device_map = whole_map(module, content)
    model = accelerate.dispatch_model(module, device_map, main_device="cpu", offload_dir=str(folder / "weights"))
    args, kwargs = arguments_of(program.program, program.inputs)
    result = {}
    if arguments.check:
        with torch.no_grad():
            made = torch.utils._pytree.tree_flatten(model(*args, **kwargs))[0]
        result["difference"] = placed.compare(arrays(program.outputs), arrays(dict(enumerate(made))), arguments.tolerance)
        ran = {name: "disk" if weight.is_meta else str(weight.device) for name, weight in model.named_parameters()}
        asked = {name: device_of(device_map, name) for name in ran}
        result["weights"] = placed.say_where(asked, ran, "", "weights")
    with torch.no_grad():
        times = timing.timed(lambda: model(*args, **kwargs), arguments, program.unplaced)
    return {**times, **result, "devices": len(exported.renamed)}


def device_of(device_map, name):
    """Of a weight: that of the innermost module around it."""
    while name not in device_map and name:
        name = name.rpartition(".")[0]
    return device_map[name]


def whole_map(module, content):
    """A map with all weights, as accelerate wants it: a module that is split gets the device of most of its ops, and
    weights that the placement does not know that of the first device."""
    device_map = dict(content["device_map"])
    for path, ops in content["split_modules"].items():
        devices = list(ops.values())
        device_map[path] = max(dict.fromkeys(devices), key=devices.count)
        say(f"the module '{path}' is split, and as a whole on {device_map[path]}")
    known = dict(module.named_parameters()) | dict(module.named_buffers()) | dict(module.named_modules())
    for path in [path for path in device_map if path not in known]:
        raise Wrong(f"the program has no module '{path}', so the placement is of another model")
    for name, _ in [*module.named_parameters(), *module.named_buffers()]:
        if "" not in device_map and not any(name == path or name.startswith(path + ".") for path in device_map):
            device_map[name] = "cpu"
    if set(device_map.values()) == {"disk"}:
        device_map = {path: "cpu" for path in device_map}
    return device_map


class Runner:
    def __init__(self, arguments):
        self.arguments, self.program = arguments, None
        self.torch = placed.framework("torch", "2")
        self.torch.set_num_threads(arguments.threads)

    def program_of(self, exported):
        if self.program is None or self.program.model != exported.model:
            self.program = Program(self.torch, exported, self.arguments)
        return self.program

    def run(self, folder):
        by = {"device-map": by_device_map, "devices": by_devices}.get(self.arguments.by, by_processes)
        return {**by(self, self.arguments, folder), "torch": self.torch.__version__.split("+")[0]}


if __name__ == "__main__":
    placed.main(Runner, (__doc__, OPTIONS))
