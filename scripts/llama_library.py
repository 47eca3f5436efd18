"""llama.cpp's libraries, as npm's package @node-llama-cpp/linux-x64 has them, called through ctypes.

The structs are those of llama.h at the pinned version (scripts/llama-libraries), whose version `Llama` checks.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_float, c_int, c_int32, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "llama"  # scripts/llama-libraries
VERSION = "0.5.0"
CACHE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8}
LOG = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)


class ModelParameters(Structure):
    _fields_ = [
        ("devices", POINTER(c_void_p)), ("overrides", c_void_p), ("n_gpu_layers", c_int32), ("split_mode", c_int),
        ("load_mode", c_int), ("lazy_mode", c_int), ("main_gpu", c_int32), ("tensor_split", POINTER(c_float)),
        ("progress", c_void_p), ("progress_data", c_void_p), ("kv_overrides", c_void_p), ("vocab_only", c_bool),
        ("check_tensors", c_bool), ("use_extra_bufts", c_bool), ("no_host", c_bool), ("no_alloc", c_bool),
        ("load_mtp", c_bool),
    ]  # fmt: skip


class ContextParameters(Structure):
    _fields_ = [
        ("n_ctx", c_uint32), ("n_batch", c_uint32), ("n_ubatch", c_uint32), ("n_seq_max", c_uint32),
        ("n_rs_seq", c_uint32), ("n_outputs_max", c_uint32), ("n_outputs_max_per_seq", c_uint32),
        ("n_threads", c_int32), ("n_threads_batch", c_int32), ("ctx_type", c_int), ("rope_scaling_type", c_int),
        ("pooling_type", c_int), ("attention_type", c_int), ("flash_attn_type", c_int), ("rope_freq_base", c_float),
        ("rope_freq_scale", c_float), ("yarn_ext_factor", c_float), ("yarn_attn_factor", c_float),
        ("yarn_beta_fast", c_float), ("yarn_beta_slow", c_float), ("yarn_orig_ctx", c_uint32),
        ("defrag_thold", c_float), ("eval_callback", c_void_p), ("eval_data", c_void_p), ("type_k", c_int),
        ("type_v", c_int), ("abort_callback", c_void_p), ("abort_data", c_void_p), ("embeddings", c_bool),
        ("offload_kqv", c_bool), ("no_perf", c_bool), ("op_offload", c_bool), ("swa_full", c_bool),
        ("kv_unified", c_bool), ("samplers", c_void_p), ("n_samplers", c_size_t), ("ctx_other", c_void_p),
    ]  # fmt: skip


class Batch(Structure):
    _fields_ = [("n_tokens", c_int32), ("token", POINTER(c_int32)), ("embd", c_void_p), ("pos", c_void_p),
                ("n_seq_id", c_void_p), ("seq_id", c_void_p), ("logits", c_void_p)]  # fmt: skip


class Override(Structure):
    _fields_ = [("pattern", c_char_p), ("buffer_type", c_void_p)]


@dataclass
class Division:
    """What -dev, -ngl, -ts and -ot say. Patterns of `moved` are of tensors with a buffer type; None: the CPU's."""

    devices: list[int]
    gpu_layers: int
    shares: list[float] = field(default_factory=list)
    moved: list[tuple[str, int | None]] = field(default_factory=list)

    def put_into(self, parameters: ModelParameters, cpu: int) -> list:
        devices = (c_void_p * (len(self.devices) + 1))(*self.devices, None)
        shares = (c_float * 128)(*self.shares)
        moved = (Override * (len(self.moved) + 1))(*((text.encode(), kind or cpu) for text, kind in self.moved))
        parameters.devices, parameters.n_gpu_layers = devices, self.gpu_layers
        parameters.tensor_split, parameters.overrides = shares, ctypes.cast(moved, c_void_p)
        return [devices, shares, moved]


