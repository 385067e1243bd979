"""decoder_step: one step of a small transformer decoder, with the keys and values of the last 16 steps in buffers.

Argument `tokens` [1, 1] int64; output the logits of the next token, [1, 16]. Each call moves the caches on by one step.
The language: the next token follows from the last two by a random table, nine times of ten.
"""

from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.train import fit, seed_everything

TOKENS, WIDTH, HEADS, LAYERS, WINDOW = 16, 32, 2, 2, 16
EACH = WIDTH // HEADS
LENGTH = 32


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.distance = nn.Parameter(torch.linspace(-2, 0, WINDOW).repeat(HEADS, 1)[None, :, None])  # recent first
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, keys, values):
        """`keys` and `values`, [batch, heads, window, each], end with the step before this one."""
        batch = x.shape[0]

        def heads(linear):
            return linear(y).view(batch, 1, HEADS, EACH).transpose(1, 2)

        y = self.norm1(x)
        keys = torch.cat([keys[:, :, 1:], heads(self.key)], 2)
        values = torch.cat([values[:, :, 1:], heads(self.value)], 2)
        scores = torch.matmul(heads(self.query), keys.transpose(-2, -1)) * EACH**-0.5 + self.distance
        y = torch.matmul(torch.softmax(scores, -1), values)
        x = x + self.out(y.transpose(1, 2).reshape(batch, 1, WIDTH))
        return x + self.mlp(self.norm2(x)), keys, values


class DecoderStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)
        for i in range(LAYERS):
            for kind in ("keys", "values"):
                self.register_buffer(f"{kind}{i}", torch.zeros(1, HEADS, WINDOW, EACH))

    def step(self, tokens, caches):
        """One step from given caches; answers the logits and the next caches."""
        x, after = self.embed(tokens), []
        for layer, (keys, values) in zip(self.layers, caches):
            x, keys, values = layer(x, keys, values)
            after.append((keys, values))
        return self.head(self.norm(x))[:, 0], after

    def forward(self, tokens):
        caches = [(getattr(self, f"keys{i}"), getattr(self, f"values{i}")) for i in range(LAYERS)]
        logits, after = self.step(tokens, caches)
        for (keys, values), (next_keys, next_values) in zip(caches, after):
            keys.copy_(next_keys)
            values.copy_(next_values)
        return logits


class Unrolled(nn.Module):
    """All steps of a text, to train on."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, texts):
        caches = [(torch.zeros(len(texts), HEADS, WINDOW, EACH),) * 2 for _ in range(LAYERS)]
        outputs = []
        for t in range(texts.shape[1]):
            logits, caches = self.decoder.step(texts[:, t : t + 1], caches)
            outputs.append(logits)
        return torch.stack(outputs, 1)


def texts(count, seed, length=LENGTH):
    table = torch.randint(0, TOKENS, (TOKENS, TOKENS), generator=torch.Generator().manual_seed(76))
    generator = torch.Generator().manual_seed(seed)
    text = torch.randint(0, TOKENS, (count, length + 1), generator=generator)  # where a table entry is overruled
    overruled = torch.rand(count, length + 1, generator=generator) < 0.1
    for t in range(2, length + 1):
        text[:, t] = torch.where(overruled[:, t], text[:, t], table[text[:, t - 2], text[:, t - 1]])
    return text


def stream(seed):
    while True:
        text = texts(64, seed, length=16)
        yield text[:, :-1], text[:, 1:]
        seed += 1


def loss(logits, wanted):
    return nn.functional.cross_entropy(logits[:, 1:].flatten(0, 1), wanted[:, 1:].flatten())


def build(out: Path):
    seed_everything(76)
    model = Unrolled(DecoderStep())
    fit(model, stream(7600000), loss, steps=500, peak_rate=8e-3, weight_decay=1e-3, log_every=100)
    text = texts(200, 7601)
    with torch.no_grad():
        right = model(text[:, :-1])[:, 1:].argmax(2) == text[:, 2:]
    print(f"  next token of new texts told right: {right.float().mean().item():.4f}")
    calibrate, test = texts(1, 7602)[:, :-1], texts(1, 7603)
    labels = test[0, 1:]
    save(
        "decoder_step",
        model.decoder,
        out,
        calibrate=({"tokens": calibrate.reshape(-1, 1)}, None),
        test=({"tokens": test[:, :-1].reshape(-1, 1)}, labels),
    )
