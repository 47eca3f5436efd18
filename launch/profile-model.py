#!/usr/bin/env python3
"""Measures the ops of a model with a framework and writes a profile for `emplace cost --profile` and `emplace calibrate`.

Usage: launch/profile-model.py FRAMEWORK MODEL -o FILE [--runs N] [--threads N] [--fused] [--shape INPUT=1x3x224x224]...
  FRAMEWORK  onnxruntime  MODEL.onnx                     FILE: JSON
             openvino     MODEL.xml or MODEL.onnx        FILE: the execution graph, XML
             tensorflow   a GraphDef, MODEL.pb           FILE: step stats, protobuf (TF_ENABLE_ONEDNN_OPTS=0 in the
                          environment keeps oneDNN from fusing also without --fused, and is slower)
             pytorch      MODEL.pt2 (torch.export)       FILE: JSON, a range for each node of the graph
  --runs     runs after three for warming up (20); each op's median counts
  --threads  of the framework (1); `taskset -c 0` before the command keeps it on one core
  --fused    with the framework's optimisations, so that kernels compute several ops (always with openvino, never with
             pytorch); use the profile with --fuse
  --shape    of an input whose sizes are not fixed in the model
Needs the framework's Python package. Inputs are those of launch/run-*.py. Prints
{"step_s": ...}: the median time of a step without the profiler, before or after the profiled steps, the smaller one."""
import argparse, importlib, json, os, statistics, sys

import placed
import timing

WARM_UP = 3
PACKAGES = {"onnxruntime": ("onnxruntime", "1"), "openvino": ("openvino", "2026"), "tensorflow": ("tensorflow", "2"),
            "pytorch": ("torch", "2")}  # and the version for which this was written


def fail(message):
    print("error: " + message, file=sys.stderr)
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("Usage: ")[1].split("\n")[0], description=__doc__, add_help=True,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=list(FRAMEWORKS))
    parser.add_argument("model")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fused", action="store_true")
    parser.add_argument("--shape", action="append", default=[])
    if len(sys.argv) == 1:
        parser.print_help(sys.stderr)
        sys.exit(2)
    given = parser.parse_args()
    if given.runs < 1 or given.threads < 1:
        fail("--runs and --threads must be at least 1")
    if not os.path.isfile(given.model):
        fail(f"there is no model {given.model!r}")
    try:
        given.shape = {name: [int(size) for size in sizes.split("x")]
                       for name, sizes in (text.rsplit("=", 1) for text in given.shape)}
    except ValueError:
        fail("a shape is given as INPUT=1x3x224x224")
    return given


def value(name, sizes, dtype, number, given):
    """What launch/run-*.py give the input of this number, since times of ops may depend on values; `given` has the sizes that
    the model leaves open."""
    sizes = given.shape.get(name, sizes)
    if sizes is None or any(not isinstance(size, int) or size < 1 for size in sizes):
        fail(f"the input {name!r} has no fixed sizes; give --shape {name}=...")
    return placed.random_input(name, sizes, dtype, number)


class Steps:
    """Steps without the profiler, half of them before the profiled ones and half after: in turns with these a step is slower,
    by a tenth where it takes 5 ms. The half that the machine disturbs less counts."""

    def __init__(self, run, given):
        self.run, self.medians = run, []
        self.settings = argparse.Namespace(warm_up=WARM_UP, runs=given.runs, reference=None)

    def half(self):
        self.medians.append(timing.timed(self.run, self.settings)["seconds"])

    def seconds(self):
        return min(self.medians)


