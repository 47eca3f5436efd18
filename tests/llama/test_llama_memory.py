"""What llama.cpp itself says of files of scripts/random-gguf, and of the memory that emplace plans. Left out where
scripts/llama-libraries has not installed llama.cpp's libraries."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from gguf_writer import write  # noqa: E402
from llama_line import read_line  # noqa: E402
from random_models import PRESETS, changed, keys, tensors  # noqa: E402

PROGRAM = os.environ.get("EMPLACE_PROGRAM", str(ROOT / "build" / "release" / "emplace"))
INSTALLED = subprocess.run([ROOT / "scripts" / "llama-libraries", "--check"], capture_output=True).returncode == 0
needs_llama = pytest.mark.skipif(not INSTALLED, reason="scripts/llama-libraries has not installed llama.cpp")


@pytest.fixture(scope="module")
def llama():
    from llama_library import Llama

    return Llama()


@needs_llama
@pytest.mark.parametrize("name", ("llama-3.2-1b", "qwen2.5-0.5b", "qwen3-0.6b", "gemma-2-2b", "gemma-3-1b", "gpt2"))
@pytest.mark.parametrize("type_name", ("F16", "Q8_0", "Q4_K"))
def test_llama_cpp_computes_finite_logits_with_random_weights(llama, name, type_name, tmp_path):
    model_numbers = changed(PRESETS[name], layers=2, vocabulary=300)
    path = tmp_path / "model.gguf"
    write(path, keys(model_numbers), tensors(model_numbers, type_name))
    model = llama.load(path, memory_only=False)
    context = llama.context(model, context=256)
    tokens = (ctypes.c_int32 * 8)(*range(260, 268))
    assert llama.api.llama_decode(context, llama.api.llama_batch_get_one(tokens, 8)) == 0
    llama.api.llama_get_logits.restype = ctypes.POINTER(ctypes.c_float)
    llama.api.llama_get_logits.argtypes = [ctypes.c_void_p]
    logits = np.ctypeslib.as_array(llama.api.llama_get_logits(context), (300,)).copy()
    llama.api.llama_free(context)
    llama.api.llama_model_free(model)
    assert np.isfinite(logits).all()
    assert logits.std() > 0


@needs_llama
def test_counted_memory_is_what_llama_cpp_takes_for_a_whole_file(llama, tmp_path):
    model_numbers = changed(PRESETS["qwen3-0.6b"], layers=3, vocabulary=5000)
    sums = []
    for weights in (False, True):
        path = tmp_path / f"{weights}.gguf"
        write(path, keys(model_numbers), tensors(model_numbers, "Q4_K"), weights=weights)
        model = llama.load(path, memory_only=not weights)
        context = llama.context(model, context=1024, cache_type="Q8_0")
        sums.append(llama.memory(context))
        llama.api.llama_free(context)
        llama.api.llama_model_free(model)
    assert sums[0] == sums[1]


@needs_llama
def test_planned_memory_is_within_two_percent_of_what_llama_cpp_counts():
    done = subprocess.run([ROOT / "scripts" / "llama-memory", "--short", "--program", PROGRAM], capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| mixtral-8x7b |") == 2  # its CPU and its GPU


def test_lines_are_read_as_emplace_writes_them():
    line = read_line(
        r"llama-server -m 'a b.gguf' -c 8192 -np 2 -ctk q8_0 -ctv q8_0 -ngl 20 -dev CUDA1,CUDA0 -ts 3,17 "
        r"-ot 'blk\.(3|4)\.ffn_.*_exps\.=CUDA1' --n-cpu-moe 2"
    )
    assert (line.model, line.context, line.sequences, line.cache_type) == ("a b.gguf", 8192, 2, "Q8_0")
    assert (line.gpu_layers, line.devices, line.shares) == (20, [1, 0], [3.0, 17.0])
    assert line.moved == [
        (r"blk\.(3|4)\.ffn_.*_exps\.", 1),
        (r"blk\.0\.ffn_(up|down|gate)_exps", None),
        (r"blk\.1\.ffn_(up|down|gate)_exps", None),
    ]
    with pytest.raises(ValueError, match="an option that is not known here: -x"):
        read_line("llama-server -x 1")
    with pytest.raises(ValueError, match="not a line of llama-server"):
        read_line("vllm serve")
