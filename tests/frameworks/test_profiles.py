"""launch/profile-model.py and `emplace cost --profile`: profiles that the frameworks really write, of a CNN and a block of a
transformer, must join with the models' ops.

Run with `build/frameworks/venv/bin/python -m pytest tests/frameworks/test_profiles.py` (about a minute).
"""

import json
import os
import subprocess
import sys

import pytest

from program import EMPLACE, ROOT

PYTHON = ROOT / "build/frameworks/venv/bin/python"

if not PYTHON.exists():
    pytest.skip("build/frameworks/venv is missing; run scripts/frameworks", allow_module_level=True)

# Each model with its framework, in a process of its own: TensorFlow and PyTorch do not share one well.
TORCH_MODELS = """
import sys, openvino, torch
from torch import nn
class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1)
        self.norm, self.pool, self.fc = nn.BatchNorm2d(32), nn.MaxPool2d(2), nn.Linear(32, 10)
    def forward(self, x):
        x = torch.relu(self.norm(self.c1(x)))
        return self.fc(self.pool(x + torch.relu(self.c2(x))).mean((2, 3)))
class Block(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-1, -2) / (d // 4) ** 0.5, -1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(nn.functional.gelu(self.up(self.n2(x))))
torch.manual_seed(0)
for name, model, x in (("cnn", Cnn(), torch.randn(4, 3, 64, 64)), ("block", nn.Sequential(Block(), Block()), torch.randn(2, 128, 128))):
    model.eval()
    torch.export.save(torch.export.export(model, (x,)), f"{name}.pt2")
    torch.onnx.export(model, (x,), f"{name}.onnx", dynamo=True, verbose=False)
    openvino.save_model(openvino.convert_model(model, example_input=x, input=[list(x.shape)]), f"{name}.xml", compress_to_fp16=False)
"""
TENSORFLOW_MODELS = """
import os
os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "-1", "3"
import numpy, tensorflow as tf
from tensorflow.python.client import timeline
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
variable = lambda *sizes: tf.Variable(tf.random.stateless_normal(sizes, (0, 1), stddev=0.1))
w1, b1, w2, b2, w3 = variable(3, 3, 3, 32), variable(32), variable(3, 3, 32, 32), variable(32), variable(32, 10)
def cnn(x):
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w1, 1, "SAME"), b1))
    x = x + tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w2, 1, "SAME"), b2))
    return tf.nn.softmax(tf.reduce_mean(tf.nn.max_pool2d(x, 2, 2, "SAME"), [1, 2]) @ w3)
q, k, v, up, down = variable(128, 128), variable(128, 128), variable(128, 128), variable(128, 512), variable(512, 128)
def block(x):
    x = x + tf.nn.softmax(tf.matmul(x @ q, x @ k, transpose_b=True) * 0.09) @ (x @ v)
    return x + tf.nn.gelu(x @ up) @ down
for function, sizes in ((cnn, [4, 64, 64, 3]), (block, [128, 128])):
    function = tf.function(function, input_signature=[tf.TensorSpec(sizes, tf.float32, name="x")])
    frozen = convert_variables_to_constants_v2(function.get_concrete_function()).graph.as_graph_def(add_shapes=True)
    tf.io.write_graph(frozen, ".", function.python_function.__name__ + ".pb", as_text=False)
# Of the transformer's block also the other files in which TensorFlow writes its times.
v1 = tf.compat.v1
with tf.Graph().as_default() as graph:
    tf.import_graph_def(frozen, name="")
    session, run = v1.Session(), v1.RunMetadata()
    feed, fetch = {"x:0": numpy.ones([128, 128], "float32")}, graph.get_operations()[-1]
    session.run(fetch, feed)
    session.run(fetch, feed, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=run)
    open("metadata.pbtxt", "w").write(str(run))
    open("stats.pb", "wb").write(run.step_stats.SerializeToString())
    open("timeline.json", "w").write(timeline.Timeline(run.step_stats).generate_chrome_trace_format())
    tf.profiler.experimental.start("profiler")
    for step in range(4):
        with tf.profiler.experimental.Trace("step", step_num=step):
            session.run(fetch, feed)
    tf.profiler.experimental.stop()
"""
# An ordinary run of a model under PyTorch's profiler, which knows nothing of the exported graph.
EAGER_TRACE = """
import torch
from torch.profiler import ProfilerActivity, profile, schedule
torch.set_num_threads(1)
program = torch.export.load("block.pt2")
model, (x,) = program.module(), program.example_inputs[0]
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=4, repeat=1),
                              on_trace_ready=lambda trace: trace.export_chrome_trace("eager.json")) as profiler:
    for _ in range(5):
        model(x)
        profiler.step()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("profiles")


def python(folder, *arguments):
    done = subprocess.run([PYTHON, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def torch_models(folder):
    python(folder, "-c", TORCH_MODELS)
    return folder


@pytest.fixture(scope="module")
def tensorflow_models(folder):
    python(folder, "-c", TENSORFLOW_MODELS)
    return folder


def profiled(folder, framework, model, *options):
    """The profile's file, and the seconds of a step without the profiler."""
    output = folder / f"{framework}-{model}{''.join(options)}.profile"
    if output in profiled.steps:
        return output, profiled.steps[output]
    done = python(folder, ROOT / "launch/profile-model.py", framework, model, "-o", output, "--runs", "10", *options)
    profiled.steps[output] = json.loads(done.stdout)["step_s"]
    return output, profiled.steps[output]


profiled.steps = {}  # profiles that were made already


