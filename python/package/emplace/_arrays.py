"""Converts arguments to the arrays that the C++ module takes; InputError says what an argument must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import InputError


def shape_text(shape: Sequence[object]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def integers(values: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """int64 of this shape; a single number is repeated."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{name}: must be whole numbers, found {array.dtype}")
    return of_shape(array.astype(np.int64), name, shape)


def floats(values: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """float64 of this shape; a single number is repeated."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be numbers ({error})") from None
    return of_shape(array, name, shape)


def of_shape(array: npt.NDArray[Any], name: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if array.ndim == 0:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    if array.shape != shape:
        raise InputError(f"{name}: must have shape {shape_text(shape)}, found {shape_text(array.shape)}")
    return np.ascontiguousarray(array)


def texts(values: Sequence[str] | None, name: str, count: int, default: str) -> list[str]:
    """`count` texts; without `values` each is `default`, with its number in place of #."""
    if values is None:
        return [default.replace("#", str(i)) for i in range(count)]
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{name}: must be a list of texts")
    if len(values) != count:
        raise InputError(f"{name}: must have {count} texts, found {len(values)}")
    return list(values)


def device_rows(
    placements: npt.ArrayLike, ops: int, name: str = "placements"
) -> tuple[npt.NDArray[np.uint8], tuple[int, ...]]:
    """Placements as uint8[B, N] (no copy if they are uint8 already), and the shape of the batch."""
    array = np.asarray(placements)
    if array.dtype != np.uint8:
        if array.dtype.kind not in "iu":
            raise InputError(f"{name}: must be devices as uint8 (or other whole numbers), found {array.dtype}")
        if array.size and (array.min() < 0 or array.max() > 255):
            wrong = array.min() if array.min() < 0 else array.max()
            raise InputError(f"{name}: a device is a number from 0 to 254, found {wrong}")
        array = array.astype(np.uint8)
    if array.ndim == 0 or array.shape[-1] != ops:
        raise InputError(f"{name}: must have shape [..., {ops}] (one device per op), found {shape_text(array.shape)}")
    return array.reshape(-1, ops), array.shape[:-1]


def one_placement(placement: npt.ArrayLike, ops: int, name: str = "placement") -> npt.NDArray[np.uint8]:
    """One placement as uint8[N]."""
    shape = np.shape(placement)
    if shape != (ops,):
        raise InputError(f"{name}: must have shape [{ops}] (one device per op), found {shape_text(shape)}")
    return device_rows(placement, ops, name)[0].reshape(ops)


def order_rows(order: npt.ArrayLike | None, ops: int, batch: tuple[int, ...]) -> npt.NDArray[np.uint32] | None:
    """One order for all placements as uint32[N], or one for each placement as uint32[B, N]."""
    if order is None:
        return None
    array = np.asarray(order)
    if array.dtype != np.uint32:
        if array.dtype.kind not in "iu":
            raise InputError(f"order: must be op numbers as uint32 (or other whole numbers), found {array.dtype}")
        if array.size and (array.min() < 0 or array.max() >= 2**32):
            raise InputError(f"order: an op is a number from 0 to {ops - 1}, found {array.min()} to {array.max()}")
        array = array.astype(np.uint32)
    if array.shape == (ops,):
        return array
    if array.shape != (*batch, ops):
        wanted = f"[{ops}]" + (f" or {shape_text((*batch, ops))}" if batch else "")
        raise InputError(f"order: must have shape {wanted}, found {shape_text(array.shape)}")
    return array.reshape(-1, ops)


def edge_list(edges: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
    """int64[E, 2]; None: no edges."""
    array = np.zeros((0, 2), dtype=np.int64) if edges is None else np.asarray(edges)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"edges: must have shape [E, 2], found {shape_text(array.shape)}")
    return integers(array, "edges", (len(array), 2))


def bandwidths(values: npt.ArrayLike | None, devices: int) -> npt.NDArray[np.float64]:
    """float64[D, D]; only a problem of one device needs none."""
    if values is None and devices > 1:
        raise InputError(f"bandwidth_bytes_per_s: is missing; it must have shape [{devices}, {devices}]")
    return floats(0.0 if values is None else values, "bandwidth_bytes_per_s", (devices, devices))


def memory_list(values: Any, devices: int) -> list[int | None]:
    """None: no limit."""
    listed = [values] * devices if np.ndim(values) == 0 else list(values)
    if len(listed) != devices:
        raise InputError(f"memory_bytes: must have shape [{devices}], found [{len(listed)}]")
    numbers = [None if value is None or value == np.inf else int(value) for value in listed]
    for device, number in enumerate(numbers):
        if number is not None and not 0 <= number <= 2**62:
            raise InputError(f"memory_bytes: must be from 0 to 2^62, found {number} for device {device}")
    return numbers


def shape_list(shapes: Sequence[Sequence[int] | None] | None, edges: int) -> list[list[int] | None]:
    if shapes is None:
        return []
    if len(shapes) != edges:
        raise InputError(f"edge_shapes: must have {edges} shapes, found {len(shapes)}")
    return [None if shape is None else integers(shape, "edge_shapes", (len(shape),)).tolist() for shape in shapes]


def group_name_list(groups: npt.ArrayLike | None, ops: int) -> list[str]:
    if groups is None or np.asarray(groups).dtype.kind == "U":
        names = None if groups is None else [str(group) for group in np.asarray(groups)]
        return texts(names, "groups", ops, "")
    return ["" if group < 0 else f"group:{group}" for group in integers(groups, "groups", (ops,))]
