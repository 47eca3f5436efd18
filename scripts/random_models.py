"""Language models of known families: the keys and tensors of their GGUF files, by the numbers that their papers give.

Names and sizes of tensors are those that llama.cpp wants (its src/models/*.cpp).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gguf_writer import TYPES, Tensor


@dataclass(frozen=True)
class Model:
    name: str
    family: str  # general.architecture
    layers: int
    hidden: int
    inner: int  # of feed-forward parts without experts
    heads: int
    kv_heads: int
    vocabulary: int
    head_size: int = 0  # 0: hidden / heads
    tied: bool = False
    context: int = 32768
    window: int = 0  # in some layers (Gemma)
    experts: int = 0
    experts_used: int = 0
    expert_inner: int = 0
    shared: int = 0  # experts that all tokens use
    dense_layers: int = 0  # the first ones, without experts
    query_rank: int = 0  # latent attention (DeepSeek)
    kv_rank: int = 0
    rotated: int = 0
    value_size: int = 0

    @property
    def key_size(self) -> int:
        return self.head_size or self.hidden // self.heads


PRESETS = {
    model.name: model
    for model in (
        Model("llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 128256, tied=True, context=131072),
        Model("llama-3.2-3b", "llama", 28, 3072, 8192, 24, 8, 128256, 128, tied=True, context=131072),
        Model("llama-2-7b", "llama", 32, 4096, 11008, 32, 32, 32000, context=4096),
        Model("llama-3.1-8b", "llama", 32, 4096, 14336, 32, 8, 128256, context=131072),
        Model("llama-3.1-70b", "llama", 80, 8192, 28672, 64, 8, 128256, context=131072),
        Model("llama-3.1-405b", "llama", 126, 16384, 53248, 128, 8, 128256, context=131072),
        Model("mistral-7b", "llama", 32, 4096, 14336, 32, 8, 32768),
        Model("mixtral-8x7b", "llama", 32, 4096, 14336, 32, 8, 32000, experts=8, experts_used=2),
        Model("mixtral-8x22b", "llama", 56, 6144, 16384, 48, 8, 32768, context=65536, experts=8, experts_used=2),
        Model("qwen2.5-0.5b", "qwen2", 24, 896, 4864, 14, 2, 151936, tied=True),
        Model("qwen2.5-7b", "qwen2", 28, 3584, 18944, 28, 4, 152064),
        Model("qwen2.5-32b", "qwen2", 64, 5120, 27648, 40, 8, 152064),
        Model("qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 151936, 128, tied=True, context=40960),
        Model("qwen3-8b", "qwen3", 36, 4096, 12288, 32, 8, 151936, 128, context=40960),
        Model("qwen3-30b-a3b", "qwen3moe", 48, 2048, 6144, 32, 4, 151936, 128, context=40960, experts=128,
              experts_used=8, expert_inner=768),
        Model("qwen3-235b-a22b", "qwen3moe", 94, 4096, 12288, 64, 4, 151936, 128, context=40960, experts=128,
              experts_used=8, expert_inner=1536),
        Model("gemma-2-2b", "gemma2", 26, 2304, 9216, 8, 4, 256000, 256, tied=True, context=8192, window=4096),
        Model("gemma-2-9b", "gemma2", 42, 3584, 14336, 16, 8, 256000, 256, tied=True, context=8192, window=4096),
        Model("gemma-3-1b", "gemma3", 26, 1152, 6912, 4, 1, 262144, 256, tied=True, window=512),
        Model("gemma-3-27b", "gemma3", 62, 5376, 21504, 32, 16, 262144, 128, tied=True, context=131072, window=1024),
        Model("deepseek-v2-lite", "deepseek2", 27, 2048, 10944, 16, 16, 102400, 192, context=163840, experts=64,
              experts_used=6, expert_inner=1408, shared=2, dense_layers=1, kv_rank=512, rotated=64, value_size=128),
        Model("deepseek-v3", "deepseek2", 61, 7168, 18432, 128, 128, 129280, 192, context=163840, experts=256,
              experts_used=8, expert_inner=2048, shared=1, dense_layers=3, query_rank=1536, kv_rank=512, rotated=64,
              value_size=128),
        Model("gpt2", "gpt2", 12, 768, 3072, 12, 12, 50257, tied=True, context=1024),
        Model("gpt2-xl", "gpt2", 48, 1600, 6400, 25, 25, 50257, tied=True, context=1024),
    )
}  # fmt: skip


# What llama-quantize takes where rows are not whole blocks of the type that was asked for.
SMALLER_BLOCKS = {"Q2_K": "IQ4_NL", "Q3_K": "IQ4_NL", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}


def fitting_type(type_name: str, row: int) -> str:
    if row % TYPES[type_name].values:
        type_name = SMALLER_BLOCKS.get(type_name, "F16")
    return type_name if row % TYPES[type_name].values == 0 else "F16"


def output_type(type_name: str) -> str:
    """Quantised models keep the matrix of the vocabulary in six bits or more."""
    return "Q6_K" if type_name.startswith(("Q2", "Q3", "Q4", "Q5", "IQ4")) else type_name


def changed(model: Model, *, layers: int = 0, vocabulary: int = 0) -> Model:
    return replace(model, layers=layers or model.layers, vocabulary=vocabulary or model.vocabulary)


def vocabulary_keys(size: int) -> dict:
    """A SentencePiece vocabulary: three special tokens, the 256 bytes, and made-up words."""
    if size < 260:
        raise ValueError(f"a vocabulary has at least 260 tokens, not {size}")
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += [f"▁w{number}" for number in range(size - len(tokens))]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [-float(place) for place in range(size)],
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (size - 259),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }


def keys(model: Model) -> dict:
    out = {
        "context_length": model.context,
        "embedding_length": model.hidden,
        "block_count": model.layers,
        "feed_forward_length": model.inner,
        "attention.head_count": model.heads,
        "attention.head_count_kv": model.kv_heads,
        "vocab_size": model.vocabulary,
    }
    if model.family == "gpt2":
        out["attention.layer_norm_epsilon"] = 1e-5
    else:
        out |= {"attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 10000.0}
    if model.kv_rank:
        out |= latent_keys(model)
    elif model.family != "gpt2":
        out |= {"attention.key_length": model.key_size, "attention.value_length": model.key_size,
                "rope.dimension_count": model.key_size}  # fmt: skip
    if model.window:
        out["attention.sliding_window"] = model.window
    if model.family == "gemma2":
        out |= {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}
    if model.experts:
        out |= {"expert_count": model.experts, "expert_used_count": model.experts_used}
    if model.expert_inner:
        out["expert_feed_forward_length"] = model.expert_inner
    named = {f"{model.family}.{key}": value for key, value in out.items()}
    start = {"general.architecture": model.family, "general.type": "model", "general.name": model.name}
    return start | named | vocabulary_keys(model.vocabulary)


def latent_keys(model: Model) -> dict:
    """llama.cpp's form: attention has one key-value head, whose key is the compressed vector and the rotated part."""
    out = {
        "attention.head_count_kv": 1,
        "attention.key_length": model.kv_rank + model.rotated,
        "attention.value_length": model.kv_rank,
        "attention.key_length_mla": model.key_size,
        "attention.value_length_mla": model.value_size,
        "attention.kv_lora_rank": model.kv_rank,
        "rope.dimension_count": model.rotated,
        "leading_dense_block_count": model.dense_layers,
        "expert_shared_count": model.shared,
        "expert_weights_scale": 1.0,
    }
    return out | ({"attention.q_lora_rank": model.query_rank} if model.query_rank else {})


