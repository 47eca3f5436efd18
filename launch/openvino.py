#!/usr/bin/env python3
"""Compiles an IR that `emplace export --for openvino` wrote, each layer on its device, and times it.
Usage: launch/openvino.py PLACED.xml MODEL.bin        needs the Python package openvino"""
import sys, time
import xml.etree.ElementTree as xml
import openvino

ir, weights = sys.argv[1:]
device = {layer.get("name"): data.get("value") for layer in xml.parse(ir).find("layers")
          for data in layer.iterfind("rt_info/user_data[@name='affinity']")}
core = openvino.Core()
model = core.read_model(ir, weights)
for op in model.get_ordered_ops():
    if op.get_friendly_name() in device:
        op.get_rt_info()["affinity"] = device[op.get_friendly_name()]
compiled = core.compile_model(model, "HETERO:" + ",".join(dict.fromkeys(device.values())))
request = compiled.create_infer_request()
times = []
for _ in range(11):
    begin = time.perf_counter()
    request.infer()
    times.append(time.perf_counter() - begin)
print('{"seconds": %.9f}' % sorted(times[1:])[5])
