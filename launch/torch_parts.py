"""A PyTorch program in the parts that `emplace export --for pytorch` names, and the processes that run them: one for
each device, on a core of its own, which send each other tensors with gloo (torch.distributed)."""

import operator
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torch.fx.passes.split_module import split_module

import placed


def parts_of(graph, exported):
    """The number of the segment in which each node of the program runs. ONNX files call the last op of a node
    `node_NAME`, archives of torch.export call it NAME. Nodes that were not placed, and what takes an item of a list,
    run with their last input; so does a node whose inputs come from later segments than its own."""
    segment_of = {op: number for number, segment in enumerate(exported["segments"]) for op in segment["ops"]}
    part_of = {}
    for node in graph.graph.nodes:
        if node.op.startswith("call_"):
            before = max((part_of[value] for value in node.all_input_nodes if value in part_of), default=0)
            own = segment_of.get(node.name, segment_of.get("node_" + node.name, 0))
            part_of[node] = before if node.target is operator.getitem else max(own, before)
    return part_of


class Cut:
    """The program as one sub-module for each part, and the rank of each. Inputs and results are flat lists."""

    def __init__(self, program, exported, inputs):
        graph = program.module(check_guards=False)
        graph.graph.eliminate_dead_code()
        part_of = parts_of(graph, exported)
        for node in part_of:
            node.meta["op"] = node.name  # parts give nodes new names
        self.parts = split_module(graph, None, part_of.get, partition_affix="part")
        self.parts.graph.set_codegen(torch.fx.graph.CodeGen())
        self.parts.recompile()
        ShapeProp(self.parts).propagate(*inputs)
        ranks = [int(segment["device"].removeprefix("rank:")) for segment in exported["segments"]]
        self.rank_of = {node: ranks[int(node.target.rsplit("_", 1)[1])] for node in self.parts.graph.nodes
                        if node.op == "call_module"}
        self.inputs = [node for node in self.parts.graph.nodes if node.op == "placeholder"]
        output = next(node for node in self.parts.graph.nodes if node.op == "output")
        self.results = flat(output.args[0])
        # Inputs and weights, which each process has.
        self.fixed = dict(zip(self.inputs, inputs))
        for node in self.parts.graph.nodes:
            if node.op == "get_attr":
                self.fixed[node] = operator.attrgetter(node.target)(self.parts)

    def run(self, part, values):
        values[part] = getattr(self.parts, part.target)(*(value_of(values, argument) for argument in part.args))

    def ops_of(self, part, values):
        """Runs the part node by node; returns the names of the nodes that it ran."""
        names, module = [], getattr(self.parts, part.target)

        class Recorder(torch.fx.Interpreter):
            def run_node(self, node):
                names.extend([node.meta["op"]] if node.op.startswith("call_") else [])
                return super().run_node(node)

        values[part] = Recorder(module).run(*(value_of(values, argument) for argument in part.args))
        return names

    def tensors(self):
        """The tensors that parts make, each with the part."""
        for value in self.parts.graph.nodes:
            part = producer(value)
            if part is not None and isinstance(value.meta.get("tensor_meta"), TensorMetadata):
                yield value, part


def flat(values):
    return [each for value in values for each in flat(value)] if isinstance(values, (tuple, list)) else [values]


def producer(value):
    """The part that makes a value; None if it is an input, a weight, or no tensor."""
    while isinstance(value, torch.fx.Node) and value.target is operator.getitem:
        value = value.args[0]
    return value if isinstance(value, torch.fx.Node) and value.op == "call_module" else None


def value_of(values, node):
    if not isinstance(node, torch.fx.Node):
        return node
    if node not in values:
        values[node] = operator.getitem(value_of(values, node.args[0]), node.args[1])
    return values[node]


def empty_like(value):
    return torch.empty(value.meta["tensor_meta"].shape, dtype=value.meta["tensor_meta"].dtype)


class Process:
    """What the process of one device does in a step: it runs its parts in their order, as soon as it has what they
    read, and sends what others read."""

    def __init__(self, cut, rank):
        self.cut = cut
        self.own = [part for part, of_part in cut.rank_of.items() if of_part == rank]
        self.receives, self.sends = [], {part: [] for part in self.own}
        for value, part in cut.tensors():
            for reader in sorted({cut.rank_of[user] for user in value.users if user in cut.rank_of}):
                if reader == rank != cut.rank_of[part]:
                    self.receives.append((value, empty_like(value), cut.rank_of[part]))
                elif reader != rank == cut.rank_of[part]:
                    self.sends[part].append((value, reader))
        self.results = {position: value for position, value in enumerate(cut.results)
                        if producer(value) in self.own or (producer(value) is None and rank == 0)}

    def step(self, run):
        values, waits, sent = dict(self.cut.fixed), {}, []
        for value, buffer, source in self.receives:
            values[value], waits[value] = buffer, dist.irecv(buffer, source)
        for part in self.own:
            for value in part.all_input_nodes:
                if value in waits:
                    waits.pop(value).wait()
            run(part, values)
            for value, reader in self.sends[part]:
                tensor = value_of(values, value).contiguous()
                sent.append((dist.isend(tensor, reader), tensor))
        for request, _ in sent:
            request.wait()
        return values


