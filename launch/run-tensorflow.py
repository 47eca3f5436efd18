#!/usr/bin/env python3
"""Runs a GraphDef in TensorFlow with each op on its device, compares the outputs with those of the unplaced graph, says
where each op ran, and prints the median time of a step as JSON; `-` makes it an evaluator (evaluator=command), --serve
one that keeps running (command.keep=true).

Devices of the placement are logical CPU devices, in the order of their names, unless --rename gives another name
(gpu:0=/device:GPU:0). Each has one core and runs one op at a time: control dependencies keep its ops in the placement's
order, or if it has none in that of their depth. Grappler, constant folding and soft placement are off, so that the ops
are those of the file. A graph with variables is a training step: its op `init` runs once, before the steps, and random
ops get fixed seeds. A step computes the ends of the graph, but for those that only read variables or save them."""

import contextlib
import heapq
import os
import sys

sys.dont_write_bytecode = True  # nothing is left in this folder
import placed
import timing
from placed import Differs, Wrong, say

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

OPTIONS = [
    ("--fetch", dict(action="append", default=[], metavar="NODE", help="what a step computes; may be repeated")),
    ("--init", dict(metavar="NODE", help="the op that initialises variables (init)")),
    ("--free-order", dict(action="store_true", help="let a device run ready ops in any order, several at a time")),
    ("--grappler", dict(action="store_true", help="time the step with TensorFlow's graph optimizer, which may merge ops "
                                                  "and move them")),
]
LOOPS = {"Enter", "Exit", "NextIteration", "Merge", "Switch", "RefEnter", "RefExit", "RefNextIteration", "RefMerge",
         "RefSwitch"}
FILES = {"SaveV2", "RestoreV2", "ShardedFilename", "MergeV2Checkpoints"}
VARIABLES = {"VariableV2", "Variable", "VarHandleOp"}
STEPS_COMPARED = 3  # so that updates count, too


def node_of(text):
    return text.removeprefix("^").split(":")[0]


class Step:
    """What a step of a GraphDef is: its inputs, its ends, and the nodes that these need."""

    def __init__(self, graph, arguments, file):
        self.nodes = {node.name: node for node in graph.node}
        read = {node_of(text) for node in graph.node for text in node.input}
        ends = [node.name for node in graph.node if node.name not in read]
        if arguments.init and arguments.init not in self.nodes:
            raise Wrong(f"{file}: there is no node '{arguments.init}' (--init)")
        self.init = arguments.init or next((name for name in ends if self.is_init(name)), None)
        for name in arguments.fetch:
            if name not in self.nodes:
                raise Wrong(f"{file}: there is no node '{name}' (--fetch)")
        self.ends = arguments.fetch or [name for name in ends if self.is_end(name)]
        if not self.ends:
            raise Wrong(f"{file}: no node is an end of a step; name some with --fetch")
        self.needed = self.before(self.ends)
        self.inputs = [node for node in graph.node if node.op in ("Placeholder", "PlaceholderV2") and
                       node.name in self.needed]

    def is_init(self, name):
        return self.nodes[name].op == "NoOp" and name.rsplit("/", 1)[-1].startswith("init")

    def is_end(self, name):
        node = self.nodes[name]
        if node.op in ("Const", "VarIsInitializedOp", "ReadVariableOp") or node.op in VARIABLES or self.is_init(name):
            return False
        if node.op == "Identity" and self.nodes[node_of(node.input[0])].op in VARIABLES:
            return False
        return not any(self.nodes[other].op in FILES for other in self.before([name]))

    def before(self, names):
        """These nodes and all that they need."""
        found, open_nodes = set(), list(names)
        while open_nodes:
            name = open_nodes.pop()
            if name not in found:
                found.add(name)
                open_nodes += (node_of(text) for text in self.nodes[name].input)
        return found

    def in_order(self, order):
        """The needed nodes, each after those that it reads: as in `order`, nodes that it lacks as early as they can be;
        without an order those of little depth first."""
        place = {name: i for i, name in enumerate(order or [])}
        waits, readers, depth, ready, result = {}, {}, {}, [], []
        for number, (name, node) in enumerate(self.nodes.items()):
            if name not in self.needed:
                continue
            before = {node_of(text) for text in node.input}
            waits[name] = len(before)
            for other in before:
                readers.setdefault(other, []).append(name)
            if not before:
                ready.append((0, number, name))
            depth[name] = 0
        number = {name: i for i, name in enumerate(self.nodes)}
        heapq.heapify(ready)
        while ready:
            _, _, name = heapq.heappop(ready)
            result.append(name)
            for reader in readers.get(name, []):
                depth[reader] = max(depth[reader], depth[name] + 1)
                waits[reader] -= 1
                if waits[reader] == 0:
                    heapq.heappush(ready, (place.get(reader, -1) if order else depth[reader], number[reader], reader))
        return result


