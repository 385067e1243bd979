# SPDX-License-Identifier: Apache-2.0
"""Detectors on generated shapes: boxes of the int8 network on the device against those of eager PyTorch.

    detector.py train FOLDER [--network NAME] [--steps N]
    detector.py measure FOLDER THIMBLE [--bless]

`train` trains a network of architectures.py (three classes, images of 160 x 160) from random weights on images that it
draws: circles, squares and triangles on noise. It writes the export, its calibration samples and test images with
their true boxes to FOLDER. `measure` compiles the export and compares the boxes that remain after the non-maximum
suppression of thimble_boxes.h.
"""

import argparse
import ctypes
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SIZE, CLASSES, BATCH = 160, 3, 16
CALIBRATION, TESTS = 32, 40
SCORE, OVERLAP, CAPACITY = 0.5, 0.5, 32
TARGETS = {"Cortex-M55": "cortex-m55", "Corstone-320, Ethos-U85-256": "corstone-320"}


def draw(random):
    """Returns an image [3, SIZE, SIZE] in 0 .. 1 and its boxes [n, 5]: class, then x, y, width and height in pixels."""
    image = np.full((3, SIZE, SIZE), 0.5) + random.normal(0, 0.08, (3, SIZE, SIZE))
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    boxes = []
    for _ in range(random.integers(1, 4)):
        kind, radius = random.integers(CLASSES), random.uniform(12, 36)
        x, y = random.uniform(radius, SIZE - radius, 2)
        across, down = np.abs(columns - x), rows - y
        inside = ((across**2 + down**2 <= radius**2), (np.maximum(across, np.abs(down)) <= radius),
                  (across <= (down + radius) / 2) & (down <= radius))[kind]
        if any(abs(x - b[1]) < radius + b[3] / 2 and abs(y - b[2]) < radius + b[4] / 2 for b in boxes):
            continue
        image[:, inside] = random.uniform(0, 1, (3, 1))
        boxes.append((kind, x, y, 2 * radius, 2 * radius))
    return np.clip(image, 0, 1).astype(np.float32), np.array(boxes, np.float32)


def overlaps(a, b):
    """Intersection over union of boxes [n, 4] and [m, 4]: x, y, width, height."""
    low = np.maximum(a[:, None, :2] - a[:, None, 2:] / 2, b[None, :, :2] - b[None, :, 2:] / 2)
    high = np.minimum(a[:, None, :2] + a[:, None, 2:] / 2, b[None, :, :2] + b[None, :, 2:] / 2)
    both = np.prod(np.clip(high - low, 0, None), axis=2)
    return both / (np.prod(a[:, None, 2:], axis=2) + np.prod(b[None, :, 2:], axis=2) - both)


class Box(ctypes.Structure):
    """thimble_box"""
    _fields_ = [(name, ctypes.c_float) for name in ("x", "y", "width", "height", "score")] + [("label", ctypes.c_int32)]


NMS = """
#include "thimble_boxes.h"
int32_t best_boxes(const float* boxes, const float* scores, int32_t count, int32_t labels, float score, float overlap,
                   thimble_box* kept, int32_t capacity) {
  const thimble_detections found = {boxes, scores, count, labels, score, overlap};
  return thimble_best_boxes(&found, kept, capacity);
}
"""


def nms(folder):
    """Compiles thimble_boxes.h. Returns a function of boxes [4, n] and scores [labels, n] of one image that returns the boxes
    [m, 4] and classes [m] that remain."""
    (folder / "boxes.c").write_text(NMS)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", HERE.parents[1] / "runtime" / "include", folder / "boxes.c", "-o",
                    folder / "boxes.so"], check=True)
    best_boxes = ctypes.CDLL(str((folder / "boxes.so").resolve())).best_boxes
    floats = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
    best_boxes.argtypes = [floats, floats, ctypes.c_int32, ctypes.c_int32, ctypes.c_float, ctypes.c_float,
                           ctypes.POINTER(Box), ctypes.c_int32]

    def suppressed(boxes, scores):
        kept = (Box * CAPACITY)()
        count = best_boxes(np.ascontiguousarray(boxes), np.ascontiguousarray(scores), boxes.shape[1], len(scores), SCORE,
                           OVERLAP, kept, CAPACITY)
        found = np.array([(b.x, b.y, b.width, b.height, b.label) for b in kept[:count]], np.float32).reshape(count, 5)
        return found[:, :4], found[:, 4]

    return suppressed


def matched(found, wanted):
    """Returns the overlap of each wanted box with the best found box of its class; 0 if there is none."""
    best = []
    for box, kind in zip(*wanted, strict=True):
        same = found[0][found[1] == kind]
        best.append(float(overlaps(box[None], same).max()) if len(same) else 0.0)
    return best


def train(folder, name, steps):
    import torch
    from architectures import NETWORKS

    torch.manual_seed(5)
    random = np.random.default_rng(5)
    network = NETWORKS[name](CLASSES, SIZE)
    network.model.train()
    optimizer = torch.optim.AdamW(network.model.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    for step in range(steps):
        drawn = [draw(random) for _ in range(BATCH)]
        loss = network.loss(torch.tensor(np.stack([image for image, _ in drawn])), [torch.tensor(b) for _, b in drawn])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.model.parameters(), 10)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.2f}", flush=True)
    torch.save(network.model.state_dict(), folder / "weights.pt")
    (folder / "network.txt").write_text(name)
    network.model.eval()
    export(folder, network.detector(), random)


