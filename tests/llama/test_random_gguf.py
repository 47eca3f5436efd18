"""scripts/random-gguf: emplace reads its files as the models that they are said to be."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from gguf_writer import TYPES, Tensor, random_blocks, write  # noqa: E402
from random_models import PRESETS, fitting_type, tensors  # noqa: E402

PROGRAM = os.environ.get("EMPLACE_PROGRAM", str(ROOT / "build" / "release" / "emplace"))

# Billions of parameters by the models' papers and cards, without towers for images.
PUBLISHED = {
    "llama-3.2-1b": 1.24, "llama-3.2-3b": 3.21, "llama-2-7b": 6.74, "llama-3.1-8b": 8.03, "llama-3.1-70b": 70.6,
    "llama-3.1-405b": 405.9, "mistral-7b": 7.25, "mixtral-8x7b": 46.7, "mixtral-8x22b": 140.6, "qwen2.5-0.5b": 0.494,
    "qwen2.5-7b": 7.62, "qwen2.5-32b": 32.8, "qwen3-0.6b": 0.596, "qwen3-8b": 8.19, "qwen3-30b-a3b": 30.5,
    "qwen3-235b-a22b": 235.1, "gemma-2-2b": 2.61, "gemma-2-9b": 9.24, "gemma-3-1b": 1.0, "gemma-3-27b": 27.0,
    "deepseek-v2-lite": 15.7, "deepseek-v3": 671, "gpt2": 0.124, "gpt2-xl": 1.56,
}  # fmt: skip


def random_gguf(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "scripts" / "random-gguf", *map(str, arguments)], capture_output=True, text=True)


def inspected(path: Path) -> dict:
    done = subprocess.run([PROGRAM, "inspect", path, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", PRESETS)
def test_models_have_as_many_parameters_as_their_papers_say(name, tmp_path):
    done = random_gguf(name, tmp_path / "model.gguf", "--header")
    assert done.returncode == 0, done.stderr
    assert inspected(tmp_path / "model.gguf")["parameters"] == pytest.approx(PUBLISHED[name] * 1e9, rel=0.01)


def test_a_header_takes_the_room_of_its_vocabulary_alone(tmp_path):
    random_gguf("llama-3.1-405b", tmp_path / "model.gguf", "--header")
    status = (tmp_path / "model.gguf").stat()
    assert status.st_size > 200e9
    assert status.st_blocks * 512 < 10e6


@pytest.mark.parametrize("type_name", TYPES)
def test_random_blocks_have_the_size_of_their_type(type_name):
    data = random_blocks(type_name, 10, np.random.default_rng(1))
    assert len(data) == 10 * TYPES[type_name].bytes
    for place in TYPES[type_name].scales:
        scales = [data[start + place : start + place + 2] for start in range(0, len(data), TYPES[type_name].bytes)]
        assert np.isfinite(np.frombuffer(b"".join(scales), np.float16)).all()


def test_the_same_seed_gives_the_same_file_and_another_one_another(tmp_path):
    files = []
    for number, seed in enumerate((1, 1, 2)):
        path = tmp_path / f"{number}.gguf"
        done = random_gguf("qwen2.5-0.5b", path, "--layers", 1, "--vocabulary", 300, "--seed", seed)
        assert done.returncode == 0, done.stderr
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert files[0] != files[2]
    assert len(files[0]) == len(files[2])


def test_weights_and_headers_have_the_same_length(tmp_path):
    for name, more in (("whole", []), ("header", ["--header"])):
        random_gguf("gpt2", tmp_path / name, "--layers", 1, "--vocabulary", 300, "--type", "Q8_0", *more)
    assert (tmp_path / "whole").stat().st_size == (tmp_path / "header").stat().st_size


def test_norms_are_one_and_biases_zero(tmp_path):
    write(tmp_path / "file", {}, [Tensor("a_norm.weight", (8,), "F32"), Tensor("a.bias", (8,), "F32")])
    assert np.frombuffer((tmp_path / "file").read_bytes()[-64:], np.float32).tolist() == [1.0] * 8 + [0.0] * 8


def test_rows_that_are_not_whole_blocks_get_a_type_with_smaller_ones():
    assert fitting_type("Q4_K", 896) == "Q5_0"  # 896 = 3.5 x 256 = 28 x 32
    assert fitting_type("Q6_K", 896) == "Q8_0"
    assert fitting_type("Q4_K", 1024) == "Q4_K"
    assert fitting_type("Q8_0", 1000) == "F16"
    with pytest.raises(ValueError, match="not whole blocks"):
        _ = Tensor("a.weight", (100, 2), "Q8_0").bytes


def test_experts_and_layers_are_as_asked():
    from random_models import changed

    names = [tensor.name for tensor in tensors(changed(PRESETS["mixtral-8x7b"], layers=2), "Q4_K")]
    assert sum("ffn_gate_exps" in name for name in names) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (["llama-9", "FILE"], "invalid choice"),
        (["gpt2", "FILE", "--type", "Q9"], "invalid choice"),
        (["gpt2", "FILE", "--vocabulary", "10"], "a vocabulary has at least 260 tokens"),
        (["gpt2", "/nowhere/model.gguf"], "No such file"),
    ),
)
def test_what_cannot_be_written_is_said(arguments, message, tmp_path):
    done = random_gguf(*(str(tmp_path / "model.gguf") if word == "FILE" else word for word in arguments))
    assert done.returncode == 2
    assert message in done.stderr