def cost(folder, model, profile, *options, code=0):
    done = subprocess.run([EMPLACE, "cost", folder / model, "laptop", "--profile", profile, "--profile-device", "cpu:0",
                           "-o", folder / "problem.json", "--json", *options], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return (json.loads(done.stdout), done.stderr) if code == 0 else done.stderr


def assert_joined(folder, model, profile, *options, rows=0.9, time=0.95, covered=0.95, measured=0.95):
    """At least these shares of the profile's times, of their sum, and of the graph's time (estimated, measured) are joined."""
    report, warnings = cost(folder, model, profile, *options)
    use, device = report["profiles"][0], report["devices"][0]
    assert use["joined_share"] >= rows and use["joined_time_share"] >= time, warnings
    assert use["covered_share"] >= covered, warnings
    assert device["measured_seconds"] >= measured * device["seconds"], warnings
    return use, device


@pytest.mark.parametrize("model", ["cnn.onnx", "block.onnx"])
def test_onnx_runtime_op_by_op_and_fused(torch_models, model):
    profile, step = profiled(torch_models, "onnxruntime", model)
    use, device = assert_joined(torch_models, model, profile, rows=1, time=1, covered=1, measured=1)
    assert not use["fused_run"] and 0 < device["seconds"] < 20 * step
    profile, _ = profiled(torch_models, "onnxruntime", model, "--fused")
    assert_joined(torch_models, model, profile, "--fuse", rows=0.5, time=0.8)


@pytest.mark.parametrize("model", ["cnn.xml", "block.xml", "cnn.onnx", "block.onnx"])
def test_openvino_lists_the_layers_that_it_fused(torch_models, model):
    profile, step = profiled(torch_models, "openvino", model)
    use, device = assert_joined(torch_models, model, profile, "--fuse", rows=0.6, time=0.9, covered=0.99, measured=0.99)
    assert use["fused_run"] and use["beside"] > 0  # changes of the layout, products that were split off
    assert 0 < device["seconds"] < 20 * step


@pytest.mark.parametrize("model", ["cnn.pb", "block.pb"])
def test_tensorflow_names_kernels_after_their_last_op(tensorflow_models, model):
    profile, _ = profiled(tensorflow_models, "tensorflow", model, "--fused")
    # An op that the optimiser removed (a factor that it multiplied into weights) is covered by no kernel.
    assert_joined(tensorflow_models, model, profile, "--fuse", rows=1, time=1, covered=0.85, measured=0.85)


def test_every_file_of_tensorflow_has_the_same_ops(tensorflow_models):
    files = ["metadata.pbtxt", "stats.pb", "timeline.json", *tensorflow_models.glob("profiler/**/*.xplane.pb")]
    assert len(files) == 4
    for profile in files:
        assert_joined(tensorflow_models, "block.pb", tensorflow_models / profile, "--fuse", rows=1, time=1, covered=0.85, measured=0.85)


@pytest.mark.parametrize("model", ["cnn", "block"])
def test_pytorch_times_the_nodes_of_the_exported_graph(torch_models, model):
    profile, _ = profiled(torch_models, "pytorch", f"{model}.pt2")
    use, _ = assert_joined(torch_models, f"{model}.pt2", profile, rows=1, time=1)
    assert not use["fused_run"]


def test_an_ordinary_trace_of_pytorch_joins_by_the_order_of_calls(torch_models):
    python(torch_models, "-c", EAGER_TRACE)
    use, _ = assert_joined(torch_models, "block.pt2", torch_models / "eager.json")
    assert not use["fused_run"]


def test_a_profile_of_another_model_is_refused_with_its_share(torch_models, tensorflow_models):
    for framework, model, other in (("openvino", "cnn.onnx", "block.onnx"), ("pytorch", "cnn.pt2", "block.pt2"),
                                    ("tensorflow", "cnn.pb", "block.pb"), ("onnxruntime", "cnn.onnx", "block.onnx")):
        profile, _ = profiled(torch_models, framework, model)
        message = cost(torch_models, other, profile, "--fuse", code=2)
        assert "seems to be of another model" in message or "is of an op of the graph" in message, message


def test_calibrate_takes_the_profiles_of_each_framework(torch_models, tensorflow_models):
    for framework, kind in (("onnxruntime", "onnx"), ("openvino", "onnx"), ("pytorch", "pt2"), ("tensorflow", "pb")):
        pairs = [f"{torch_models / model}.{kind}={profiled(torch_models, framework, f'{model}.{kind}')[0]}"
                 for model in ("cnn", "block")]
        done = subprocess.run([EMPLACE, "calibrate", "laptop", "--device", "cpu:0", "-o", torch_models / "mine.toml", "--json",
                               *pairs], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for model in json.loads(done.stdout)["models"]:
            assert model["ops"] >= 4
            # Two models of a few ops on a busy machine say little of a device; a mistake in a unit would be far larger.
            assert 0.25 < model["predicted_s"] / model["measured_s"] < 4, (framework, model)


def test_what_the_script_refuses(torch_models):
    def refused(*arguments):
        done = subprocess.run([sys.executable, ROOT / "launch/profile-model.py", *arguments], capture_output=True, text=True,
                              cwd=torch_models)
        assert done.returncode == 2
        return done.stderr

    assert "there is no model 'none.onnx'" in refused("onnxruntime", "none.onnx", "-o", "p")
    assert "a shape is given as" in refused("onnxruntime", "cnn.onnx", "-o", "p", "--shape", "x")
    assert "invalid choice: 'caffe'" in refused("caffe", "cnn.onnx", "-o", "p")
