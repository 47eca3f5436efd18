"""Real architectures with random weights, in the sizes in which this machine exports them in seconds.

Each entry makes (model, inputs): the module and the keyword arguments of its forward. The layers are those of the
published configuration; what is smaller (layers, widths, vocabulary, sequence) is said in its sentence. Nothing is
downloaded.
"""
import sys
from dataclasses import dataclass
from typing import Callable

import torch

from export_tensorflow import MODELS


def import_torchvision():
    """torchvision registers operators when it is imported, and fails if its compiled ops did not load because they belong to
    another build of torch. None is used here: defining the two that it asks for is enough. Returns what keeps them."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        operators = torch.library.Library("torchvision", "FRAGMENT")
        for operator in ("nms", "qnms"):
            operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision  # noqa: F401
        return operators


operators = import_torchvision()  # the definitions end with this object


def vision(name, size=224, **options):
    def make():
        import torchvision
        model = getattr(torchvision.models, name)(weights=None, **options)
        return model, {"x": torch.rand(1, 3, size, size)}
    return make


class Only(torch.nn.Module):
    """A model of transformers with one tensor as its result: the named output, without caches."""

    def __init__(self, model, output, inputs, **fixed):
        super().__init__()
        self.model, self.output, self.fixed = model, output, fixed
        self.names = inputs

    def forward(self, first, second=None):
        given = (first,) if second is None else (first, second)
        return self.model(**dict(zip(self.names, given)), **self.fixed, return_dict=True)[self.output]


def only(model, output, inputs, **fixed):
    names = list(inputs)
    return Only(model, output, names, **fixed), dict(zip(("first", "second"), inputs.values()))


def tokens(vocabulary, length):
    return torch.randint(0, vocabulary, (1, length))


def text(config_class, model_class, output, length=128, use_cache=None, **config):
    """A language model that reads `length` tokens."""
    def make():
        import transformers
        settings = getattr(transformers, config_class)(**config)
        if use_cache is not None:
            settings.use_cache = use_cache
        model = getattr(transformers, model_class)(settings)
        return only(model, output, {"input_ids": tokens(settings.vocab_size, length)})
    return make


def t5():
    import transformers
    # With the fused attention, torch.onnx.export fails on a view of T5's attention.
    config = transformers.T5Config(use_cache=False, attn_implementation="eager")
    model = transformers.T5ForConditionalGeneration(config)
    return only(model, "logits", {"input_ids": tokens(32128, 64), "decoder_input_ids": tokens(32128, 32)},
                use_cache=False)


def whisper():
    import transformers
    config = transformers.WhisperConfig(d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
                                        decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536,
                                        use_cache=False)
    model = transformers.WhisperForConditionalGeneration(config)
    return only(model, "logits", {"input_features": torch.rand(1, 80, 3000), "decoder_input_ids": tokens(51865, 16)},
                use_cache=False)


def clip():
    import transformers
    model = transformers.CLIPModel(transformers.CLIPConfig())
    return only(model, "logits_per_image", {"input_ids": tokens(49408, 77), "pixel_values": torch.rand(1, 3, 224, 224)})


def mixtral():
    import transformers
    config = transformers.MixtralConfig(num_hidden_layers=2, hidden_size=512, intermediate_size=1792, vocab_size=8000,
                                        num_attention_heads=8, num_key_value_heads=2, use_cache=False)
    # The experts of each token are multiplied as a batch: the one of transformers' forms that all exporters take.
    config._experts_implementation = "batched_mm"
    model = transformers.MixtralForCausalLM(config)
    return only(model, "logits", {"input_ids": tokens(8000, 32)})


def segformer():
    import transformers
    model = transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig())
    return only(model, "logits", {"pixel_values": torch.rand(1, 3, 256, 256)})


class Denoise(torch.nn.Module):
    def __init__(self, unet):
        super().__init__()
        self.unet = unet

    def forward(self, sample, timestep, encoder_hidden_states):
        return self.unet(sample, timestep, encoder_hidden_states, return_dict=False)[0]


def unet():
    import diffusers
    model = diffusers.UNet2DConditionModel(sample_size=32, block_out_channels=(128, 256, 512, 512),
                                           cross_attention_dim=768)
    return Denoise(model), {"sample": torch.rand(1, 4, 32, 32), "timestep": torch.tensor(10),
                            "encoder_hidden_states": torch.rand(1, 77, 768)}


@dataclass(frozen=True)
class Architecture:
    name: str
    summary: str
    make: Callable
    quick: bool = False  # also in the short form of the tests
    ir_constants: int = 0  # numbers in OpenVINO's IR from which sizes are computed, and which look like weights

    def build(self):
        """The model in evaluation mode and the keyword arguments of its forward."""
        torch.manual_seed(1)
        model, inputs = self.make()
        scatter(model)
        return model.eval(), inputs


def scatter(model):
    """Gives weights that start as all zeros or all ones random values: exporters drop what multiplies by one or adds zero."""
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            if value.is_floating_point() and value.numel() > 1 and (value == value.flatten()[0]).all():
                value.uniform_(0.5, 1.5)


ARCHITECTURES = [
    Architecture("resnet50", "ResNet-50 of torchvision, 224 x 224.", vision("resnet50"), quick=True),
    Architecture("efficientnet_b0", "EfficientNet-B0 of torchvision, 224 x 224.", vision("efficientnet_b0")),
    Architecture("vit_b_16", "ViT-B/16 of torchvision, 224 x 224.", vision("vit_b_16")),
    Architecture("swin_t", "Swin-T of torchvision, 224 x 224.", vision("swin_t")),
    Architecture("convnext_tiny", "ConvNeXt-T of torchvision, 224 x 224.", vision("convnext_tiny")),
    Architecture("mobilenet_v3", "MobileNetV3-Large of torchvision, 224 x 224.", vision("mobilenet_v3_large"),
                 quick=True),
    Architecture("densenet121", "DenseNet-121 of torchvision, 224 x 224.", vision("densenet121")),
    Architecture("inception_v3", "Inception-V3 of torchvision, 299 x 299, without the second head.",
                 vision("inception_v3", 299, init_weights=False, aux_logits=False)),
    Architecture("bert", "BERT-base, 128 tokens.", text("BertConfig", "BertModel", "pooler_output")),
    Architecture("gpt2", "GPT-2 (124 million weights), 128 tokens.",
                 text("GPT2Config", "GPT2LMHeadModel", "logits", use_cache=False)),
    Architecture("t5", "T5-small, 64 and 32 tokens.", t5),
    Architecture("llama", "Llama with 4 of 32 layers, half the width, a vocabulary of 8000, 128 tokens.",
                 text("LlamaConfig", "LlamaForCausalLM", "logits", use_cache=False, num_hidden_layers=4,
                      hidden_size=2048, intermediate_size=5504, num_attention_heads=16, num_key_value_heads=4,
                      vocab_size=8000)),
    Architecture("mixtral", "Mixtral with 2 of 32 layers, 1/8 of the width, 8 experts, a vocabulary of 8000, 32 tokens.",
                 mixtral),
    Architecture("whisper", "Whisper-tiny, 30 s of sound and 16 tokens.", whisper),
    Architecture("mamba", "Mamba-130M with 4 of 24 layers, a vocabulary of 8000, 16 tokens (each is a step of the scan).",
                 text("MambaConfig", "MambaForCausalLM", "logits", 16, use_cache=False, num_hidden_layers=4,
                      hidden_size=768, vocab_size=8000)),
    Architecture("roberta", "RoBERTa with 6 of 12 layers, 128 tokens.",
                 text("RobertaConfig", "RobertaForMaskedLM", "logits", num_hidden_layers=6)),
    Architecture("clip", "CLIP ViT-B/32, an image and 77 tokens.", clip),
    Architecture("qwen2", "Qwen2-0.5B with 6 of 24 layers, a vocabulary of 8000, 128 tokens.",
                 text("Qwen2Config", "Qwen2ForCausalLM", "logits", use_cache=False, num_hidden_layers=6,
                      hidden_size=896, intermediate_size=4864, num_attention_heads=14, num_key_value_heads=2,
                      vocab_size=8000), quick=True),
    Architecture("segformer", "SegFormer-B0, 256 x 256.", segformer),
    Architecture("sd_unet", "The UNet of Stable Diffusion with 2/5 of its channels, 32 x 32.", unet,
                 ir_constants=3 * (2 + 2)),
]


if __name__ == "__main__":  # prints the names that are asked for, those of TensorFlow too
    quick = {a.name: a.quick for a in ARCHITECTURES} | {name: model.quick for name, model in MODELS.items()}
    chosen = [name for name in quick if quick[name]] if sys.argv[1:] == ["--quick"] else sys.argv[1:] or list(quick)
    if unknown := [name for name in chosen if name not in quick]:
        sys.exit(f"error: no model {unknown[0]}; known: {', '.join(quick)}")
    print(*chosen, sep="\n")
