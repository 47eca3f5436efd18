"""The language models of the zoo have as many parameters as those that transformers builds from the same numbers.

Models are built without memory, on torch's device `meta`, from the rows of src/zoo/language_presets.cpp; what emplace counts
comes from its own formulas (src/language/architecture.cpp)."""
import json
import re

import pytest

from program import ROOT, inspect


try:
    import architectures  # noqa: F401  (torchvision's operators, which transformers needs)
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as error:
    pytest.skip(f"left out: the frameworks are not installed ({error}); run scripts/frameworks", allow_module_level=True)


NUMBERS = ["num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim",
           "vocab_size", "max_position_embeddings"]  # fmt: skip


def presets():
    """Name in the zoo -> members of its config.json."""
    text = (ROOT / "src/zoo/language_presets.cpp").read_text()
    row = re.compile(r'\{"([^"]+)", "([^"]+)", "[^"]+", "([^"]+)", ([\d, ]+?)(?:,\s*(tied|(?:R"\(.*?\)"\s*)+))?\},', re.DOTALL)
    rows = {}
    for family, size, model_type, numbers, more in row.findall(text):
        config = dict(zip(NUMBERS, map(int, numbers.split(", ")), strict=True), model_type=model_type)
        members = ',"tie_word_embeddings":true' if more == "tied" else "".join(re.findall(r'R"\((.*?)\)"', more))
        rows[f"{family}?size={size}"] = config | json.loads("{" + members[1:] + "}")
    return rows


def parameters_of_transformers(config):
    if config["model_type"].startswith("deepseek"):
        config = {key: value for key, value in config.items() if key != "head_dim"} | {"q_lora_rank": config.get("q_lora_rank")}
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    # DeepSeek-V3's file has the biases by which experts are chosen among its weights; here they are buffers.
    biases = [buffer for name, buffer in model.named_buffers() if name.endswith("e_score_correction_bias")]
    return sum(tensor.numel() for tensor in [*model.parameters(), *biases])


def test_every_row_is_read():
    rows = re.findall(r'^    \{"', (ROOT / "src/zoo/language_presets.cpp").read_text(), re.MULTILINE)
    assert len(presets()) == len(rows) > 30


@pytest.mark.parametrize("name", [n if n.startswith("qwen3?size=0.6b") else pytest.param(n, marks=pytest.mark.long) for n in presets()])
def test_a_preset_has_as_many_parameters_as_transformers_builds(name):
    assert inspect(f"zoo:{name}")["parameters"] == parameters_of_transformers(presets()[name])
