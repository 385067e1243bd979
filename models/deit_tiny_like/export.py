"""deit_tiny_like: a vision transformer with a class token and a learned position for each patch (32x32x3, 10 classes)."""

from pathlib import Path

import torch
from torch import nn

from common.classifier import textures, train_and_save

SIZE, PATCH, WIDTH, HEADS, DEPTH, WIDER = 32, 4, 48, 3, 3, 3


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, tokens, _ = x.shape
        qkv = self.qkv(x).reshape(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(x.transpose(1, 2).reshape(batch, tokens, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-6), nn.LayerNorm(WIDTH, eps=1e-6)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDER * WIDTH), nn.GELU(), nn.Linear(WIDER * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DeitTinyLike(nn.Module):
    def __init__(self):
        super().__init__()
        patches = (SIZE // PATCH) ** 2
        self.embed = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, WIDTH))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, patches + 1, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(WIDTH, eps=1e-6)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def build(out: Path):
    train_and_save(
        "deit_tiny_like", DeitTinyLike, out, textures, seed=70, steps=600, peak_rate=2e-3, weight_decay=2e-2
    )
