"""rnn_step: one step of a recurrent network, the hidden state an input and an output; says how a sum of two tones goes on.

Arguments `x` [1, 8] (eight samples), `h` [1, 24]; outputs the next eight samples and the next `h`.
"""

import math
from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.train import fit, seed_everything

FRAME, HIDDEN, STEPS = 8, 24, 20


class RnnStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(FRAME, HIDDEN)
        self.again = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.last = nn.Linear(HIDDEN, FRAME)

    def forward(self, x, h):
        h = torch.tanh(self.enter(x) + self.again(h))
        return self.last(h), h


def frames(count, seed):
    """[count, STEPS + 1, FRAME]: two tones, each of one of four pitches, at any loudness."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.rand(*shape, generator=generator)

    time = torch.arange((STEPS + 1) * FRAME)
    total = torch.zeros(count, len(time))
    for lowest in (0.12, 0.55):
        pitch = lowest * 1.2 ** torch.randint(0, 4, (count, 1), generator=generator)
        total += (0.15 + 0.3 * draw(count, 1)) * torch.sin(2 * math.pi * draw(count, 1) + pitch * time)
    return (torch.round(total * 128) / 128).reshape(count, STEPS + 1, FRAME)


class Unrolled(nn.Module):
    """All steps of a sequence, to train on: the outputs, and the states before each step."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x):
        h, outputs, states = torch.zeros(len(x), HIDDEN), [], []
        for t in range(x.shape[1]):
            states.append(h)
            y, h = self.step(x[:, t], h)
            outputs.append(y)
        return torch.stack(outputs, 1), torch.stack(states, 1)


def stream(seed):
    while True:
        sequence = frames(64, seed)
        yield sequence[:, :-1], sequence[:, 1:]
        seed += 1


def samples(model, seed):
    """Two sequences, step by step, with the state that each step begins with."""
    sequence = frames(2, seed)[:, :-1]
    with torch.no_grad():
        _, states = model(sequence)
    return {"x": sequence.reshape(-1, FRAME), "h": states.reshape(-1, HIDDEN)}


def build(out: Path):
    seed_everything(75)
    model = Unrolled(RnnStep())
    fit(
        model,
        stream(7500000),
        lambda got, wanted: 10 * nn.functional.mse_loss(got[0][:, 4:], wanted[:, 4:]),
        steps=1500,
        peak_rate=1e-2,
        log_every=300,
    )
    sequence = frames(500, 7501)
    with torch.no_grad():
        error = model(sequence[:, :-1])[0][:, 4:] - sequence[:, 5:]
    gain = 10 * torch.log10(sequence.pow(2).mean() / error.pow(2).mean()).item()
    print(f"  prediction of new sequences, signal to error: {gain:.1f} dB")
    save("rnn_step", model.step, out, calibrate=(samples(model, 7502), None), test=(samples(model, 7503), None))
