"""Writes GGUF files, version 3 (ggml/docs/gguf.md), with random weights.

A file holds keys with values, then the name, sizes, type and place of each tensor, then the weights. `write` either
writes random weights or only makes the file as long as they would make it (a sparse file, which takes no room).
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

import numpy as np

ALIGNMENT = 32


@dataclass(frozen=True)
class BlockType:
    """A ggml type: its number, values and bytes of a block, and where in a block half-precision scales are."""

    number: int
    values: int
    bytes: int
    scales: tuple[int, ...] = ()


TYPES = {
    "F32": BlockType(0, 1, 4),
    "F16": BlockType(1, 1, 2),
    "Q4_0": BlockType(2, 32, 18, (0,)),
    "Q4_1": BlockType(3, 32, 20, (0, 2)),
    "Q5_0": BlockType(6, 32, 22, (0,)),
    "Q5_1": BlockType(7, 32, 24, (0, 2)),
    "Q8_0": BlockType(8, 32, 34, (0,)),
    "Q2_K": BlockType(10, 256, 84, (80, 82)),
    "Q3_K": BlockType(11, 256, 110, (108,)),
    "Q4_K": BlockType(12, 256, 144, (0, 2)),
    "Q5_K": BlockType(13, 256, 176, (0, 2)),
    "Q6_K": BlockType(14, 256, 210, (208,)),
    "IQ4_NL": BlockType(20, 32, 18, (0,)),
    "BF16": BlockType(30, 1, 2),
}


@dataclass(frozen=True)
class Tensor:
    """Name, sizes (the first is that of a row), and type of a stored tensor."""

    name: str
    sizes: tuple[int, ...]
    type: str

    @property
    def bytes(self) -> int:
        block = TYPES[self.type]
        rows = 1
        for size in self.sizes[1:]:
            rows *= size
        if self.sizes[0] % block.values:
            raise ValueError(f"{self.name}: rows of {self.sizes[0]} values are not whole blocks of {self.type}")
        return self.sizes[0] // block.values * block.bytes * rows


def padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(value) -> bytes:
    """The type's number and the value. Whole numbers have 32 bits, in lists with a sign."""
    if isinstance(value, list):
        kind = {int: 5, float: 6, str: 8}[type(value[0])]
        items = b"".join(map(text, value)) if kind == 8 else np.array(value, "<i4" if kind == 5 else "<f4").tobytes()
        return struct.pack("<IIQ", 9, kind, len(value)) + items
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<I", 8) + text(value)


def header(keys: dict, tensors: list[Tensor]) -> bytes:
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(keys))]
    for key, value in keys.items():
        parts += [text(key), value_bytes(value)]
    offset = 0
    for tensor in tensors:
        sizes = struct.pack(f"<I{len(tensor.sizes)}Q", len(tensor.sizes), *tensor.sizes)
        parts += [text(tensor.name), sizes, struct.pack("<IQ", TYPES[tensor.type].number, offset)]
        offset += padded(tensor.bytes)
    data = b"".join(parts)
    return data + bytes(padded(len(data)) - len(data))


def random_blocks(type_name: str, count: int, random: np.random.Generator) -> bytes:
    """`count` blocks of finite, small values: all bytes are random but for the scales."""
    block = TYPES[type_name]
    if block.values == 1:
        values = random.normal(0, 0.02, count).astype(np.float32)
        if type_name == "BF16":
            return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        return values.astype(np.float16 if type_name == "F16" else np.float32).tobytes()
    data = random.integers(0, 256, (count, block.bytes), dtype=np.uint8)
    for place in block.scales:
        data[:, place : place + 2] = np.frombuffer(np.float16(0.0005).tobytes(), np.uint8)
    return data.tobytes()


class RandomWeights:
    """Bytes of tensors: norms are 1, biases 0, of the rest about 4 MB of random values are repeated."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)
        self._chunks: dict[str, bytes] = {}

    def write(self, file, tensor: Tensor) -> None:
        if len(tensor.sizes) == 1:
            fill = np.float32(0 if tensor.name.endswith(".bias") else 1)
            file.write(np.full(tensor.sizes[0], fill, np.float32).tobytes())
        else:
            chunk = self._chunk(tensor.type)
            for left in range(tensor.bytes, 0, -len(chunk)):
                file.write(chunk[:left])
        file.write(bytes(padded(tensor.bytes) - tensor.bytes))

    def _chunk(self, type_name: str) -> bytes:
        if type_name not in self._chunks:
            count = (4 << 20) // TYPES[type_name].bytes
            self._chunks[type_name] = random_blocks(type_name, count, self._random)
        return self._chunks[type_name]


def write(path: str | os.PathLike, keys: dict, tensors: list[Tensor], *, weights: bool = True, seed: int = 1) -> int:
    """Writes the file and returns its size in bytes. Without `weights` it is a sparse file of that size."""
    with open(path, "wb") as file:
        file.write(header(keys, tensors))
        if weights:
            values = RandomWeights(seed)
            for tensor in tensors:
                values.write(file, tensor)
        else:
            file.truncate(file.tell() + sum(padded(tensor.bytes) for tensor in tensors))
        file.flush()
        return os.fstat(file.fileno()).st_size