def onnxruntime(given):
    import onnxruntime as ort
    import tempfile

    def session(profiled):
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = given.threads, 1
        options.graph_optimization_level = (ort.GraphOptimizationLevel.ORT_ENABLE_ALL if given.fused else
                                            ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
        options.log_severity_level = 3
        if profiled:
            options.enable_profiling, options.profile_file_prefix = True, os.path.join(folder, "profile")
        return ort.InferenceSession(given.model, options, providers=["CPUExecutionProvider"])

    kinds = {"float": "float32", "float16": "float16", "double": "float64", "int64": "int64", "int32": "int32", "bool": "bool"}
    with tempfile.TemporaryDirectory() as folder:
        plain = session(False)
        feed = {i.name: value(i.name, i.shape, kinds.get(i.type[7:-1], "float32"), number, given)
                for number, i in enumerate(plain.get_inputs())}
        steps = Steps(lambda: plain.run(None, feed), given)
        steps.half()
        timed = session(True)
        for _ in range(WARM_UP + given.runs):
            timed.run(None, feed)
        steps.half()
        with open(timed.end_profiling()) as file:
            events = json.load(file)
    # Three runs are for warming up: the events up to the end of the third are left out.
    ends = [i for i, event in enumerate(events) if event.get("name") == "model_run"]
    with open(given.output, "w") as file:
        json.dump(events[ends[WARM_UP - 1] + 1:], file)
    return steps.seconds()


def openvino(given):
    """The counters are means over all runs of a compiled model: the mean without the warm-up follows from the means
    after it and at the end. Five compiled models give five means, of which the median is written."""
    import openvino as ov
    import tempfile
    import xml.etree.ElementTree as xml
    core = ov.Core()
    model = core.read_model(given.model)
    if given.shape:
        model.reshape({name: ov.PartialShape(sizes) for name, sizes in given.shape.items()})
    settings = {"INFERENCE_NUM_THREADS": given.threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}

    def feed(compiled):
        return [value(i.get_any_name(), list(i.shape) if i.partial_shape.is_static else None, i.element_type.to_dtype(), number,
                      given) for number, i in enumerate(compiled.inputs)]

    plain = core.compile_model(model, "CPU", settings)
    unprofiled, data = plain.create_infer_request(), feed(plain)
    steps = Steps(lambda: unprofiled.infer(data), given)
    steps.half()

    def counters(compiled):
        graph = compiled.get_runtime_model()
        times = {op.get_friendly_name(): op.get_rt_info()["execTimeMcs"].astype(str) for op in graph.get_ordered_ops()}
        return graph, {name: float(text) for name, text in times.items() if text != "not_executed"}

    means, models, runs = {}, 5, max(1, given.runs // 5)
    for _ in range(models):
        compiled = core.compile_model(model, "CPU", settings | {"PERF_COUNT": True})
        request = compiled.create_infer_request()
        for _ in range(WARM_UP):
            request.infer(data)
        _, warm = counters(compiled)
        for _ in range(runs):
            request.infer(data)
        graph, all_runs = counters(compiled)
        for name, mean in all_runs.items():
            means.setdefault(name, []).append(max(0, ((WARM_UP + runs) * mean - WARM_UP * warm.get(name, 0)) / runs))
    steps.half()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.xml")
        ov.serialize(graph, path)
        tree = xml.parse(path)
    for layer in tree.getroot().find("layers"):
        data = layer.find("data")
        if data is not None and data.get("execTimeMcs", "not_executed") != "not_executed":
            data.set("execTimeMcs", f"{statistics.median(means[layer.get('name')]):.3f}")
    tree.write(given.output)
    return steps.seconds()


def tensorflow(given):
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "-1", "3"
    import tensorflow as tf
    v1 = tf.compat.v1
    runner = importlib.import_module("run-tensorflow")  # which knows what a step is
    definition = runner.read_graph(tf, given.model)
    step = runner.Step(definition, argparse.Namespace(init=None, fetch=[]), given.model)
    config = v1.ConfigProto(intra_op_parallelism_threads=given.threads, inter_op_parallelism_threads=1)
    if not given.fused:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
        runner.keep_order(definition, step.in_order(None))  # so that oneDNN fuses as little as in a placed graph
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        inputs = [graph.get_operation_by_name(node.name) for node in step.inputs]
        feed = {op.outputs[0]: value(op.name, op.outputs[0].shape.as_list() if op.outputs[0].shape.rank is not None else None,
                                     op.outputs[0].dtype.as_numpy_dtype, number, given) for number, op in enumerate(inputs)}
        fetch = [graph.get_operation_by_name(name) for name in step.ends]
        # Fetching ops, not tensors, copies no results.
        session = v1.Session(config=config)
        if step.init:
            session.run(graph.get_operation_by_name(step.init))
        profile, steps = v1.RunMetadata(), Steps(lambda: session.run(fetch, feed), given)
        steps.half()
        for run in range(WARM_UP + given.runs):
            one = v1.RunMetadata()
            session.run(fetch, feed, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=one)
            if run >= WARM_UP:
                profile.step_stats.MergeFrom(one.step_stats)
        steps.half()
    for device in profile.step_stats.dev_stats:
        for node in device.node_stats:  # only names and times are read
            for part in ("output", "memory", "memory_stats", "referenced_tensor"):
                node.ClearField(part)
    with open(given.output, "wb") as file:
        file.write(profile.SerializeToString())
    return steps.seconds()


def pytorch(given):
    import torch
    import torch_parts
    from torch.profiler import ProfilerActivity, profile, record_function, schedule
    torch.set_num_threads(given.threads)
    program = torch_parts.load(given.model)
    if given.shape:
        fail("a .pt2 has its own example inputs; --shape is not needed")
    if program.example_inputs is None:
        fail("the .pt2 has no example inputs; export it again with torch.export.save(torch.export.export(model, inputs), FILE)")
    runner = importlib.import_module("run-pytorch")
    args, kwargs = runner.arguments_of(program, runner.inputs_of(torch, program))
    module = program.module()

    class Ranges(torch.fx.Interpreter):
        def run_node(self, node):
            if node.op != "call_function":
                return super().run_node(node)
            with record_function(node.name):
                return super().run_node(node)

    steps = Steps(lambda: module(*args, **kwargs), given)
    with torch.no_grad():
        steps.half()
        interpreter = Ranges(module)
        flat = torch.utils._pytree.tree_leaves((args, kwargs))
        with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=WARM_UP, active=given.runs, repeat=1),
                     on_trace_ready=lambda trace: trace.export_chrome_trace(given.output)) as profiler:
            for _ in range(WARM_UP + given.runs):
                interpreter.run(*flat, enable_io_processing=False)
                profiler.step()
        steps.half()
    return steps.seconds()


FRAMEWORKS = {"onnxruntime": onnxruntime, "openvino": openvino, "tensorflow": tensorflow, "pytorch": pytorch}

if __name__ == "__main__":
    given = arguments()
    placed.keep_memory()
    try:
        placed.framework(*PACKAGES[given.framework])
        seconds = FRAMEWORKS[given.framework](given)
    except placed.Wrong as error:
        fail(str(error))
    except ModuleNotFoundError as error:
        fail(f"the Python package {error.name} is missing")
    except Exception as error:  # a file that is no model, or one that the framework cannot run
        fail(f"{given.model}: {given.framework} cannot run it: {str(error).strip().splitlines()[0] if str(error) else error!r}")
    print(json.dumps({"step_s": round(seconds, 9)}))
