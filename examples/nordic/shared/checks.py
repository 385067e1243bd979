# SPDX-License-Identifier: Apache-2.0
"""Checks of the examples: measures how well an int8 program solves its task, and compares with a limit."""

import math
import re
from dataclasses import dataclass, field
from typing import Callable

from . import arrays
from .program import NORDIC


@dataclass
class Verdict:
    lines: list
    good: bool


def sine(name, x, y) -> Verdict:
    at = y.data[0]
    worst = max(abs(value - math.sin(angle)) for angle, value in zip(x.data, y.data))
    return Verdict([f"sin({x.data[0]:.2f}) = {at:.4f}; 0.967 is what the pull request's own came to",
                    f"largest error over {len(y.data)} angles: {worst:.4f}"], abs(1 - at) < 0.033 and worst < 0.035)


def classes(name, x, y) -> Verdict:
    labels = arrays.load_all(NORDIC / name / "test.npz")["labels"].data
    answers = [max(range(len(row)), key=row.__getitem__) for row in y.rows()]
    right = [answer == label for answer, label in zip(answers, labels)]
    seen = sorted({label for label, hit in zip(labels, right) if hit})
    share = sum(right) / len(right)
    return Verdict([f"accuracy on {len(right)} samples held back: {share:.2%}; {len(seen)} of {len(set(labels))} classes found"],
                   share >= LEAST[name] and len(seen) == len(set(labels)))


def angle(name, x, y) -> Verdict:
    truth = arrays.load_all(NORDIC / name / "truth.npz")["y"]
    off = []
    for got, wanted in list(zip(y.rows(), truth.rows()))[4:]:
        turn = math.atan2(got[1], got[0]) - math.atan2(wanted[1], wanted[0])
        off.append(math.degrees(math.remainder(turn, 2 * math.pi)))
    error = math.sqrt(sum(value**2 for value in off) / len(off))
    return Verdict([f"the shaft's angle over {len(off)} steps: {error:.2f} degrees off"], error <= LEAST[name])


def limit(name) -> float:
    """The score above which main.c raises the alarm."""
    text = (NORDIC / name / "src" / "limit.h").read_text()
    return float(re.search(r"#define ANOMALY_LIMIT ([\d.]+)f", text)[1])


def alarm(name, x, y) -> Verdict:
    labels = arrays.load_all(NORDIC / name / "test.npz")["labels"].data
    scores = [sum((a - b) ** 2 for a, b in zip(*pair)) / 8 for pair in zip(x.rows(), y.rows())]
    found = {kind: [score > limit(name) for score, label in zip(scores, labels) if label == kind] for kind in (0, 1)}
    share = {kind: sum(hits) / len(hits) for kind, hits in found.items()}
    return Verdict([f"alarms: {share[1]:.1%} of {len(found[1])} faults, {share[0]:.1%} of {len(found[0])} well motors"],
                   share[1] >= LEAST[name] and share[0] <= 0.06)


# Limits for int8 programs.
LEAST = {"multi_layer": 0.98, "simple_rnn": 7.0, "anomaly": 0.97, "image_cnn": 0.98, "keywords": 0.94}


# Small networks are faster on the Cortex-M33, where the compiler leaves them without this option.
ON_NPU = ("--npu-small",)


@dataclass
class Form:
    """One way to compile an example."""

    delegates: int = 1
    options: tuple = ON_NPU  # for `compile`
    model: str = ""  # a .pt2 quantized in PyTorch, instead of the example's own


QUANTIZED = {"PTQ in PyTorch": "_ptq", "QAT in PyTorch": "_qat"}


@dataclass
class Example:
    judge: Callable
    request_us: int  # as measured in the pull request
    wanted_us: int  # our limit
    forms: dict = field(default_factory=lambda: {"": Form()})
    io: str = "float"
    compared: int = 8  # consecutive calls in the comparison of evaluator, host and board


def with_quantized(name: str) -> dict:
    return {"": Form()} | {what: Form(model=name + end) for what, end in QUANTIZED.items()}


EXAMPLES = {
    "hello_axon": Example(sine, 163, 100, {"": Form(options=(*ON_NPU, "--observer", "min-max"))}),
    "multi_layer": Example(classes, 210, 110, with_quantized("multi_layer"), io="int8"),
    "simple_rnn": Example(angle, 690, 180, {"": Form(), "split at tanh": Form(2, (*ON_NPU, "--engine-off", "tanh"))},
                          compared=100),
    "anomaly": Example(alarm, 230, 100),
    "image_cnn": Example(classes, 680, 230, with_quantized("image_cnn"), io="int8"),
    "keywords": Example(classes, 1600, 1250, io="int8"),
}