def export(folder, detector, random):
    import torch

    detector.eval()
    tests = [draw(random) for _ in range(TESTS)]
    images = np.stack([image for image, _ in tests])
    with torch.no_grad():
        boxes, scores = zip(*(detector(torch.tensor(image[None])) for image in images), strict=True)
    torch.export.save(torch.export.export(detector, (torch.tensor(images[:1]),)), folder / "detector.pt2")
    np.savez(folder / "calibrate.npz", x=np.stack([draw(random)[0] for _ in range(CALIBRATION)]))
    np.savez(folder / "test.npz", x=images, boxes=np.concatenate([b.numpy() for b in boxes]),
             scores=np.concatenate([s.numpy() for s in scores]),
             truth=np.array([np.pad(t, ((0, 3 - len(t)), (0, 0)), constant_values=-1) for _, t in tests]))


def run(program, pte, images, folder, *options):
    """Returns boxes [images, 4, n] and scores [images, CLASSES, n]."""
    np.save(folder / "x.npy", images)
    subprocess.run([program, "run", pte, "--input", folder / "x.npy", "--output", folder, *options],
                   capture_output=True, text=True, check=True)
    return [np.load(folder / f"output_{i}.npy").reshape(len(images), rows, -1) for i, rows in enumerate((4, CLASSES))]


def measure(folder, program):
    """Returns the lines of the table."""
    data = np.load(folder / "test.npz")
    suppressed = nms(folder)
    network = (folder / "network.txt").read_text()
    eager = [suppressed(b, s) for b, s in zip(data["boxes"], data["scores"], strict=True)]
    truth = [(t[t[:, 0] >= 0, 1:], t[t[:, 0] >= 0, 0]) for t in data["truth"]]
    lines = ["| network | on | mean IoU with eager's boxes | found of eager's | found of the true boxes | boxes | RAM, B | "
             "M cycles of the core | M cycles of the NPU |", "|---|---|--:|--:|--:|--:|--:|--:|--:|"]

    def row(name, found, ram="", core="", npu=""):
        near = [o for f, e in zip(found, eager, strict=True) for o in matched(f, e)]
        real = [o for f, t in zip(found, truth, strict=True) for o in matched(f, t)]
        hits = [o for o in near if o >= OVERLAP]
        lines.append(f"| {network} | {name} | {np.mean(hits):.3f} | {len(hits)} of {len(near)} | "
                     f"{sum(o >= OVERLAP for o in real)} of {len(real)} | {sum(len(f[0]) for f in found)} | {ram} | "
                     f"{core} | {npu} |")

    row("eager PyTorch, float32", eager)
    for name, target in TARGETS.items():
        pte = folder / f"{target}.pte"
        done = subprocess.run([program, "compile", folder / "detector.pt2", "--target", target, "--calibrate",
                               folder / "calibrate.npz", "-o", pte, "--json"], capture_output=True, text=True, check=True)
        report = json.loads(done.stdout)
        host = run(program, pte, data["x"], folder)
        found = [suppressed(b, s) for b, s in zip(*host, strict=True)]
        board = run(program, pte, data["x"][:1], folder, "--on", "qemu")
        assert all(np.array_equal(a, b[:1]) for a, b in zip(board, host, strict=True)), "the board differs"
        ram = sum(memory["bytes_used"] for memory in report["memories"] if memory["name"] in ("sram", "dram"))
        ram -= report["dram_constant_bytes"]
        npu = f"{report['npu_cycles'] / 1e6:.1f}" if report["npu_cycles"] else ""
        row(name, found, f"{ram:,}", f"{report['cycles'] / 1e6:.1f}", npu)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    learner = commands.add_parser("train")
    learner.add_argument("folder", type=Path)
    learner.add_argument("--network", default="yolov8n", help="a name of architectures.py (default: %(default)s)")
    learner.add_argument("--steps", type=int, default=400)
    measurer = commands.add_parser("measure")
    measurer.add_argument("folder", type=Path)
    measurer.add_argument("thimble", type=Path)
    measurer.add_argument("--bless", action="store_true", help="write the table to README.md")
    arguments = parser.parse_args()
    if arguments.command == "train":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        train(arguments.folder, arguments.network, arguments.steps)
        return
    lines = measure(arguments.folder, arguments.thimble.resolve())
    print("\n".join(lines))
    if arguments.bless:
        page = (HERE / "README.md").read_text()
        head, _, rest = page.partition("<!-- table -->\n")
        table, _, tail = rest.partition("\n<!-- end -->")
        network = lines[-1].split("|")[1]
        lines[2:2] = [row for row in table.split("\n")[2:] if row.split("|")[1] != network]
        table = "\n".join(lines)
        (HERE / "README.md").write_text(f"{head}<!-- table -->\n{table}\n<!-- end -->{tail}")


if __name__ == "__main__":
    main()
