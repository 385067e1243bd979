# SPDX-License-Identifier: Apache-2.0
"""Exports the networks of networks.py: FOLDER/NAME.pt2, its 16 samples, and the outputs of eager PyTorch.

PyTorch and the packages need several seconds for their import. The parent process imports them once; each network is
then exported by a process that is forked from it, with a time limit.
"""

import importlib.util
import os
import signal
import time
import traceback
from pathlib import Path

import numpy as np

from networks import Network

SAMPLES = 16
EXPORT_SECONDS = 300
# The packages that most networks are of. The others are imported by the process of the network.
WARM = ("timm", "torchvision", "transformers")


def vary(example, seed: int):
    """Another sample of the same kind: real numbers in a range of their own, tokens, or the mask as it is."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    sample = {}
    for name, value in example.items():
        if value.dtype == torch.float32:
            sample[name] = torch.rand(value.shape, generator=generator) * 2 - 1
        elif name == "attention_mask":
            sample[name] = value.clone()
            sample[name][:, value.shape[1] - seed % 4:] = 0 if seed % 4 else 1
        else:
            sample[name] = torch.randint(3, 100, value.shape, generator=generator)
    return sample


def measure_statistics(model, samples: list[dict]) -> None:
    """Gives each batch norm the mean and the variance that its input has over all samples. With its initial statistics,
    the values of a deep network with random parameters become so small that its outputs hardly depend on the input."""
    import torch
    kinds = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)
    norms = [m for m in model.modules() if isinstance(m, kinds) and m.running_var is not None]
    if not norms:
        return
    momentum = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        model(**{name: torch.cat([sample[name] for sample in samples]) for name in samples[0]})
    for norm, value in zip(norms, momentum):
        norm.momentum = value
    model.eval()


def export_one(network: Network, folder: Path) -> None:
    import torch
    from builders import build
    model, example = build(network)
    samples = [vary(example, seed) for seed in range(SAMPLES)]
    measure_statistics(model, samples)
    with torch.no_grad():
        eager = [model(**sample).float().numpy() for sample in samples]
        program = torch.export.export(model, (), samples[0])
    np.savez(folder / f"{network.key}.npz",
             **{name: np.stack([s[name].numpy() for s in samples]) for name in example})
    np.savez(folder / f"{network.key}.eager.npz", y=np.stack(eager))
    torch.export.save(program, folder / f"{network.key}.pt2")


def forked(work, seconds: int) -> str:
    """Calls `work` in a process of its own, without its output. Returns the error, or an empty text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.setitimer(signal.ITIMER_PROF, seconds)  # seconds of CPU
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: B902: whatever a package raises is the result of its network
            os.write(writer, traceback.format_exc()[-4000:].encode())
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as pipe:
        error = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"more than {seconds} s of CPU" if number == signal.SIGPROF else f"stopped by signal {number}"
    return error


def export(folder: Path, networks: list[Network]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import builders  # noqa: F401: prepares the import of torchvision
    torch.set_num_threads(1)  # a forked process cannot use the threads of its parent
    for package in WARM:
        if importlib.util.find_spec(package):
            importlib.import_module(package)
    for network in networks:
        failed = folder / f"{network.key}.export.txt"
        if (folder / f"{network.key}.pt2").exists() or failed.exists():
            continue
        started = time.monotonic()
        error = forked(lambda: export_one(network, folder), EXPORT_SECONDS)
        if error:
            failed.write_text(error)
        state = "failed: " + error.strip().splitlines()[-1][:100] if error else "exported"
        print(f"{network.key:<40} {time.monotonic() - started:5.1f} s  {state}", flush=True)
