"""The same layers in CMSIS-NN (cmsis_nn.json) beside ours.

Layers are paired by kind and order. A layer of ours may be several calls (strips, a fused operator): calls of one
operator of the export are one layer. What the rival's list does not have (quantization at the edges, a pad) is left out of
both sides.
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


def own_layers(row):
    """(kind, name, instructions) per layer, in order; calls of one operator together, those of its strips too."""
    layers = {}
    for call in row["calls"]:
        kind = kind_of(call["op"])
        if kind is not None:
            name = re.sub(r"_strip\d+$", "", call["name"])
            known = layers.setdefault((kind, name), [kind, name, 0])
            known[2] += call["instructions"]
    return [tuple(layer) for layer in layers.values()]


def pairs(row, networks):
    """[(layer of the rival, name of ours, instructions of ours, of the rival)], and what has no partner."""
    rival = networks.get(row["network"], {}).get(row["core"])
    if rival is None:
        return [], []
    waiting = {}
    for name, kind, shape, instructions in rival["layers"]:
        waiting.setdefault(kind, []).append((f"{name} {shape}", instructions))
    found, alone = [], []
    for kind, name, instructions in own_layers(row):
        if waiting.get(kind):
            layer, theirs = waiting[kind].pop(0)
            found.append((layer, name, instructions, theirs))
        else:
            alone.append(name)
    alone += [layer for rest in waiting.values() for layer, _ in rest]
    return found, alone


def totals(row, networks):
    """(ours, the rival's) over paired layers; the rival's is its best build of the whole network where all are paired."""
    found, _ = pairs(row, networks)
    if not found:
        return None
    rival = networks[row["network"]][row["core"]]
    theirs = sum(pair[3] for pair in found)
    if len(found) == len(rival["layers"]):
        theirs = min(theirs, rival["total"])
    return sum(pair[2] for pair in found), theirs
