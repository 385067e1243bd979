"""yolo_nano_like: a detector with SiLU, split stages, SPPF, upsampling and two heads (64x64x3, 3 kinds of shape).

The outputs are the heads as they are, [1, 8, 8, 8] and [1, 8, 4, 4]: for each cell the centre's offset from the cell's
middle and the logarithm of the radius (two each, for height and width), whether a shape is there, and its kind.
"""

import math
from pathlib import Path

import torch
from torch import nn

from common.blocks import conv_bn
from common.export import on_grid, save
from common.shapes import KINDS, scenes
from common.train import batches, fit, seed_everything

SIZE, STRIDES = 64, (8, 16)
SMALL_RADIUS = 11.0  # shapes below go to the finer head
CHANNELS = 4 + 1 + len(KINDS)


def conv(inputs, outputs, kernel=1, stride=1):
    return conv_bn(inputs, outputs, kernel, stride, activation=nn.SiLU, eps=1e-3)


class Bottleneck(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = conv(channels, channels, 3), conv(channels, channels, 3)

    def forward(self, x):
        return x + self.conv2(self.conv1(x))


class SplitStage(nn.Module):
    """Half of the channels go through bottlenecks; all that comes up on the way is concatenated."""

    def __init__(self, inputs, outputs, blocks=1):
        super().__init__()
        self.half = outputs // 2
        self.enter = conv(inputs, outputs)
        self.blocks = nn.ModuleList(Bottleneck(self.half) for _ in range(blocks))
        self.leave = conv((2 + blocks) * self.half, outputs)

    def forward(self, x):
        parts = list(self.enter(x).split((self.half, self.half), 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class Sppf(nn.Module):
    """Three pools in a row see three sizes of neighbourhood."""

    def __init__(self, channels):
        super().__init__()
        self.enter = conv(channels, channels // 2)
        self.pool = nn.MaxPool2d(5, stride=1, padding=2)
        self.leave = conv(2 * channels, channels)

    def forward(self, x):
        x = self.enter(x)
        near = self.pool(x)
        far = self.pool(near)
        return self.leave(torch.cat([x, near, far, self.pool(far)], 1))


class YoloNanoLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2), SplitStage(16, 16))
        self.stage3 = nn.Sequential(conv(16, 24, 3, 2), SplitStage(24, 24))
        self.stage4 = nn.Sequential(conv(24, 32, 3, 2), SplitStage(32, 32), Sppf(32))
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.fine = SplitStage(32 + 24, 24)
        self.down = conv(24, 24, 3, 2)
        self.coarse = SplitStage(24 + 32, 32)
        self.head_fine = nn.Sequential(conv(24, 24, 3), nn.Conv2d(24, CHANNELS, 1))
        self.head_coarse = nn.Sequential(conv(32, 32, 3), nn.Conv2d(32, CHANNELS, 1))

    def forward(self, x):
        high = self.stage3(self.stem(x))
        low = self.stage4(high)
        fine = self.fine(torch.cat([self.upsample(low), high], 1))
        coarse = self.coarse(torch.cat([self.down(fine), low], 1))
        return self.head_fine(fine), self.head_coarse(coarse)


def targets(lists):
    """For each sample the wanted heads, flattened and joined: box, whether there is a shape, and its kind."""
    heads = [torch.zeros(len(lists), 6, SIZE // stride, SIZE // stride) for stride in STRIDES]
    for i, things in enumerate(lists):
        for kind, y, x, radius in things:
            level = 0 if radius < SMALL_RADIUS else 1
            stride = STRIDES[level]
            row, column = int(y // stride), int(x // stride)
            box = (y / stride - row - 0.5, x / stride - column - 0.5, math.log(radius / stride), math.log(radius / stride))
            heads[level][i, :, row, column] = torch.tensor([*box, 1, kind])
    return torch.cat([head.flatten(2) for head in heads], 2)


def joined(outputs):
    return torch.cat([head.flatten(2) for head in outputs], 2)


def loss(outputs, wanted):
    got, there = joined(outputs), wanted[:, 4] > 0
    objectness = nn.functional.binary_cross_entropy_with_logits(
        got[:, 4], wanted[:, 4], pos_weight=torch.tensor(4.0)
    )
    at = got.permute(0, 2, 1)[there]
    want = wanted.permute(0, 2, 1)[there]
    boxes = nn.functional.smooth_l1_loss(at[:, :4], want[:, :4], beta=0.1)
    return 4 * objectness + boxes + 0.5 * nn.functional.cross_entropy(at[:, 5:], want[:, 5].long())


def data(count, seed):
    images, _, lists = scenes(count, seed, SIZE, factor=2)
    return torch.from_numpy(on_grid(images)), targets(lists)


@torch.no_grad()
def judge(model, images, wanted):
    got, there = joined(model(images)), wanted[:, 4] > 0
    said = got[:, 4] > 0
    kind = got.permute(0, 2, 1)[there][:, 5:].argmax(1) == wanted.permute(0, 2, 1)[there][:, 5].long()
    hit = (said & there).sum().item()
    print(
        f"  new scenes: recall {hit / there.sum().item():.3f}, precision {hit / max(1, said.sum().item()):.3f}, "
        f"kinds right {kind.float().mean().item():.3f}"
    )


def build(out: Path):
    seed_everything(68)
    train, test = data(1024, 6801), data(32, 6802)
    model = fit(
        YoloNanoLike(),
        batches(*train, 16, torch.Generator().manual_seed(68)),
        loss,
        steps=400,
        peak_rate=4e-3,
        weight_decay=1e-3,
        log_every=100,
    )
    judge(model, *data(200, 6803))
    save("yolo_nano_like", model, out, calibrate=(train[0][:32], None), test=(test[0], None))
