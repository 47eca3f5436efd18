"""A PyTorch program with each part on its own device of this process, as on a machine with a CPU and GPUs: weights stay
on the device of the part that reads them, and a result goes to each device that reads it once."""

import copy

import torch

from torch_parts import Cut, flat, producer


def move_constants(part, device):
    """Tensors that nodes make are made on the device: the program names that on which it was exported."""

    def moved(value):
        return device if isinstance(value, torch.device) else value

    for node in part.graph.nodes:
        node.args = torch.fx.node.map_aggregate(node.args, moved)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, moved)
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            part.graph.erase_node(node)
    part.recompile()


class Placed:
    def __init__(self, program, segments, inputs):
        self.cut = Cut(program, segments, inputs)
        self.device_of = {part: torch.device(name) for part, name in self.cut.device_of.items()}
        self.module_of = {}
        for part, device in self.device_of.items():
            module = copy.deepcopy(getattr(self.cut.parts, part.target)).to(device)  # parts may share weights
            move_constants(module, device)
            self.module_of[part] = module
        # Inputs and weights that are handed to parts are on every device when a step starts.
        self.fixed = {(node, device): value.to(device) if isinstance(value, torch.Tensor) else value
                      for node, value in self.cut.fixed.items() for device in set(self.device_of.values())}

    def step(self, run=None):
        """The results, once all devices have ended; run(part, module, arguments) calls a part."""
        values = dict(self.fixed)
        for part, device in self.device_of.items():
            arguments = [self.value(values, argument, device) for argument in part.args]
            values[part, device] = run(part, self.module_of[part], arguments) if run else self.module_of[part](*arguments)
        results = [self.value(values, result) for result in self.cut.results]
        for device in set(self.device_of.values()):
            if device.type == "cuda":
                torch.cuda.synchronize(device)
        return results

    def value(self, values, node, device=None):
        """The value on the device; without one, where it was made."""
        if not isinstance(node, torch.fx.Node):
            return node
        own = self.device_of.get(producer(node)) or device or next(iter(self.device_of.values()))
        device = device or own
        if (node, device) not in values:  # the results of parts are there on their own device
            values[node, device] = (to(self.value(values, node, own), device) if device != own else
                                    self.value(values, node.args[0], own)[node.args[1]])
        return values[node, device]

    def devices_of_ops(self):
        """The device of the result of each node, by the name that it has in the program."""
        ran = {}

        def run(part, module, arguments):
            class Recorder(torch.fx.Interpreter):
                def run_node(self, node):
                    result = super().run_node(node)
                    tensors = [value for value in flat([result]) if isinstance(value, torch.Tensor)]
                    if node.op.startswith("call_") and tensors:
                        ran[node.meta["op"]] = str(tensors[0].device)
                    return result

            return Recorder(module).run(*arguments)

        self.step(run)
        return ran


def to(value, device):
    return value.to(device) if isinstance(value, torch.Tensor) else value
