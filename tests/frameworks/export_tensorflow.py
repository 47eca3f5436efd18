"""Writes Keras models of today's TensorFlow in the forms in which they are handed on: NAME.frozen.pb (a GraphDef with the
weights as constants and all functions inlined), NAME.function.pb (the GraphDef of a traced function, with its library of
functions), NAME.saved/saved_model.pb, and NAME.json: how many weights Keras counts.

Usage: export_tensorflow.py FOLDER NAME
"""
import json
import os
import shutil
import sys
from dataclasses import dataclass
from typing import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def application(name, size=224):
    def make():
        import keras
        return getattr(keras.applications, name)(weights=None), (1, size, size, 3)
    return make


def lstm():
    import keras
    model = keras.Sequential([keras.Input((20, 32)), keras.layers.LSTM(64, return_sequences=True),
                              keras.layers.LSTM(48), keras.layers.Dense(10)])
    return model, (1, 20, 32)


def transformer():
    import keras
    x = inputs = keras.Input((64, 128))
    for _ in range(2):
        y = keras.layers.MultiHeadAttention(8, 16)(x, x)
        x = keras.layers.LayerNormalization()(x + y)
        y = keras.layers.Dense(128)(keras.layers.Dense(512, activation="gelu")(x))
        x = keras.layers.LayerNormalization()(x + y)
    return keras.Model(inputs, x), (1, 64, 128)


def branches():
    """A function of TensorFlow with a condition and a loop that depend on the data."""
    import tensorflow as tf

    class Branches(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.random.normal([16, 16]))

        @tf.function
        def __call__(self, x):
            if tf.reduce_sum(x) > 0:
                y = tf.nn.relu(x @ self.w)
            else:
                y = tf.tanh(x)
            while tf.reduce_sum(y) < 100.0:
                y = y @ self.w + 1.0
            return y
    return Branches(), (4, 16)


@dataclass(frozen=True)
class Model:
    make: Callable
    constants: int = 0  # elements of constants that look like weights: initial states, means and variances of images
    loops_over_lists: bool = False
    quick: bool = False


MODELS = {
    "keras_resnet50": Model(application("ResNet50")),
    "keras_mobilenet_v3": Model(application("MobileNetV3Small")),
    "keras_efficientnet": Model(application("EfficientNetV2B0"), constants=2 * 3),
    "keras_lstm": Model(lstm, constants=2 * (64 + 48), loops_over_lists=True),
    "keras_transformer": Model(transformer, quick=True),
    "tf_branches": Model(branches, quick=True),
}


def write(graph, folder, name):
    with open(f"{folder}/{name}.pb", "wb") as out:
        out.write(graph.as_graph_def().SerializeToString())


def main(folder, name):
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    tf.random.set_seed(1)
    model, shape = MODELS[name].make()
    function = tf.function(lambda x: model(x)).get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))
    write(function.graph, folder, f"{name}.function")
    write(convert_variables_to_constants_v2(function).graph, folder, f"{name}.frozen")
    saved = f"{folder}/{name}.saved"
    shutil.rmtree(saved, ignore_errors=True)
    tf.saved_model.save(model, saved, signatures=function)
    shutil.rmtree(f"{saved}/variables")  # the readers do not need the weights
    # Keras writes batch normalisation as its parts, so that nothing tells its statistics from weights.
    variables = {id(v): v for v in model.variables}.values()
    parameters = sum(int(tf.size(v)) for v in variables if tf.as_dtype(v.dtype).is_floating and len(v.shape) > 0)
    with open(f"{folder}/{name}.json", "w") as out:
        json.dump({"name": name, "parameters": parameters}, out)
        out.write("\n")
    print(f"{name}: {parameters} parameters")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