class Stage(torch.nn.Module):
    """A part as a stage of torch.distributed.pipelining, which passes on what later stages and the results need."""

    def __init__(self, cut, number):
        super().__init__()
        self.cut, stages = cut, list(cut.rank_of)
        self.part, at = stages[number], {part: i for i, part in enumerate(stages)}
        values = [(value, -1) for value in cut.inputs if isinstance(cut.fixed[value], torch.Tensor)]
        values += [(value, at[part]) for value, part in cut.tensors()]
        last = {value: len(stages) if value in cut.results else max((at[user] for user in value.users if user in at),
                                                                    default=-1) for value, _ in values}

        def carried(to):
            return [value for value, made in values if made < to <= last[value]]

        self.takes = carried(number) if number else [value for value, made in values if made < 0]
        self.gives = carried(number + 1) if number + 1 < len(stages) else [
            value for value in cut.results if isinstance(value, torch.fx.Node)]

    def forward(self, *taken):
        values = {**self.cut.fixed, **dict(zip(self.takes, taken))}
        self.cut.run(self.part, values)
        return tuple(value_of(values, value).contiguous() for value in self.gives)


def join(rank, ranks, folder, threads):
    """Makes this one of the processes, on a core of its own."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(threads)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks,
                            timeout=timedelta(seconds=120))


@torch.no_grad()
def work(rank, ranks, folder, model, exported, inputs, settings):
    """The process of a device: writes to the folder its results, the ops that it ran, and when each step of it began and
    ended, on the clock that all processes of the machine share."""
    join(rank, ranks, folder, settings["threads"])
    program = torch.export.load(model)
    cut = Cut(program, exported, inputs)
    done = {"core": min(os.sched_getaffinity(0))}
    if settings["microbatches"]:
        step, done["results"] = stage_of(cut, rank, inputs, settings["microbatches"])
        done["ops"], done["parts"], done["sent"] = [], 1, 0
    else:
        process = Process(cut, rank)
        done["ops"] = ops = []
        values = process.step(lambda part, values: ops.extend(cut.ops_of(part, values)))
        done["results"] = {position: value_of(values, value) for position, value in process.results.items()}
        done["parts"], done["sent"] = len(process.own), sum(map(len, process.sends.values()))

        def step():
            process.step(cut.run)

    unplaced = program.module(check_guards=False) if settings["reference"] and rank == 0 else None
    for _ in range(settings["warm_up"]):
        step()
    for _ in range(placed.MOST_REPETITIONS):
        done["times"], done["reference"], seconds, waiting = [], [], [], placed.Waiting()
        for _ in range(settings["runs"]):
            dist.barrier()
            begin = time.perf_counter()
            step()
            done["times"].append((begin, time.perf_counter()))
            dist.barrier()
            seconds.append(time.perf_counter() - begin)
            if unplaced is not None:
                done["reference"].append(placed.seconds_of(lambda: unplaced(*inputs)))
        done["waited"] = waiting.share()
        steady = torch.tensor([placed.is_steady(placed.summary(seconds))])
        dist.broadcast(steady, 0)
        if steady:
            break
    torch.save(done, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


def stage_of(cut, rank, inputs, microbatches):
    """A step of GPipe's schedule on the stage of this process, and the results if it is the last one."""
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    stage, stages = Stage(cut, rank), len(cut.rank_of)
    examples = [tuple(cut.fixed[value] if value in cut.fixed else empty_like(value) for value in values)
                for values in (stage.takes, stage.gives)]
    schedule = ScheduleGPipe(PipelineStage(stage, rank, stages, torch.device("cpu"), input_args=examples[0],
                                           output_args=examples[1]), microbatches)
    batch = [torch.cat([cut.fixed[value]] * microbatches) for value in stage.takes] if rank == 0 else []

    def step():
        return schedule.eval(*batch)

    made = step()
    return step, dict(enumerate(flat([made]))) if rank == stages - 1 else {}