def read_graph(tf, file):
    graph = tf.compat.v1.GraphDef()
    with open(file, "rb") as stream:
        content = stream.read()
    try:
        graph.ParseFromString(content)
    except Exception:
        from google.protobuf import text_format

        graph = text_format.Parse(content.decode(), tf.compat.v1.GraphDef())
    for number, node in enumerate(graph.node):  # both graphs draw the same numbers
        if "seed" in node.attr and "seed2" in node.attr and node.attr["seed"].i == node.attr["seed2"].i == 0:
            node.attr["seed"].i, node.attr["seed2"].i = 1, number
    return graph


def keep_order(graph, order):
    """Adds control dependencies so that each device runs one op at a time, in this order."""
    nodes, last = {node.name: node for node in graph.node}, {}
    if any(nodes[name].op in LOOPS for name in order):
        say("the graph has loops of TensorFlow 1, in which no order can be kept: ready ops run in any order")
        return
    for name in order:
        node = nodes[name]
        if not node.input or node.op in VARIABLES:
            continue  # constants, variables and inputs take no time
        before = last.get(node.device)
        if before and before not in {node_of(text) for text in node.input}:
            node.input.append("^" + before)
        last[node.device] = name


class Running:
    """A graph in a session of its own."""

    def __init__(self, tf, graph, step, devices, arguments, grappler=False):
        v1 = tf.compat.v1
        config = v1.ConfigProto(intra_op_parallelism_threads=arguments.threads, inter_op_parallelism_threads=devices,
                                use_per_session_threads=True, device_count={"CPU": devices}, allow_soft_placement=False)
        config.experimental.disable_thread_spinning = True  # a thread that waits in a loop takes the core of an op
        if not grappler:
            config.graph_options.optimizer_options.opt_level = -1  # L0
            config.graph_options.rewrite_options.disable_meta_optimizer = True
        self.v1, self.graph = v1, tf.Graph()
        with self.graph.as_default():
            tf.import_graph_def(graph, name="")
        with quiet():
            self.session = v1.Session(graph=self.graph, config=config)
        self.fetches = {}
        for name in step.ends:
            op = self.graph.get_operation_by_name(name)
            for output in op.outputs or [op]:
                self.fetches[output.name] = output
        self.inputs = [self.graph.get_tensor_by_name(node.name + ":0") for node in step.inputs]
        if step.init:
            self.session.run(self.graph.get_operation_by_name(step.init))
        self.call = self.session.make_callable(list(self.fetches.values()), feed_list=self.inputs)

    def outputs(self, values):
        """Of the ends that have some; others are updates."""
        return {name: value for name, value in zip(self.fetches, self.call(*values)) if value is not None}

    def variables(self):
        v1, read = self.v1, {}
        with self.graph.as_default():
            for op in self.graph.get_operations():
                if op.type == "VarHandleOp":
                    with self.graph.colocate_with(op):
                        read[op.name] = v1.raw_ops.ReadVariableOp(resource=op.outputs[0], dtype=op.get_attr("dtype"))
                elif op.type in VARIABLES:
                    read[op.name] = op.outputs[0]
        return self.session.run(read)

    def devices_of_ops(self, values):
        """The device on which each op of a step ran, by TensorFlow's step stats."""
        v1, metadata = self.v1, self.v1.RunMetadata()
        self.session.run(list(self.fetches.values()), dict(zip(self.inputs, values)), run_metadata=metadata,
                         options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE))
        return {node.node_name: device.device[device.device.index("/device:"):]
                for device in metadata.step_stats.dev_stats for node in device.node_stats}


