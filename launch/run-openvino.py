#!/usr/bin/env python3
"""Runs an OpenVINO IR with each layer on its device (HETERO), compares the outputs with those of the unplaced model,
says where each layer ran, and prints the median time of an inference as JSON; `-` makes it an evaluator
(evaluator=command), --serve one that keeps running (command.keep=true).

Devices of the placement are the CPU plugin and further instances of it, CPU2, CPU3, ..., in the order of their names,
unless --rename gives another name (gpu:0=GPU.0). Each instance computes with its own memory, in single precision. HETERO
runs one part after the other, whatever their devices are, so that all instances share the same --threads cores. Where
layers ran is what the compiled model reports: the part of each layer in its profile, and the device of each part in its
export."""

import os
import re
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True  # nothing is left in this folder
import placed
import timing
from placed import Differs, Wrong, say

os.environ.setdefault("OPENVINO_TELEMETRY", "0")


def make_devices(core, names, threads):
    """Gives the runtime these devices; Wrong for one that is not here."""
    for name in names:
        if name in core.available_devices:
            continue
        if not re.fullmatch(r"CPU\d+", name):
            here = ", ".join(core.available_devices)
            raise Wrong(f"OpenVINO has no device '{name}' here; there are {here}, and CPU2, CPU3, ... are made")
        core.register_plugin("openvino_intel_cpu_plugin", name)
    for name in {"CPU", *names}:
        if name.startswith("CPU"):
            core.set_property(name, {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                                     "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False})


def affinities(file):
    """The device of each layer that has one in the exported file."""
    layers = xml.parse(file).find("layers")
    return {layer.get("name"): data.get("value") for layer in layers
            for data in layer.iterfind("rt_info/user_data[@name='affinity']")}


def set_affinities(model, device_of_layer):
    """HETERO takes affinities only for all layers; those without one (constants of the runtime) follow a neighbour."""
    for op in model.get_ordered_ops():
        device = device_of_layer.get(op.get_friendly_name())
        op.get_rt_info()["affinity"] = device or next(iter(device_of_layer.values()))


def fix_sizes(model, exported):
    sizes = {}
    for port in model.inputs:
        name = port.node.friendly_name
        shape = port.partial_shape
        open_sizes = None if shape.rank.is_dynamic else [None if size.is_dynamic else size.get_length() for size in shape]
        sizes[name] = placed.sizes_of(name, open_sizes, exported)
    if any(port.partial_shape.is_dynamic for port in model.inputs):
        model.reshape({port: sizes[port.node.friendly_name] for port in model.inputs})
    return sizes


class Running:
    def __init__(self, core, model, device, values, settings=None):
        try:
            self.compiled = core.compile_model(model, device, settings or {})
        except RuntimeError as error:
            reason = [line for line in str(error).splitlines() if line and not line.startswith("Exception from")]
            raise Differs(f"OpenVINO refuses the placed model on {device}: {' '.join(reason)[:300]}")
        self.request = self.compiled.create_infer_request()
        self.request.infer(values)

    def call(self):
        self.request.infer()

    def outputs(self):
        # Results have no names that stay the same from one reading of a file to the next, but their order does.
        return {f"{i} ({port.any_name if port.names else 'without a name'})": self.request.get_output_tensor(i).data.copy()
                for i, port in enumerate(self.compiled.outputs)}


def where_layers_ran(running):
    """The device of each layer that is in the profile, and the layers that were fused into others."""
    parts = re.findall(r'<compiled_submodel device="([^"]*)"', head_of(running.compiled.export_model()))
    ran, fused = {}, []
    for row in running.request.profiling_info:
        part, _, layer = row.node_name.partition(": ")
        ran[layer] = parts[int(part.removeprefix("subgraph"))] if layer else None
        if row.status.name == "NOT_RUN":
            fused.append(layer)
    say(f"parts that HETERO made: {len(parts)}, devices of them: {', '.join(dict.fromkeys(parts))}")
    return ran, fused


def head_of(blob):
    blob = blob if isinstance(blob, bytes) else blob.getvalue()
    return blob[:blob.find(b"</hetero>")].decode(errors="replace")


class Unplaced:
    """The model as it is: its inputs, and what it makes of them."""

    def __init__(self, core, exported, arguments):
        self.file = exported.model
        model = core.read_model(self.file)
        sizes = fix_sizes(model, exported)
        self.values = [placed.random_input(port.node.friendly_name, sizes[port.node.friendly_name],
                                           port.element_type.to_dtype(), number)
                       for number, port in enumerate(model.inputs)]
        if arguments.check or arguments.reference:
            self.running = Running(core, model, "CPU", self.values)
            self.outputs = self.running.outputs()

    def call(self):
        self.running.call()


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.openvino = placed.framework("openvino", "2026")
        timing.pin_to_cores(arguments.threads)  # before the runtime counts cores: its parts use all that it finds
        self.core = self.openvino.Core()
        self.unplaced = None

    def run(self, folder):
        arguments, core = self.arguments, self.core
        exported = placed.export(arguments, folder, "openvino", ".xml",
                                 lambda number: f"CPU{number + 1}" if number else "CPU")
        names = list(exported.renamed.values())
        make_devices(core, names, arguments.threads)
        if self.unplaced is None or self.unplaced.file != exported.model:
            self.unplaced = Unplaced(core, exported, arguments)
        unplaced = self.unplaced
        model = core.read_model(str(exported.file), exported.model.removesuffix(".xml") + ".bin")
        fix_sizes(model, exported)
        set_affinities(model, affinities(exported.file))
        hetero = "HETERO:" + ",".join(names)
        result = {}
        if arguments.check:
            running = Running(core, model, hetero, unplaced.values, {"PERF_COUNT": True})
            result["difference"] = placed.compare(unplaced.outputs, running.outputs(), arguments.tolerance)
            ran, fused = where_layers_ran(running)
            asked = exported.asked()
            result["ops"] = placed.say_where(asked, ran, "folded or fused under another name")
            in_other = [layer for layer in fused if layer in asked]
            say(f"of these {len(in_other)} ran as part of another layer: {placed.listed(in_other)}")
        running = Running(core, model, hetero, unplaced.values)
        times = timing.timed(running.call, arguments, unplaced.call)
        return {**times, **result, "devices": len(names), "openvino": self.openvino.__version__.split("-")[0]}


if __name__ == "__main__":
    placed.main(Runner, (__doc__, []))
