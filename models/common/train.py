"""A small, deterministic training loop."""

import math
import random

import numpy as np
import torch
from torch import nn


def seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def batches(x: torch.Tensor, y: torch.Tensor, size: int, generator: torch.Generator):
    """Shuffled batches without end; the last, shorter batch of a pass is dropped."""
    while True:
        order = torch.randperm(len(x), generator=generator)
        for i in range(0, len(x) - size + 1, size):
            chosen = order[i : i + size]
            yield x[chosen], y[chosen]


def fit(
    model: nn.Module,
    stream,
    loss_function,
    *,
    steps: int,
    peak_rate: float,
    weight_decay: float = 0.0,
    log_every: int = 0,
) -> nn.Module:
    """Trains with AdamW under a rate that warms up for a twentieth of the steps, then falls as a cosine to zero."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak_rate, weight_decay=weight_decay)
    warm = max(1, steps // 20)
    model.train()
    for step in range(steps):
        if step < warm:
            rate = peak_rate * (step + 1) / warm
        else:
            rate = 0.5 * peak_rate * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, y = next(stream)
        loss = loss_function(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if log_every and step % log_every == log_every - 1:
            print(f"  step {step + 1} of {steps}: loss {loss.item():.4f}", flush=True)
    return model.eval()


@torch.no_grad()
def predict(model: nn.Module, x: torch.Tensor, size: int = 64) -> torch.Tensor:
    return torch.cat([model(x[i : i + size]) for i in range(0, len(x), size)])


def accuracy(model: nn.Module, x: torch.Tensor, labels: torch.Tensor) -> float:
    return (predict(model, x).argmax(1) == labels).float().mean().item()


def parameter_count(model: nn.Module) -> tuple[int, int]:
    """Trained parameters, and the same with the running mean and variance of each batch-norm."""
    trained = sum(p.numel() for p in model.parameters())
    running = sum(b.numel() for name, b in model.named_buffers() if name.split(".")[-1] in ("running_mean", "running_var"))
    return trained, trained + running
