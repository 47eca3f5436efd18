"""Reads the llama-server line that `emplace fit` prints, and asks llama.cpp how much memory it would take."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from llama_devices import RpcDevices
from llama_library import Division, Llama

EXPERTS = r"\.ffn_(up|down|gate)_exps"


@dataclass
class Line:
    """Options of llama-server; `devices` and the devices of `moved` are numbers of accelerators, None is the CPU."""

    model: str
    context: int  # of all sequences
    sequences: int = 1
    micro_batch: int = 512
    cache_type: str = "F16"
    gpu_layers: int = 0
    devices: list[int] | None = None
    shares: list[float] = field(default_factory=list)
    moved: list[tuple[str, int | None]] = field(default_factory=list)


def device_number(name: str) -> int | None:
    return None if name == "CPU" else int(name.removeprefix("CUDA"))


def read_line(text: str) -> Line:
    words = shlex.split(text)
    if words[0] != "llama-server" or len(words) % 2 == 0:
        raise ValueError(f"not a line of llama-server with options and values: {text}")
    line = Line(model="", context=0)
    for option, value in zip(words[1::2], words[2::2]):
        if option == "-m":
            line.model = value
        elif option == "-c":
            line.context = int(value)
        elif option == "-np":
            line.sequences = int(value)
        elif option == "-ub":
            line.micro_batch = int(value)
        elif option in ("-ctk", "-ctv"):
            line.cache_type = value.upper()
        elif option == "-ngl":
            line.gpu_layers = int(value)
        elif option == "-dev":
            line.devices = [device_number(name) for name in value.split(",")]
        elif option == "-ts":
            line.shares = [float(share) for share in value.split(",")]
        elif option == "-ot":
            pattern, _, name = value.rpartition("=")
            line.moved.append((pattern, device_number(name)))
        elif option == "--n-cpu-moe":
            line.moved += [(rf"blk\.{layer}{EXPERTS}", None) for layer in range(int(value))]
        else:
            raise ValueError(f"an option that is not known here: {option} in {text}")
    return line


def memory_of(llama: Llama, line: Line, path: Path, rpc: RpcDevices | None) -> list[dict[str, int]]:
    """Bytes of weights, context, compute and outputs: of the CPU, then of each accelerator."""
    accelerators = rpc.devices if rpc else []
    used = accelerators if line.devices is None else [accelerators[number] for number in line.devices]
    moved = [(pattern, None if number is None else rpc.buffer_type(accelerators[number]))
             for pattern, number in line.moved]  # fmt: skip
    model = llama.load(path, memory_only=True, division=Division(used, line.gpu_layers, line.shares, moved))
    llama.fresh_log()
    context = llama.context(model, context=line.context // line.sequences, sequences=line.sequences,
                            cache_type=line.cache_type, micro_batch=line.micro_batch,
                            outputs=line.sequences)  # fmt: skip
    try:
        found = llama.memory(context)
    finally:
        llama.api.llama_free(context)
        llama.api.llama_model_free(model)
    sums = [{"weights": 0, "context": 0, "compute": 0, "outputs": 0} for _ in range(1 + len(accelerators))]
    names = [rpc.name(device) for device in accelerators] if rpc else []
    for name, parts in found.items():
        place = 1 + names.index(name) if name in names else 0
        for part, size in parts.items():
            sums[place][part] += size
    sums[0]["outputs"] = llama.outputs()
    return sums
