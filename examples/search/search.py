#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches the most accurate network that meets a budget of memory and time on one chip.

    python3 search.py [--target stm32l432] [--sram 24K] [--flash 80K] [--latency-ms 20]
                      [--trials 40] [--epochs 6]

Each candidate is compiled first: its memory and time are known in less than a second, without
training. Only candidates within the budget are trained. Optuna proposes the next ones from both.
Writes the best network to best.pte in the working folder.
Needs torch, scikit-learn and optuna.
"""

import argparse
import functools

import numpy as np
import optuna
import torch
from sklearn.datasets import load_digits
from torch import nn

import thimble_ml as thimble


def network(width, blocks, kernel, stride):
    """Returns a depthwise-separable network for 8x8 digits."""
    torch.manual_seed(0)

    def convolution(inputs, outputs, **options):
        return [nn.Conv2d(inputs, outputs, bias=False, **options), nn.BatchNorm2d(outputs), nn.ReLU()]

    layers = convolution(1, width, kernel_size=3, padding=1, stride=stride)
    for _ in range(blocks):
        layers += convolution(
            width, width, kernel_size=kernel, padding=kernel // 2, groups=width
        ) + convolution(width, width, kernel_size=1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)).eval()


def candidate(parameters):
    """Called in a worker: the network and its example input."""
    return network(**parameters), (torch.zeros(1, 1, 8, 8),)


def digits():
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], data.target[order]
    return (images[:1400], labels[:1400]), (images[1400:], labels[1400:])


def train(model, images, labels, epochs):
    images, labels = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-2, epochs * 22)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def accuracy(model, images, labels):
    with torch.no_grad():
        return float((model(torch.from_numpy(images)).argmax(1).numpy() == labels).mean())


def propose(trial):
    return {
        "width": trial.suggest_int("width", 8, 64, step=4),
        "blocks": trial.suggest_int("blocks", 1, 4),
        "kernel": trial.suggest_categorical("kernel", [3, 5]),
        "stride": trial.suggest_int("stride", 1, 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="stm32l432")
    parser.add_argument("--latency-ms", type=float, default=20)
    parser.add_argument("--sram", default="24K")
    parser.add_argument("--flash", default="80K")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    budget = {"memory": {"sram": options.sram, "flash": options.flash}}

    training, test = digits()
    sampler = optuna.samplers.TPESampler(seed=0, constant_liar=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    compiled = trained = 0
    for _ in range(0, options.trials, 8):
        trials = {str(trial.number): trial for trial in (study.ask() for _ in range(8))}
        models = {
            name: functools.partial(candidate, propose(trial)) for name, trial in trials.items()
        }
        for result in thimble.sweep(models, options.target, budget):
            trial = trials[result.model]
            compiled += 1
            without_waits = (result.report or {}).get("memories_without_waits")
            if without_waits:
                parser.error(
                    f"--target {options.target}: its times have no wait states of "
                    f"{' and '.join(without_waits)}, so that no budget of time can be met: choose a "
                    "part whose file states them, such as stm32l432"
                )
            if result.status != "ok" or result.time_ms > options.latency_ms:
                study.tell(trial, 0.0)
                continue
            torch.manual_seed(trial.number)
            model = train(network(**trial.params), *training, options.epochs)
            trained += 1
            study.tell(trial, accuracy(model, *test))
            print(
                f"{trial.number:4} {study.trials[trial.number].value:6.3f} {result.time_ms:7.2f} ms"
                f"  {result.memory}  {trial.params}"
            )

    print(f"{compiled} candidates compiled, {trained} within the budget and trained")
    torch.manual_seed(study.best_trial.number)
    best = train(network(**study.best_params), *training, options.epochs)
    program = thimble.compile(
        best,
        (torch.zeros(1, 1, 8, 8),),
        target=options.target,
        calibration=training[0][:100],
        **budget,
    )
    program.save("best.pte")
    quantized = np.array([program.run(image[None])[0].argmax() for image in test[0]])
    print(f"best: {study.best_params}, accuracy {study.best_value:.3f} in float, "
          f"{float((quantized == test[1]).mean()):.3f} on the chip; best.pte written")


if __name__ == "__main__":
    main()