@contextlib.contextmanager
def quiet():
    """Without what TensorFlow writes to standard error while it is loaded; errors are exceptions."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def check_devices(tf, names):
    """The number of logical CPU devices to make; Wrong for a device that TensorFlow does not have here."""
    here = {device.name.replace("physical_device", "device") for device in tf.config.list_physical_devices()}
    for name in names:
        if not name.startswith("/device:CPU:") and name not in here:
            raise Wrong(f"TensorFlow has no device '{name}' here; there are {', '.join(sorted(here))}, and any number of "
                        "/device:CPU:N")
    return 1 + max((int(name.rsplit(":", 1)[1]) for name in names if name.startswith("/device:CPU:")), default=0)


class Unplaced:
    """The graph as it is: what a step of it is, and what that makes of random inputs."""

    def __init__(self, tf, exported, arguments):
        self.file = exported.model
        graph = read_graph(tf, self.file)
        self.step = Step(graph, arguments, self.file)
        if not arguments.free_order:
            keep_order(graph, self.step.in_order(None))
        self.values = []
        for number, node in enumerate(self.step.inputs):
            shape = node.attr["shape"].shape
            sizes = None if shape.unknown_rank else [size.size if size.size >= 0 else None for size in shape.dim]
            sizes = placed.sizes_of(node.name, sizes, exported)
            dtype = tf.dtypes.as_dtype(node.attr["dtype"].type).as_numpy_dtype
            self.values.append(placed.random_input(node.name, sizes, dtype, number))
        for node in graph.node:
            node.device = ""
        if arguments.check or arguments.reference:
            self.running = Running(tf, graph, self.step, 1, arguments)
        if arguments.check:
            self.outputs = outputs_of(self.running, self.values, self.step)

    def call(self):
        self.running.call(*self.values)


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        with quiet():
            self.tf = placed.framework("tensorflow", "2")
        self.unplaced = None

    def run(self, folder):
        tf, arguments = self.tf, self.arguments
        exported = placed.export(arguments, folder, "tensorflow", ".pb", lambda number: f"/device:CPU:{number}")
        cpus = check_devices(tf, exported.renamed.values())
        timing.pin_to_cores(cpus)
        graph = read_graph(tf, exported.file)
        try:
            if self.unplaced is None or self.unplaced.file != exported.model:
                self.unplaced = Unplaced(tf, exported, arguments)
            step, values = self.unplaced.step, self.unplaced.values
            if not arguments.free_order:
                keep_order(graph, step.in_order(exported.order))
            running = Running(tf, graph, step, cpus, arguments)
            result = check(running, self.unplaced, exported, arguments) if arguments.check else {}
            if arguments.grappler:
                running.session.close()
                running = Running(tf, graph, step, cpus, arguments, grappler=True)
                left = running.devices_of_ops(values)
                gone = [name for name in exported.asked() if name in step.needed and name not in left]
                say(f"Grappler and constant folding removed or merged {len(gone)} ops of the step: {placed.listed(gone)}")
            times = timing.timed(lambda: running.call(*values), arguments, self.unplaced.call)
            running.session.close()
        except tf.errors.OpError as error:
            raise Differs(f"TensorFlow refuses the placed graph: {str(error.message).splitlines()[0]}")
        return {**times, **result, "devices": len(exported.renamed), "tensorflow": tf.__version__}


def outputs_of(running, values, step):
    """Of some steps from the beginning, and the variables after them."""
    outputs = {}
    for number in range(STEPS_COMPARED if step.init else 1):
        outputs.update({f"{name} of step {number}": value for name, value in running.outputs(values).items()})
    if step.init:
        outputs.update(running.variables())
    return outputs


def check(running, unplaced, exported, arguments):
    step, values = unplaced.step, unplaced.values
    difference = placed.compare(unplaced.outputs, outputs_of(running, values, step), arguments.tolerance)
    ran = running.devices_of_ops(values)
    inputs = {node.name for node in step.inputs}
    asked = {op: device for op, device in exported.asked().items() if op in step.needed - inputs}
    counts = placed.say_where(asked, ran, "TensorFlow left them out")
    if beside := len(exported.device_of_op) - len(asked):
        say(f"{beside} placed ops are inputs, or not part of a step")
    return {"difference": difference, "ops": counts}


if __name__ == "__main__":
    placed.main(Runner, (__doc__, OPTIONS))
