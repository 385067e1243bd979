# SPDX-License-Identifier: Apache-2.0
"""The networks and the NPUs of this benchmark.

The list was fixed before the networks were measured. A network that PyTorch cannot export stays in the list and is
counted apart. RANDOM was drawn with Python's random.Random(22).sample from the sorted lists of names of timm 1.0.31
(`timm.list_models()`) and transformers 5.24.0 (model types with an `AutoModel`), 14 names of each; nothing was
replaced.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Network:
    package: str
    name: str
    size: int = 64  # of the image, of the sequence, or of the signal
    options: dict[str, Any] = field(default_factory=dict)
    random: bool = False

    @property
    def key(self) -> str:
        return f"{self.package}-{self.name}" + ("-mask" if self.options.get("mask") else "")


def many(package: str, names: str, size: int, **options: Any) -> list[Network]:
    return [Network(package, name, size, options) for name in names.split()]


# Convolutional networks, attention networks and hybrids at small sizes, so that the sweep is about operators.
TIMM = (
    many("timm", "resnet18 resnet10t resnext26ts seresnext26t_32x4d mobilenetv2_035 mobilenetv3_small_050 "
         "mobilenetv4_conv_small efficientnet_lite0 tinynet_e mnasnet_small ghostnet_100 ghostnetv2_100 "
         "repvgg_a0 repghostnet_050 mobileone_s0 fastvit_t8 convnext_atto convnextv2_atto regnetx_002 regnety_002 "
         "dla46_c lcnet_035 semnasnet_075 hardcorenas_a fbnetc_100 res2net50_14w_8s densenet121 "
         "inception_next_atto poolformer_s12 edgenext_xx_small mobilevit_xxs mobilevitv2_050 "
         "efficientvit_b0 efficientvit_m0", 64)
    + many("timm", "efficientformer_l1", 224)  # its attention has a fixed size
    + many("timm", "starnet_s1 rdnet_tiny", 64)
    + many("timm", "vit_tiny_patch16_224 deit_tiny_patch16_224 cait_xxs24_224 xcit_nano_12_p16_224 pit_ti_224 "
           "levit_128s", 224)
    + many("timm", "crossvit_tiny_240", 240)  # its patches of 12 and 16 pixels
    + many("timm", "visformer_tiny convit_tiny mixer_s32_224 gmlp_ti16_224 resmlp_12_224", 224)
    + [Network("timm", "swin_tiny_patch4_window7_224", 64,
               {"img_size": 64, "window_size": 4, "embed_dim": 32, "depths": (2, 2, 2, 2), "num_heads": (1, 2, 4, 8)})]
)
TORCHVISION = many(
    "torchvision",
    "alexnet googlenet shufflenet_v2_x0_5 squeezenet1_1 mnasnet0_5 vgg11 mobilenet_v2 mobilenet_v3_small "
    "efficientnet_b0 regnet_x_400mf resnet18 lraspp_mobilenet_v3_large fcn_resnet50 deeplabv3_mobilenet_v3_large", 64)
# Tiny configurations: the operators of the model type, not its size.
TRANSFORMERS = (
    many("transformers", "bert distilbert roberta albert electra mobilebert squeezebert deberta deberta-v2 convbert "
         "funnel mpnet nystromformer longformer gpt2 gpt_neo gpt_neox gptj opt bloom llama mistral qwen2 qwen3 gemma "
         "phi phi3 falcon stablelm olmo rwkv mamba t5_encoder", 16)
    + many("transformers", "bert gpt2 llama t5_encoder", 16, mask=True)
    + many("transformers", "vit deit convnext dinov2 mobilevit segformer poolformer swin", 64)
    + many("transformers", "wav2vec2 hubert whisper_encoder", 2000)
)
OTHERS = (
    many("ultralytics", "yolov8n yolo11n yolo26n yolov8n-seg yolov8n-cls yolov8n-pose", 64)
    + many("torchaudio", "emformer conformer wav2letter tacotron2_encoder conv_tasnet deepspeech", 100)
    + many("monai", "unet segresnet dynunet attention_unet densenet121", 32)
    + many("x_transformers", "encoder decoder vit", 16)
    + many("vector_quantize_pytorch", "vq fsq", 16)
)
RANDOM = [
    Network("timm", name, 96, random=True) for name in
    "efficientnetv2_rw_t levit_conv_192 coatnet_0_224 vit_relpos_small_patch16_224 selecsls42 gcresnext50ts "
    "efficientformerv2_s1 vovnet39a qwen3_vit_88m_enc davit_small legacy_senet154 maxxvit_rmlp_tiny_rw_256 "
    "convnextv2_femto nextvit_large".split()
] + [
    Network("transformers", name, 64 if name == "clip_vision_model" else 16, random=True) for name in
    "flaubert imagegpt beit qwen2_5_vl_text glm_moe_dsa encodec molmo2 dbrx hy_v4_vl laguna clip_vision_model "
    "minicpmv4_7 xmod glm5_next_vision".split()
]

NETWORKS = TIMM + TORCHVISION + TRANSFORMERS + OTHERS + RANDOM

# The NPUs whose share of the MACs is measured, with a part that has each.
ENGINES = {"U55": "corstone-300", "U85": "corstone-320", "AXON": "nrf54lm20b", "Neutron": "imxrt700cm"}