class Tensors:
    """Collects the tensors of a model whose matrices are of one type."""

    def __init__(self, model: Model, type_name: str):
        self.model, self.type, self.all = model, type_name, []

    def matrix(self, name: str, *sizes: int, type_name: str = "") -> None:
        self.all.append(Tensor(f"{name}.weight", sizes, fitting_type(type_name or self.type, sizes[0])))

    def vector(self, name: str, size: int) -> None:
        self.all.append(Tensor(name, (size,), "F32"))

    def product(self, name: str, columns: int, rows: int, *, bias: bool = False) -> None:
        self.matrix(name, columns, rows)
        if bias or self.model.family == "gpt2":
            self.vector(f"{name}.bias", rows)

    def norm(self, name: str, size: int) -> None:
        self.vector(f"{name}.weight", size)
        if self.model.family == "gpt2":
            self.vector(f"{name}.bias", size)


def tensors(model: Model, type_name: str) -> list[Tensor]:
    to = Tensors(model, type_name)
    embedding = output_type(type_name) if model.tied else type_name
    to.matrix("token_embd", model.hidden, model.vocabulary, type_name=embedding)
    if model.family == "gpt2":
        to.matrix("position_embd", model.hidden, model.context, type_name="F32")
    for layer in range(model.layers):
        add_layer(to, f"blk.{layer}.", layer)
    to.norm("output_norm", model.hidden)
    if not model.tied:
        to.matrix("output", model.hidden, model.vocabulary, type_name=output_type(type_name))
    return to.all


