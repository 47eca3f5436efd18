"""Writes training steps of TensorFlow (forward, backward and update) as GraphDefs with variables, for
scripts/measured-table: small networks with parts that can run at the same time.

Usage: training_models.py FOLDER [NAME...]     all, or these; NAME.training.pb
"""
import pathlib
import sys

import small_models

tf = small_models.tensorflow()
v1 = tf.compat.v1


def variable(name, *sizes):
    return v1.get_variable(name, sizes, initializer=v1.glorot_uniform_initializer(seed=len(name)))


def dense(x, size, name, activation=tf.nn.relu):
    with v1.variable_scope(name):
        y = tf.nn.bias_add(tf.matmul(x, variable("w", x.shape[-1], size)), v1.get_variable(
            "b", [size], initializer=v1.zeros_initializer()))
        return activation(y) if activation else y


def convolution(x, size, width, name, stride=1):
    with v1.variable_scope(name):
        y = tf.nn.conv2d(x, variable("w", size, size, x.shape[-1], width), stride, "SAME")
        return tf.nn.relu(tf.nn.bias_add(y, v1.get_variable("b", [width], initializer=v1.zeros_initializer())))


def pictures(batch, size):
    return v1.placeholder(tf.float32, [batch, size, size, 3], name="x")


def inception():
    """Blocks of four branches of convolutions."""
    x = tf.nn.max_pool2d(convolution(pictures(8, 64), 5, 32, "stem", 2), 3, 2, "SAME")
    for i in range(4):
        with v1.variable_scope(f"block{i}"):
            x = tf.concat([convolution(x, 1, 48, "one"),
                           convolution(convolution(x, 1, 48, "before3"), 3, 64, "three"),
                           convolution(convolution(x, 1, 16, "before5"), 5, 32, "five"),
                           convolution(tf.nn.avg_pool2d(x, 3, 1, "SAME"), 1, 32, "pooled")], 3)
    return tf.reduce_mean(x, [1, 2])


def resnet():
    """Residual blocks: hardly any branches but those of the gradients."""
    x = convolution(pictures(8, 64), 3, 32, "stem", 2)
    for i in range(6):
        with v1.variable_scope(f"block{i}"):
            x = x + convolution(convolution(x, 3, 32, "one"), 3, 32, "two")
    return tf.reduce_mean(x, [1, 2])


def towers():
    """Two towers of dense layers, which meet at the end."""
    x = v1.placeholder(tf.float32, [128, 512], name="x")
    ends = []
    for side in ("left", "right"):
        y = x
        for i in range(4):
            y = dense(y, 768, f"{side}{i}")
        ends.append(y)
    return tf.concat(ends, 1)


def lstm():
    """Two layers of LSTM cells, unrolled over ten steps."""
    steps, size, batch = tf.unstack(v1.placeholder(tf.float32, [10, 32, 256], name="x")), 256, 32
    for layer in range(2):
        with v1.variable_scope(f"layer{layer}"):
            kernel, state, memory, outputs = variable("w", 2 * size, 4 * size), tf.zeros([batch, size]), tf.zeros([batch, size]), []
        for step in steps:
            i, f, g, o = tf.split(tf.matmul(tf.concat([step, state], 1), kernel), 4, 1)
            memory = tf.sigmoid(f) * memory + tf.sigmoid(i) * tf.tanh(g)
            state = tf.sigmoid(o) * tf.tanh(memory)
            outputs.append(state)
        steps = outputs
    return steps[-1]


def transformer():
    """Two layers of attention and of dense layers."""
    batch, length, size, heads = 4, 64, 256, 4
    x = tf.reshape(v1.placeholder(tf.float32, [batch, length, size], name="x"), [batch * length, size])
    for layer in range(2):
        with v1.variable_scope(f"layer{layer}"):
            q, k, v = (tf.transpose(tf.reshape(dense(x, size, name, None), [batch, length, heads, -1]), [0, 2, 1, 3])
                       for name in "qkv")
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / (size / heads) ** 0.5)
            mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [batch * length, size])
            x = x + dense(mixed, size, "mixed", None)
            x = x + dense(dense(x, 4 * size, "wide"), size, "narrow", None)
    return tf.reduce_mean(tf.reshape(x, [batch, length, size]), 1)


def experts():
    """Four experts that all read the input, and a gate."""
    x = v1.placeholder(tf.float32, [256, 512], name="x")
    gate = tf.nn.softmax(dense(x, 4, "gate", None))
    each = [dense(dense(x, 1024, f"wide{i}"), 256, f"narrow{i}") for i in range(4)]
    return tf.add_n([y * gate[:, i:i + 1] for i, y in enumerate(each)])


MODELS = {each.__name__: each for each in (inception, resnet, towers, lstm, transformer, experts)}


def write(name, folder):
    with tf.Graph().as_default() as graph:
        v1.get_variable_scope().set_use_resource(True)
        features = MODELS[name]()
        labels = v1.placeholder(tf.int32, features.shape[:1], name="labels")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=dense(features, 10, "out", None))
        v1.train.MomentumOptimizer(0.01, 0.9).minimize(tf.reduce_mean(losses), name="train")
        v1.global_variables_initializer()
    small_models.save_graph(graph, folder / f"{name}.training.pb")


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(MODELS):
        sys.exit(__doc__)
    for each in sys.argv[2:] or MODELS:
        write(each, pathlib.Path(sys.argv[1]))
