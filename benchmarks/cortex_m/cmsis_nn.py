# SPDX-License-Identifier: Apache-2.0
"""Compares our layers with the same layers in CMSIS-NN (cmsis_nn.json).

Layers are paired by kind and order. One layer of ours may be several calls (row tiling, a fused operator): calls of one
operator of the export are one layer. Operators that CMSIS-NN's list does not have (quantization at the edges, a pad) are
left out of both sides.
"""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
KINDS = (
    ("depthwise", "depthwise"),
    ("conv2d", "conv"),
    ("linear", "fc"),
    ("softmax", "softmax"),
    ("avg_pool", "avgpool"),
    ("mean", "avgpool"),
    ("add", "add"),
)


def load():
    return json.loads((HERE / "cmsis_nn.json").read_text())["networks"]


def kind_of(op):
    for word, kind in KINDS:
        if word in op:
            return kind
    return None


def own_layers(row, quantity):
    """(kind, name, count) per layer, in order. Calls of one operator are added up, including its row tiles."""
    layers = {}
    for call in row["calls"]:
        kind = kind_of(call["op"])
        if kind is not None:
            name = re.sub(r"_strip\d+$", "", call["name"])
            known = layers.setdefault((kind, name), [kind, name, 0])
            known[2] += call[quantity]
    return [tuple(layer) for layer in layers.values()]


def counts(rival, quantity):
    """Of each layer in CMSIS-NN: instructions of the build with the fewest, or cycles of the build with the fewest."""
    return rival["cycles"] if quantity == "cycles" else [layer[3] for layer in rival["layers"]]


def pairs(row, networks, quantity="instructions"):
    """[(layer of CMSIS-NN, name of ours, our count, count of CMSIS-NN)], and unpaired layers.

    `quantity`: "instructions", or the modelled "cycles"."""
    rival = networks.get(row["network"], {}).get(row["core"])
    if rival is None:
        return [], []
    waiting = {}
    for (name, kind, shape, _), count in zip(rival["layers"], counts(rival, quantity), strict=True):
        waiting.setdefault(kind, []).append((f"{name} {shape}", count))
    found, alone = [], []
    for kind, name, count in own_layers(row, quantity):
        if waiting.get(kind):
            layer, theirs = waiting[kind].pop(0)
            found.append((layer, name, count, theirs))
        else:
            alone.append(name)
    alone += [layer for rest in waiting.values() for layer, _ in rest]
    return found, alone


def totals(row, networks, quantity="instructions"):
    """(ours, CMSIS-NN's) over paired layers. If all are paired, CMSIS-NN's is its best build of the whole network."""
    found, _ = pairs(row, networks, quantity)
    if not found:
        return None
    rival = networks[row["network"]][row["core"]]
    theirs = sum(pair[3] for pair in found)
    if quantity == "instructions" and len(found) == len(rival["layers"]):
        theirs = min(theirs, rival["total"])
    return sum(pair[2] for pair in found), theirs
