"""Small models that the frameworks write themselves, with random weights and parts that can run at the same time."""

import contextlib
import os


def tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    return tensorflow


def save_graph(graph, file):
    file.write_bytes(graph.as_graph_def(add_shapes=True).SerializeToString())
    return file


def weight(tf, *sizes):
    import numpy as np

    return tf.constant(np.random.default_rng(len(sizes)).standard_normal(sizes).astype("f") / 8)


def tensorflow_cnn(file):
    """Two branches of convolutions, and a classifier."""
    tf = tensorflow()
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2, 16, 16, 3], name="x")
        left = tf.nn.relu(tf.nn.conv2d(x, weight(tf, 3, 3, 3, 8), 1, "SAME"))
        right = tf.nn.relu(tf.nn.conv2d(x, weight(tf, 5, 5, 3, 8), 1, "SAME"))
        pooled = tf.nn.max_pool2d(tf.concat([left, right], 3), 2, 2, "SAME")
        features = tf.reshape(tf.nn.conv2d(pooled, weight(tf, 3, 3, 16, 8), 2, "SAME"), [2, 128])
        tf.nn.softmax(tf.matmul(features, weight(tf, 128, 10)), name="y")
    return save_graph(graph, file)


def tensorflow_training(file, resource):
    """Forward, backward and update (Adam) of a network of two branches."""
    tf = tensorflow()
    v1 = tf.compat.v1

    def dense(x, size, name):
        with v1.variable_scope(name, use_resource=resource):
            w = v1.get_variable("w", [x.shape[-1], size], initializer=v1.glorot_uniform_initializer())
            b = v1.get_variable("b", [size], initializer=v1.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, w), b)

    with tf.Graph().as_default() as graph:
        # Adam's own variables follow the scope, too.
        v1.get_variable_scope().set_use_resource(resource)
        x = v1.placeholder(tf.float32, [32, 64], name="x")
        labels = v1.placeholder(tf.int32, [32], name="labels")
        hidden = tf.concat([tf.nn.relu(dense(x, 128, "one")), tf.nn.relu(dense(x, 128, "two"))], 1)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=dense(hidden, 10, "out"))
        v1.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(losses, name="loss"), name="train")
        v1.global_variables_initializer()
    return save_graph(graph, file)


def tensorflow_lstm(file):
    """Two layers of LSTM cells, unrolled over four steps."""
    tf = tensorflow()
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4, 8, 32], name="x")
        steps = tf.unstack(x)
        for _ in range(2):
            kernel, state, memory = weight(tf, 64, 128), tf.zeros([8, 32]), tf.zeros([8, 32])
            outputs = []
            for step in steps:
                i, f, g, o = tf.split(tf.matmul(tf.concat([step, state], 1), kernel), 4, 1)
                memory = tf.sigmoid(f) * memory + tf.sigmoid(i) * tf.tanh(g)
                state = tf.sigmoid(o) * tf.tanh(memory)
                outputs.append(state)
            steps = outputs
        tf.identity(steps[-1], name="y")
    return save_graph(graph, file)


def torch_cnn():
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8)
            self.left, self.right = torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.Conv2d(8, 8, 5, padding=2)
            self.head = torch.nn.Linear(16, 10)

        def forward(self, x):
            x = torch.relu(self.norm(self.stem(x)))
            x = torch.cat([torch.relu(self.left(x)), torch.relu(self.right(x))], 1)
            return torch.softmax(self.head(x.mean((2, 3))), -1)

    torch.manual_seed(1)
    return Net().eval()


def save_program(model, sizes, file):
    import torch

    torch.export.save(torch.export.export(model, (torch.zeros(sizes),)), file)


def openvino_cnn(file):
    import openvino
    import torch

    openvino.save_model(openvino.convert_model(torch_cnn(), input=[1, 3, 16, 16], example_input=torch.zeros(1, 3, 16, 16)),
                        file)
    return file


def openvino_lstm(file):
    """An LSTM, and a layer on an open number of rows."""
    import openvino
    import torch

    torch.manual_seed(1)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = torch.nn.LSTM(8, 16, num_layers=2, batch_first=True), torch.nn.Linear(16, 4)

        def forward(self, steps, x):
            return torch.relu(self.head(self.lstm(steps)[0])).sum((0, 1)) + torch.tanh(self.head(x))

    model = openvino.convert_model(Net().eval(), example_input=(torch.zeros(2, 5, 8), torch.zeros(3, 16)),
                                   input=[[2, 5, 8], [-1, 16]])
    openvino.save_model(model, file)
    return file


def torch_attention(file):
    """Two layers of attention: program.pt2, and an ONNX file of it with the archive of what this was made from."""
    import torch

    class Layer(torch.nn.Module):
        def __init__(self, size):
            super().__init__()
            # Without a bias, so that ONNX has one op for it.
            self.q, self.k, self.v = (torch.nn.Linear(size, size, bias=False) for _ in range(3))
            self.norm = torch.nn.LayerNorm(size)

        def forward(self, x):
            weights = torch.softmax(self.q(x) @ self.k(x).transpose(-1, -2) / 8, -1)
            return self.norm(x + weights @ self.v(x))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(100, 64)
            self.scale = torch.nn.Parameter(torch.full([64], 1.5))
            self.layers = torch.nn.ModuleList([Layer(64), Layer(64)])
            self.head = torch.nn.Linear(64, 100, bias=False)

        def forward(self, words):
            x = self.embed(words) * self.scale
            for layer in self.layers:
                x = layer(x)
            first, second = x.chunk(2, 1)  # an op with several outputs
            return {"logits": self.head(x), "halves": first - second}

    torch.manual_seed(1)
    program = torch.export.export(Net().eval(), (torch.ones(2, 16, dtype=torch.int64),))
    torch.export.save(program, file.with_name("program.pt2"))
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        exported = torch.onnx.export(program, dynamo=True)
    exported.save(file)
    torch.export.save(exported.exported_program, file.with_suffix(".pt2"))
    return file
