"""Writes one architecture as NAME.pt2 (torch.export), NAME.onnx and NAME.xml (OpenVINO IR), and NAME.json: what torch
itself counts. The exporters of ONNX and IR optimise (they fold batch normalisation into convolutions, for example);
NAME.plain.onnx and NAME.plain.xml are the models before that. Weights beside the files are removed, except for the small
ones of ONNX: the readers do not need them.

Usage: export_model.py FOLDER NAME
"""
import contextlib
import io
import json
import os
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
warnings.filterwarnings("ignore")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import onnx  # noqa: E402
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import architectures  # noqa: E402


def count(model, inputs, program):
    """FLOPs (two for a multiply-add) of products, convolutions and attention, and the elements of the weights."""
    # The counter does not know the fused kernels of attention on a CPU; without them attention is counted by its products.
    torch.backends.mha.set_fastpath_enabled(False)
    with FlopCounterMode(display=False) as counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        model(**inputs)
    torch.backends.mha.set_fastpath_enabled(True)
    # Buffers of real numbers that the program reads, which no format but .pt2 tells from weights; statistics of batch
    # normalisation are told by their use.
    names = program.graph_signature.inputs_to_buffers
    read = {names[node.name]: node.meta["val"] for node in program.graph.nodes if node.name in names and node.users}
    unmarked = sum(value.numel() for name, value in read.items()
                   if value.is_floating_point() and value.dim() > 0 and not name.endswith(("running_mean", "running_var")))
    return {"flops": counter.get_total_flops(),
            "parameters": sum(p.numel() for p in model.parameters()),
            "scalar_parameters": sum(p.dim() == 0 for p in model.parameters()),
            "unmarked_buffers": unmarked}


def to_onnx(program, folder, name):
    """NAME.plain.onnx as the ops were translated, and NAME.onnx as the exporter optimises it by default."""
    exported = torch.onnx.export(program, (), dynamo=True, optimize=False, verbose=False)
    for path, optimise in ((f"{folder}/{name}.plain.onnx", False), (f"{folder}/{name}.onnx", True)):
        if optimise:
            exported.optimize()
        exported.save(path, external_data=True)
        if os.path.exists(path + ".data"):
            forget_weights(path)


def forget_weights(path):
    """Replaces large weights by holes of a sparse file; small ones may be sizes, which the reader needs."""
    with open(path + ".data", "rb") as whole, open(path + ".holes", "wb") as holes:
        holes.truncate(os.path.getsize(path + ".data"))
        for tensor in onnx.load(path, load_external_data=False).graph.initializer:
            place = {entry.key: int(entry.value) for entry in tensor.external_data if entry.key != "location"}
            if 0 < place.get("length", 0) <= 4096:
                whole.seek(place["offset"])
                holes.seek(place["offset"])
                holes.write(whole.read(place["length"]))
    os.replace(path + ".holes", path + ".data")


def to_ir(program, inputs, folder, name):
    """NAME.plain.xml as the ops were translated, and NAME.xml as openvino.convert_model optimises it."""
    import openvino
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder
    frontend = FrontEndManager().load_by_framework("pytorch")
    decoder = TorchFXPythonDecoder.from_exported_program(program, dynamic_shapes=False)  # must live while it is read
    plain = frontend.convert(frontend.load(decoder))
    # Without the shapes, the sizes of the inputs are open.
    optimised = openvino.convert_model(program, input=[list(value.shape) for value in inputs.values()])
    for path, model in ((f"{folder}/{name}.plain.xml", plain), (f"{folder}/{name}.xml", optimised)):
        openvino.save_model(model, path, compress_to_fp16=False)
        os.remove(path.removesuffix(".xml") + ".bin")


def main(folder, name):
    architecture = next(a for a in architectures.ARCHITECTURES if a.name == name)
    times, start = {}, time.monotonic()

    def took(what):
        nonlocal start
        times[what] = round(time.monotonic() - start, 1)
        start = time.monotonic()
    model, inputs = architecture.build()
    took("build")
    with torch.no_grad():
        program = torch.export.export(model, (), inputs, strict=False)
    torch.export.save(program, f"{folder}/{name}.pt2")
    took("pt2")
    facts = count(model, inputs, program)
    took("count")
    with contextlib.redirect_stdout(io.StringIO()):
        to_onnx(program, folder, name)
    took("onnx")
    to_ir(program, inputs, folder, name)
    took("ir")
    with open(f"{folder}/{name}.json", "w") as out:  # last: where it is, all are
        json.dump({"name": name, "summary": architecture.summary, **facts, "seconds": times}, out, indent=1)
        out.write("\n")
    print(f"{name}: {facts['parameters']} parameters, {facts['flops'] / 1e9:.2f} GFLOP, {times}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
