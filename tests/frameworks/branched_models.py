"""Writes a network of branches (GoogLeNet's blocks) with random weights, for scripts/learn-from-measurements:

  tensorflow  FILE.pb   a training step of a small one: forward, backward and update (momentum), batch 8
  openvino    FILE.xml  torchvision's GoogLeNet, one image
  pytorch     FILE.pt2  the same
  onnxruntime FILE.onnx the same

Usage: branched_models.py FRAMEWORK FILE
"""
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import small_models  # noqa: E402

# The widths of a block: 1x1; 1x1 and 3x3; 1x1 and 5x5; 1x1 after pooling (Szegedy et al. 2015, table 1, 3a to 4c).
BLOCKS = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64),
          (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64)]


def tensorflow_training(file):
    tf = small_models.tensorflow()
    v1 = tf.compat.v1

    def convolution(x, size, width, name, stride=1):
        with v1.variable_scope(name, use_resource=True):
            w = v1.get_variable("w", [size, size, x.shape[-1], width], initializer=v1.glorot_uniform_initializer(seed=width))
            b = v1.get_variable("b", [width], initializer=v1.zeros_initializer())
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, stride, "SAME"), b))

    def block(x, widths, name):
        one, before3, three, before5, five, pooled = widths
        with v1.variable_scope(name):
            return tf.concat([convolution(x, 1, one, "one"),
                              convolution(convolution(x, 1, before3, "before3"), 3, three, "three"),
                              convolution(convolution(x, 1, before5, "before5"), 5, five, "five"),
                              convolution(tf.nn.max_pool2d(x, 3, 1, "SAME"), 1, pooled, "pooled")], 3)

    with tf.Graph().as_default() as graph:
        v1.get_variable_scope().set_use_resource(True)
        images = v1.placeholder(tf.float32, [8, 64, 64, 3], name="images")
        labels = v1.placeholder(tf.int32, [8], name="labels")
        x = tf.nn.max_pool2d(convolution(images, 7, 64, "first", 2), 3, 2, "SAME")
        for number, widths in enumerate(BLOCKS):
            x = block(x, widths, f"block{number}") if widths else tf.nn.max_pool2d(x, 3, 2, "SAME")
        with v1.variable_scope("out", use_resource=True):
            w = v1.get_variable("w", [x.shape[-1], 100], initializer=v1.glorot_uniform_initializer(seed=1))
        logits = tf.matmul(tf.reduce_mean(x, [1, 2]), w)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
        v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, name="train")
        v1.global_variables_initializer()
    small_models.save_graph(graph, file)


def googlenet():
    import architectures  # noqa: F401, makes torchvision importable
    import torch
    import torchvision

    torch.manual_seed(1)
    model = torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False).eval()
    return torch, torch.export.export(model, (torch.rand(1, 3, 224, 224),))


def openvino(file):
    import openvino

    _, program = googlenet()
    openvino.save_model(openvino.convert_model(program, input=[[1, 3, 224, 224]]), file, compress_to_fp16=False)


def pytorch(file):
    torch, program = googlenet()
    torch.export.save(program, file)


def onnx(file):
    torch, program = googlenet()
    torch.onnx.export(program, (), dynamo=True, verbose=False).save(str(file))


MAKERS = {"tensorflow": tensorflow_training, "openvino": openvino, "pytorch": pytorch, "onnxruntime": onnx}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    MAKERS[sys.argv[1]](pathlib.Path(sys.argv[2]))
