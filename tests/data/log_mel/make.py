#!/usr/bin/env python3
"""Writes the models and arrays of this folder: audio front ends that read samples.

    python tests/data/log_mel/make.py

kws/       torchaudio's MFCC and a DS-CNN, from 16,000 samples to 12 classes; the first three are the kinds of sounds
mel/       MelSpectrogram and AmplitudeToDB; test.npz also has torchaudio's features
stream/    the same for one hop of samples per call, with the rest of the frame as state
The audio is generated: chirps, noise, and pulses with harmonics, at -50 to 0 dB, rounded to 16 bits.

Needs PyTorch 2.13, torchaudio 2.11 and numpy.
"""
import warnings
from pathlib import Path

import numpy as np
import torch
import torchaudio
from torch import nn

HERE = Path(__file__).resolve().parent
RATE, COUNT, N_FFT, HOP = 16000, 16000, 512, 320
warnings.simplefilter("ignore")


def sounds(count, seed, samples=COUNT):
    random = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    result = []
    for i in range(count):
        if i % 3 == 0:  # a chirp
            low, high = random.uniform(50, 4000, 2)
            x = np.sin(2 * np.pi * (low * t + (high - low) * t * t / 2 / t[-1]))
        elif i % 3 == 1:
            x = random.standard_normal(samples) / 4
        else:  # harmonics of a voice's pitch, in syllables
            pitch = random.uniform(90, 250) * (1 + 0.1 * np.sin(2 * np.pi * 3 * t))
            phase = 2 * np.pi * np.cumsum(pitch) / RATE
            x = sum(np.sin(k * phase) / k for k in range(1, 20)) / 2 * (np.sin(2 * np.pi * 4 * t) > -0.3)
            x = x + 0.003 * random.standard_normal(samples)
        x = np.clip(x, -1, 1) * 10 ** (-random.uniform(0, 50) / 20)
        result.append(np.clip(np.round(x * 32768), -32768, 32767) / 32768)
    return np.array(result, np.float32)


class Mel(nn.Module):
    def __init__(self):
        super().__init__()
        self.mel = torchaudio.transforms.MelSpectrogram(RATE, N_FFT, win_length=480, hop_length=HOP, n_mels=40, center=False)
        self.decibels = torchaudio.transforms.AmplitudeToDB(top_db=None)

    def forward(self, x):
        return self.decibels(self.mel(x))


class Stream(Mel):
    def __init__(self):
        super().__init__()
        self.register_buffer("rest", torch.zeros(1, N_FFT - HOP))

    def forward(self, x):
        frame = torch.cat([self.rest, x], 1)
        self.rest.copy_(frame[:, HOP:])
        return super().forward(frame)


class Separable(nn.Sequential):
    def __init__(self, channels):
        super().__init__(nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.BatchNorm2d(channels), nn.ReLU(),
                         nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels), nn.ReLU())


class Kws(nn.Module):
    def __init__(self, channels=48):
        super().__init__()
        arguments = {"n_fft": N_FFT, "win_length": 480, "hop_length": HOP, "n_mels": 40, "center": False}
        self.features = torchaudio.transforms.MFCC(RATE, n_mfcc=10, log_mels=True, melkwargs=arguments)
        self.norm = nn.BatchNorm2d(1)
        self.layers = nn.Sequential(
            nn.Conv2d(1, channels, (10, 4), stride=2, padding=(5, 1)), nn.BatchNorm2d(channels), nn.ReLU(),
            *(Separable(channels) for _ in range(4)), nn.AvgPool2d((25, 5)), nn.Flatten(), nn.Linear(channels, 12))

    def forward(self, x):
        features = self.features(x).transpose(1, 2).unsqueeze(1)
        return torch.softmax(self.layers(self.norm(features)), 1)


def trained(model, steps=80, batch=24):
    """Trains the layers after the features to tell the kinds of sounds apart."""
    sounds_, kinds = torch.from_numpy(sounds(240, 3)), torch.arange(240) % 3
    features = torch.cat([model.features(part) for part in sounds_.split(24)]).transpose(1, 2).unsqueeze(1)
    layers = nn.Sequential(model.norm, model.layers).train()
    optimizer = torch.optim.Adam(layers.parameters(), 2e-3)
    for _ in range(steps):
        chosen = torch.randint(240, (batch,))
        loss = nn.functional.cross_entropy(layers(features[chosen]), kinds[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    other = torch.from_numpy(sounds(60, 4))
    hits = (model.eval()(other).argmax(1) == torch.arange(60) % 3).float().mean()
    print(f"kws: {hits:.2f} of other sounds are recognized")
    return model


def save(name, model, example, calibrate, **test):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    program = torch.export.export(model.eval(), (example,))
    program._example_inputs = None  # 64 KB that nothing reads
    torch.export.save(program, folder / f"{name}.pt2")
    np.savez_compressed(folder / "calibrate.npz", x=calibrate)
    np.savez_compressed(folder / "test.npz", **test)


def main():
    torch.manual_seed(1)
    train, test = sounds(6, 1)[:, None], sounds(6, 2)[:, None]
    mel = Mel().eval()
    features = np.stack([mel(torch.from_numpy(x)).numpy() for x in test])
    save("mel", mel, torch.from_numpy(train[0]), train, x=test, y=features.astype(np.float32))
    save("kws", trained(Kws()), torch.from_numpy(train[0]), train[:4], x=test[:3])
    hops = test[:2, 0, :COUNT // HOP * HOP].reshape(-1, 1, HOP)
    save("stream", Stream(), torch.zeros(1, HOP), hops, x=hops)


if __name__ == "__main__":
    main()