def add_layer(to: Tensors, layer: str, number: int) -> None:
    model = to.model
    gemma = model.family.startswith("gemma")
    to.norm(layer + "attn_norm", model.hidden)
    if model.kv_rank:
        add_latent_attention(to, layer)
    elif model.family == "gpt2":
        to.product(layer + "attn_qkv", model.hidden, 3 * model.hidden)
        to.product(layer + "attn_output", model.hidden, model.hidden)
    else:
        add_attention(to, layer)
    if gemma:
        to.norm(layer + "post_attention_norm", model.hidden)
    to.norm(layer + "ffn_norm", model.hidden)
    if model.experts and number >= model.dense_layers:
        add_experts(to, layer)
    else:
        add_feed_forward(to, layer, "", model.inner)
    if gemma:
        to.norm(layer + "post_ffw_norm", model.hidden)


def add_attention(to: Tensors, layer: str) -> None:
    model = to.model
    bias = model.family == "qwen2"
    to.product(layer + "attn_q", model.hidden, model.heads * model.key_size, bias=bias)
    to.product(layer + "attn_k", model.hidden, model.kv_heads * model.key_size, bias=bias)
    to.product(layer + "attn_v", model.hidden, model.kv_heads * model.key_size, bias=bias)
    if model.family in ("qwen3", "qwen3moe", "gemma3"):
        to.norm(layer + "attn_q_norm", model.key_size)
        to.norm(layer + "attn_k_norm", model.key_size)
    to.product(layer + "attn_output", model.heads * model.key_size, model.hidden)


def add_latent_attention(to: Tensors, layer: str) -> None:
    model = to.model
    queries = model.heads * model.key_size
    if model.query_rank:
        to.product(layer + "attn_q_a", model.hidden, model.query_rank)
        to.norm(layer + "attn_q_a_norm", model.query_rank)
        to.product(layer + "attn_q_b", model.query_rank, queries)
    else:
        to.product(layer + "attn_q", model.hidden, queries)
    to.product(layer + "attn_kv_a_mqa", model.hidden, model.kv_rank + model.rotated)
    to.norm(layer + "attn_kv_a_norm", model.kv_rank)
    to.matrix(layer + "attn_k_b", model.key_size - model.rotated, model.kv_rank, model.heads)
    to.matrix(layer + "attn_v_b", model.kv_rank, model.value_size, model.heads)
    to.product(layer + "attn_output", model.heads * model.value_size, model.hidden)


def add_feed_forward(to: Tensors, layer: str, suffix: str, inner: int) -> None:
    if to.model.family != "gpt2":
        to.product(f"{layer}ffn_gate{suffix}", to.model.hidden, inner)
    to.product(f"{layer}ffn_up{suffix}", to.model.hidden, inner)
    to.product(f"{layer}ffn_down{suffix}", inner, to.model.hidden)


def add_experts(to: Tensors, layer: str) -> None:
    model = to.model
    inner = model.expert_inner or model.inner
    to.matrix(layer + "ffn_gate_inp", model.hidden, model.experts, type_name="F32")
    to.matrix(layer + "ffn_gate_exps", model.hidden, inner, model.experts)
    to.matrix(layer + "ffn_up_exps", model.hidden, inner, model.experts)
    to.matrix(layer + "ffn_down_exps", inner, model.hidden, model.experts)
    if model.shared:
        add_feed_forward(to, layer, "_shexp", model.shared * inner)
