# SPDX-License-Identifier: Apache-2.0
"""Builds a network of networks.py: a module in eval mode and an example of its inputs, by name."""

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from networks import Network

# The wheel of torchvision on PyPI is built for CUDA and does not load its library beside PyTorch for CPU. Its import
# then needs the schemas of two operators, which no network of the list calls.
SCHEMAS = torch.library.Library("torchvision", "DEF")
load_library = torch.ops.load_library


def load_or_define(path: Path | str) -> None:
    try:
        load_library(path)
    except OSError:
        for name in ("nms", "qnms") if not hasattr(torch.ops.torchvision, "nms") else ():
            SCHEMAS.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        raise  # torchvision knows how to do without its library


torch.ops.load_library = load_or_define

Built = tuple[torch.nn.Module, dict[str, torch.Tensor]]


class Selected(torch.nn.Module):
    """Returns the first tensor of a network's output."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, **inputs: torch.Tensor) -> Any:
        return first_tensor(self.inner(**inputs))


class Positional(Selected):
    """Same for a network whose only input has any name."""

    def forward(self, x: torch.Tensor) -> Any:
        return first_tensor(self.inner(x))


class Keywords(torch.nn.Module):
    """Gives a network of `transformers` constant keyword arguments."""

    def __init__(self, inner: torch.nn.Module, **fixed: Any) -> None:
        super().__init__()
        self.inner = inner
        self.fixed = fixed

    def forward(self, **inputs: torch.Tensor) -> Any:
        return self.inner(**inputs, **self.fixed)


class Packed(torch.nn.Module):
    """Gives a network whose images are packed in one list of patches the sizes of its only image, in patches."""

    def __init__(self, inner: torch.nn.Module, height: int, width: int) -> None:
        super().__init__()
        self.inner = inner
        self.height, self.width = height, width

    def forward(self, hidden_states: torch.Tensor) -> Any:
        patches = self.height * self.width
        return self.inner(hidden_states, grid_thw=torch.tensor([[1, self.height, self.width]]),
                          cu_seqlens=torch.tensor([0, patches], dtype=torch.int32), max_seqlen=patches)


def first_tensor(output: Any) -> torch.Tensor:
    while not isinstance(output, torch.Tensor):
        output = next(iter(output.values())) if isinstance(output, dict) else next(x for x in output if x is not None)
    return output


def image(size: int, channels: int = 3) -> dict[str, torch.Tensor]:
    return {"x": torch.rand(1, channels, size, size)}


def build_timm(network: Network) -> Built:
    timm = importlib.import_module("timm")
    # Networks whose parameters depend on the size of the image get it as an argument.
    for options in ({"img_size": network.size}, {"input_size": (3, network.size, network.size)}, {}):
        try:
            model = timm.create_model(network.name, num_classes=10, **{**options, **network.options})
            break
        except TypeError:
            continue
    return Positional(model), image(network.size)


def build_torchvision(network: Network) -> Built:
    models = importlib.import_module("torchvision.models")
    options = {"init_weights": False} if network.name == "googlenet" else {}
    if "deeplab" in network.name or "fcn" in network.name or "lraspp" in network.name:
        options["weights_backbone"] = None
    return Positional(models.get_model(network.name, weights=None, **options)), image(network.size)


SMALL = {
    "hidden_size": 64, "d_model": 64, "n_embd": 64, "dim": 64, "emb_dim": 64, "embedding_size": 32,
    "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "num_decoder_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "n_inner": 128, "d_ff": 128,
    "hidden_dim": 128, "ffn_dim": 128, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "d_kv": 16, "head_dim": 16,
    "vocab_size": 100, "type_vocab_size": 2, "max_position_embeddings": 64, "n_positions": 64, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "image_size": 64, "rotary_dim": 8, "embedding_dim": 64, "state_size": 8,
    "attention_hidden_size": 64, "num_experts": 4, "n_routed_experts": 4, "num_local_experts": 4, "num_mel_bins": 16,
    "conv_dim": [32] * 3, "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4,
}
# Attention whose keys and values are compressed, with an indexer.
LATENT_ATTENTION = {"qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "qk_head_dim": 32, "v_head_dim": 16, "kv_lora_rank": 32,
                    "q_lora_rank": 32, "index_head_dim": 32, "index_n_heads": 4, "index_topk": 8, "head_dim": 16,
                    "num_key_value_heads": 4, "num_experts_per_tok": 2}
# Sizes of model types that are not one number.
OWN = {
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "mobilebert": {"intermediate_size": 64, "intra_bottleneck_size": 32, "true_hidden_size": 32, "embedding_size": 32},
    "segformer": {"hidden_sizes": [16, 32, 64, 64], "num_attention_heads": [1, 2, 2, 4], "depths": [1, 1, 1, 1]},
    "swin": {"embed_dim": 24, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
    "convnext": {"num_hidden_layers": 4, "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1]},
    "encodec": {"codebook_dim": 64},
    # Its AutoModel is a choice of two classes.
    "funnel": {"architectures": ["FunnelModel"], "block_sizes": [1, 1], "d_inner": 128, "d_head": 16, "n_head": 4,
               "num_decoder_layers": 1},
    "longformer": {"attention_window": 8},
    "squeezebert": {"embedding_size": 64, "q_groups": 2, "k_groups": 2, "v_groups": 2, "post_attention_groups": 1,
                    "intermediate_groups": 2, "output_groups": 2},
    "whisper": {"max_source_positions": 50},
    "glm_moe_dsa": LATENT_ATTENTION,
    "hy_v4_vl_text": LATENT_ATTENTION,
    "laguna": {"num_experts_per_tok": 2},
    "glm5_next_vision": {"out_hidden_size": 64, "projection_intermediate_size": 128},
}
# Arguments of configurations whose sizes depend on each other.
ARGUMENTS = {
    "qwen2_5_vl_text": {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}},
    "hy_v4_vl": {"text_config": {"qk_rope_head_dim": 16, "rope_parameters": {
        "rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}}},
    "minicpmv4_7": {"text_config": {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}},
    "xmod": {"default_language": "en_XX"},
    # The model reads a field that its configuration has no default for.
    "dbrx": {"attn_config": {"rope_theta": 1e4, "kv_n_heads": 2, "clip_qkv": 8},
             "ffn_config": {"hidden_size": 64, "ffn_hidden_size": 128}},
}


def shrink(config: Any, model_type: str) -> None:
    """Reduces the sizes of a configuration, also of those inside it."""
    for name, value in {**SMALL, **OWN.get(model_type, {})}.items():
        held = getattr(config, name, None)
        own = name in OWN.get(model_type, {})
        is_list = isinstance(held, (list, tuple))
        if not own and (held is None or isinstance(held, bool) or is_list != isinstance(value, list)):
            continue
        try:
            setattr(config, name, value)
        except (AttributeError, NotImplementedError):
            continue
    for part in list(vars(config).values()):
        if hasattr(part, "model_type") and hasattr(part, "to_dict"):
            shrink(part, part.model_type)


def build_transformers(network: Network) -> Built:
    transformers = importlib.import_module("transformers")
    model_type = network.name.removesuffix("_encoder")
    config = transformers.CONFIG_MAPPING[model_type](**ARGUMENTS.get(model_type, {}))
    shrink(config, model_type)
    config._attn_implementation = "eager" if model_type in ("longformer", "rwkv", "mamba") else "sdpa"
    if model_type in ("laguna", "hy_v4_vl"):
        # The default form of a mixture of experts is an operator of transformers, which no other program knows.
        for part in (config, getattr(config, "text_config", config)):
            part._experts_implementation = "batched_mm"
    try:
        model = transformers.AutoModel.from_config(config)
    except ValueError:  # no fused attention for this model type
        config._attn_implementation = "eager"
        model = transformers.AutoModel.from_config(config)
    if network.name.endswith("_encoder"):
        model = model.get_encoder()
    fixed = {"return_dict": False}
    if getattr(config, "use_cache", False):
        fixed["use_cache"] = False
    if model_type == "glm5_next_vision":
        values = config.in_channels * config.temporal_patch_size * config.patch_size**2
        return Selected(Packed(model, 4, 4)), {"hidden_states": torch.rand(16, values)}
    name = getattr(model, "main_input_name", "input_ids")
    if name == "pixel_values":
        example = {name: torch.rand(1, 3, network.size, network.size)}
    elif name == "input_values":
        channels = (1,) if model_type == "encodec" else ()
        example = {name: torch.rand(1, *channels, network.size)}
    elif name == "input_features":
        example = {name: torch.rand(1, 16, 100)}
    else:
        example = {"input_ids": torch.randint(3, 100, (1, network.size))}
        if network.options.get("mask"):
            example["attention_mask"] = torch.ones(1, network.size, dtype=torch.int64)
    return Selected(Keywords(model, **fixed)), example


def build_ultralytics(network: Network) -> Built:
    model = importlib.import_module("ultralytics").YOLO(f"{network.name}.yaml").model
    return Positional(model), image(network.size)


def import_torchaudio_models() -> Any:
    """Its wheel on PyPI is built for CUDA, and its import loads a library that then is absent. Its models need none."""
    if "torchaudio" not in sys.modules:
        package = types.ModuleType("torchaudio")
        package.__spec__ = importlib.util.find_spec("torchaudio")
        package.__path__ = list(package.__spec__.submodule_search_locations)
        sys.modules["torchaudio"] = package
    return importlib.import_module("torchaudio.models")


def build_torchaudio(network: Network) -> Built:
    models = import_torchaudio_models()
    frames = torch.rand(1, network.size, 32)
    if network.name == "emformer":
        class Emformer(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = models.Emformer(32, 4, 64, 2, segment_length=8, right_context_length=0)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.inner(x, torch.full((x.shape[0],), x.shape[1]))[0]
        return Emformer(), {"x": torch.rand(1, 32, 32)}
    if network.name == "conformer":
        class Conformer(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = models.Conformer(32, 4, 64, 2, 15)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.inner(x, torch.full((x.shape[0],), x.shape[1]))[0]
        return Conformer(), {"x": frames}
    if network.name == "wav2letter":
        return Positional(models.Wav2Letter(10, "mfcc", 16)), {"x": torch.rand(1, 16, network.size)}
    if network.name == "deepspeech":
        return Positional(models.DeepSpeech(32, 64, 10)), {"x": torch.rand(1, 1, network.size, 32)}
    if network.name == "conv_tasnet":
        # The padding keeps the size of a frame only for kernels of 3.
        model = models.ConvTasNet(2, 16, 64, msk_kernel_size=3, msk_num_feats=32, msk_num_hidden_feats=64, msk_num_layers=3,
                                  msk_num_stacks=2)
        return Positional(model), {"x": torch.rand(1, 1, 10 * network.size)}
    encoder = importlib.import_module("torchaudio.models.tacotron2")._Encoder(32, 2, 5)

    class Tacotron(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = encoder

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            # As the encoder's forward() for one sequence without padding; it would pack the sequence by its length, which
            # PyTorch does not export.
            for layer in self.inner.convolutions:
                x = torch.relu(layer(x))
            return self.inner.lstm(x.transpose(1, 2))[0]
    return Tacotron(), {"x": torch.rand(1, 32, network.size)}


def build_monai(network: Network) -> Built:
    nets = importlib.import_module("monai.networks.nets")
    make: dict[str, Callable[[], torch.nn.Module]] = {
        "unet": lambda: nets.UNet(2, 1, 2, (8, 16, 32), (2, 2), num_res_units=1),
        "segresnet": lambda: nets.SegResNet(spatial_dims=2, init_filters=8, in_channels=1, out_channels=2),
        "dynunet": lambda: nets.DynUNet(2, 1, 2, [3, 3, 3], [1, 2, 2], [2, 2]),
        "attention_unet": lambda: nets.AttentionUnet(2, 1, 2, (8, 16, 32), (2, 2)),
        "densenet121": lambda: nets.DenseNet121(spatial_dims=2, in_channels=1, out_channels=2),
    }
    return Positional(make[network.name]()), image(network.size, 1)


def build_x_transformers(network: Network) -> Built:
    x = importlib.import_module("x_transformers")
    if network.name == "vit":
        model = x.ViTransformerWrapper(image_size=32, patch_size=8, num_classes=10,
                                       attn_layers=x.Encoder(dim=64, depth=2, heads=4))
        return Positional(model), image(32)
    layers = x.Encoder if network.name == "encoder" else x.Decoder
    model = x.TransformerWrapper(num_tokens=100, max_seq_len=64,
                                 attn_layers=layers(dim=64, depth=2, heads=4, rotary_pos_emb=True))
    return Positional(model), {"x": torch.randint(0, 100, (1, network.size))}


def build_vector_quantize_pytorch(network: Network) -> Built:
    vq = importlib.import_module("vector_quantize_pytorch")
    model = vq.VectorQuantize(dim=32, codebook_size=16) if network.name == "vq" else vq.FSQ([8, 5, 5])
    return Positional(model), {"x": torch.rand(1, network.size, 32 if network.name == "vq" else 3)}


def build_recurrent(network: Network) -> Built:
    """Two bidirectional layers with 64 elements per direction, and a classifier of the last step."""
    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = getattr(torch.nn, network.name)(32, 64, num_layers=2, batch_first=True, bidirectional=True)
            self.classifier = torch.nn.Linear(128, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.classifier(self.layers(x)[0][:, -1])
    return Recurrent(), {"x": torch.rand(1, network.size, 32)}


def enable_branches(model: torch.nn.Module) -> None:
    """Gives random values to parameters whose initial values hide a part of the network: the last norm of a residual
    branch and the classifier are often 0, a layer scale is 1e-6."""
    generator = torch.Generator().manual_seed(22)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "bias" in name or value.numel() == 0 or value.abs().max() > 0.1 or value.min() != value.max():
                continue
            is_vector = value.numel() == max(value.shape, default=1)
            random = torch.rand if is_vector else torch.randn
            value.copy_(random(value.shape, generator=generator) * (0.5 if is_vector else 0.02) + (0.5 if is_vector else 0))


def build(network: Network) -> Built:
    torch.manual_seed(22)
    model, example = globals()[f"build_{network.package}"](network)
    enable_branches(model)
    return model.eval(), example
