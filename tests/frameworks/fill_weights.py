"""Writes the ONNX models of build/frameworks/models, whose weights are left out, with random weights as FOLDER/NAME.onnx, and
OpenVINO's translation of that as FOLDER/NAME.xml, for scripts/measured-table.

Usage: fill_weights.py FOLDER NAME...
"""
import pathlib
import sys

import numpy
import onnx
import openvino

MODELS = pathlib.Path(__file__).resolve().parents[2] / "build/frameworks/models"


def fill(name, folder):
    model = onnx.load(MODELS / f"{name}.onnx")
    random = numpy.random.default_rng(1)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.raw_data and not any(tensor.raw_data):
            inputs = numpy.prod(tensor.dims[1:]) if len(tensor.dims) > 2 else max([1, *tensor.dims[:1]])
            values = random.standard_normal(tuple(tensor.dims), dtype=numpy.float32) / numpy.float32(inputs) ** 0.5
            tensor.raw_data = values.tobytes()
    onnx.save(model, folder / f"{name}.onnx", save_as_external_data=True, location=f"{name}.onnx.data", size_threshold=1024)
    openvino.save_model(openvino.convert_model(folder / f"{name}.onnx"), folder / f"{name}.xml", compress_to_fp16=False)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for each in sys.argv[2:]:
        fill(each, pathlib.Path(sys.argv[1]))
        print(each, flush=True)
