#!/usr/bin/env python3
"""Compiles an IR that `emplace export --for openvino` wrote, each layer on its device, and prints the median seconds of a run.
Needs the Python package openvino.
Usage: launch/run-openvino.py PLACED.xml MODEL.bin"""
import sys, time
import xml.etree.ElementTree as xml

if len(sys.argv) != 3:
    print(__doc__, file=sys.stdout if "--help" in sys.argv else sys.stderr)
    sys.exit(0 if "--help" in sys.argv else 2)
import openvino

layers = xml.parse(sys.argv[1]).find("layers")
device = {layer.get("name"): data.get("value") for layer in layers for data in layer.iterfind("rt_info/user_data[@name='affinity']")}
core = openvino.Core()
model = core.read_model(*sys.argv[1:])
for op in model.get_ordered_ops():
    if op.get_friendly_name() in device:
        op.get_rt_info()["affinity"] = device[op.get_friendly_name()]
request = core.compile_model(model, "HETERO:" + ",".join(dict.fromkeys(device.values()))).create_infer_request()
times = []
for _ in range(11):
    begin = time.perf_counter()
    request.infer()
    times.append(time.perf_counter() - begin)
print('{"seconds": %.9f}' % sorted(times[1:])[5])
