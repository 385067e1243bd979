"""mobilenet_v2: MobileNetV2 1.0 (224x224x3, 1000 classes), on synthetic textures; ends in logits. Too large to commit.

The thousand classes are ten patterns by ten periods by ten colours. It is trained on small pictures, where a step is
cheap, then its batch-norm statistics settle on pictures of full size.
"""

from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.thousand import composed_loss, data, digits_right, settle, stream
from common.train import fit, predict, seed_everything

# Expansion, output channels, blocks and first stride of each stage.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
CLASSES = 1000
SMALL, FULL = 64, 224


def conv_bn(inputs, outputs, kernel, stride=1, groups=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    """Widens, filters each channel, narrows; adds its input where the shapes allow."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        layers = [*conv_bn(inputs, wide, 1), nn.ReLU6()] if expansion != 1 else []
        layers += [*conv_bn(wide, wide, 3, stride, groups=wide), nn.ReLU6(), *conv_bn(wide, outputs, 1)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = [*conv_bn(3, 32, 3, stride=2), nn.ReLU6()], 32
        for expansion, outputs, blocks, stride in STAGES:
            for block in range(blocks):
                layers.append(InvertedResidual(width, outputs, stride if block == 0 else 1, expansion))
                width = outputs
        layers += [*conv_bn(width, 1280, 1), nn.ReLU6()]
        self.features = nn.Sequential(*layers)
        self.dropout = nn.Dropout(0.2)
        self.last = nn.Linear(1280, CLASSES)

    def forward(self, x):
        x = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.last(self.dropout(torch.flatten(x, 1)))


def build(out: Path):
    seed_everything(51)
    model = MobileNetV2()
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
        if isinstance(module, InvertedResidual) and module.residual:
            nn.init.constant_(module.layers[-1].weight, 0.2)  # begin near the identity: it learns far faster
    fit(
        model,
        stream(32, SMALL, seed=510000),
        composed_loss,
        steps=1000,
        peak_rate=2e-3,
        weight_decay=1e-2,
        log_every=50,
    )
    settle(model, data(128, 5101, FULL)[0])
    calibrate, test = data(16, 5102, FULL), data(64, 5103, FULL)
    logits = predict(model, test[0], 16)
    print(
        f"  at {FULL} pixels: accuracy on test.npz {(logits.argmax(1) == test[1]).float().mean().item():.4f}, "
        f"pattern, period, colour: {digits_right(logits, test[1])}"
    )
    save("mobilenet_v2", model, out, calibrate=calibrate, test=test)