class Llama:
    """The loaded libraries; `log` holds what llama.cpp has printed since the last call of `fresh_log`."""

    def __init__(self, folder: Path = FOLDER):
        bins = folder / "package" / "bins" / "linux-x64"
        self.base = ctypes.CDLL(str(bins / "libggml-base.so"), mode=ctypes.RTLD_GLOBAL)
        self.ggml = ctypes.CDLL(str(bins / f"libggml.v{VERSION}.so"), mode=ctypes.RTLD_GLOBAL)
        self.api = ctypes.CDLL(str(bins / f"libllama.v{VERSION}.so"), mode=ctypes.RTLD_GLOBAL)
        self.log = ""
        self._callback = LOG(self._note)
        self._declare()
        self.api.llama_log_set(self._callback, None)
        self.ggml.ggml_backend_load_all_from_path(str(bins).encode())

    def _note(self, _level, text, _data) -> None:
        self.log += text.decode(errors="replace")

    def fresh_log(self) -> None:
        self.log = ""

    def _declare(self) -> None:
        api = self.api
        for name, result, arguments in (
            ("llama_version", c_char_p, []),
            ("llama_model_default_params", ModelParameters, []),
            ("llama_context_default_params", ContextParameters, []),
            ("llama_model_load_from_file", c_void_p, [c_char_p, ModelParameters]),
            ("llama_init_from_model", c_void_p, [c_void_p, ContextParameters]),
            ("llama_model_get_vocab", c_void_p, [c_void_p]),
            ("llama_vocab_n_tokens", c_int32, [c_void_p]),
            ("llama_batch_get_one", Batch, [POINTER(c_int32), c_int32]),
            ("llama_decode", c_int32, [c_void_p, Batch]),
            ("llama_get_memory", c_void_p, [c_void_p]),
            ("llama_memory_clear", None, [c_void_p, c_bool]),
            ("llama_synchronize", None, [c_void_p]),
            ("llama_free", None, [c_void_p]),
            ("llama_model_free", None, [c_void_p]),
            ("llama_log_set", None, [LOG, c_void_p]),
        ):
            function = getattr(api, name)
            function.restype, function.argtypes = result, arguments
        for name, result, arguments in (
            ("ggml_backend_load_all_from_path", None, [c_char_p]),
            ("ggml_backend_dev_get", c_void_p, [c_size_t]),
        ):
            function = getattr(self.ggml, name)
            function.restype, function.argtypes = result, arguments
        for name, result, arguments in (
            ("ggml_backend_buft_name", c_char_p, [c_void_p]),
            ("ggml_backend_cpu_buffer_type", c_void_p, []),
            ("ggml_backend_reg_dev_get", c_void_p, [c_void_p, c_size_t]),
            ("ggml_backend_dev_buffer_type", c_void_p, [c_void_p]),
        ):
            function = getattr(self.base, name)
            function.restype, function.argtypes = result, arguments
        self._breakdown = getattr(api, "_Z26llama_get_memory_breakdownPK13llama_context")
        self._breakdown.restype, self._breakdown.argtypes = None, [c_void_p, c_void_p]

    def load(self, path: Path, *, memory_only: bool, division: Division | None = None):
        """`memory_only` counts memory without reading or reserving it: works with files without weights."""
        parameters = self.api.llama_model_default_params()
        parameters.no_alloc = memory_only
        parameters.load_mode = 0
        if division:
            kept_alive = division.put_into(parameters, self.base.ggml_backend_cpu_buffer_type())  # noqa: F841
        model = self.api.llama_model_load_from_file(str(path).encode(), parameters)
        if not model:
            raise RuntimeError(f"llama.cpp does not load {path}: {self.log[-600:]}")
        return model

    def context(self, model, *, context: int, sequences: int = 1, cache_type: str = "F16", flash: bool = True,
                threads: int = 1, micro_batch: int = 512, outputs: int = 0):  # fmt: skip
        parameters = self.api.llama_context_default_params()
        parameters.n_ctx = context * sequences
        parameters.n_batch = max(2048, micro_batch)
        parameters.n_ubatch = micro_batch
        parameters.n_seq_max = sequences
        parameters.n_outputs_max = outputs
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.type_k = parameters.type_v = CACHE_TYPES[cache_type]
        parameters.flash_attn_type = -1 if flash else 0
        # As llama-cli and llama-server set it: layers with a window keep no more than the window.
        parameters.swa_full = False
        made = self.api.llama_init_from_model(model, parameters)
        if not made:
            raise RuntimeError(f"llama.cpp makes no context: {self.log[-600:]}")
        return made

    def outputs(self) -> int:
        """Bytes of the logits' buffer, as the log since the last fresh_log has them (in hundredths of a MiB)."""
        return round(float(re.findall(r"output buffer size = *([0-9.]+) MiB", self.log)[-1]) * 2**20)

    def memory(self, context) -> dict[str, dict[str, int]]:
        """Bytes of weights, context and compute by kind of buffer, as llama_get_memory_breakdown gives them."""
        tree = (c_size_t * 6)()  # std::map: comparison, header (colour, parent, left, right), count
        self._breakdown(byref(tree), context)
        return {
            self.base.ggml_backend_buft_name(key).decode(): dict(zip(("weights", "context", "compute"), values))
            for key, values in entries(tree[2])
        }


def entries(node: int):
    """Keys and values of a libstdc++ map of a pointer to three sizes, from the address of its root."""
    if node:
        words = (c_size_t * 8).from_address(node)
        yield from entries(words[2])
        yield words[4], tuple(words[5:8])
        yield from entries(words[3])
