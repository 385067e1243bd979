"""YOLOv8n on generated shapes: boxes of the int8 network on the device against those of eager PyTorch.

    detector.py train FOLDER [--steps N]
    detector.py measure FOLDER THIMBLE [--bless]

`train` trains YOLOv8n (ultralytics, three classes, images of 160 x 160) from random weights on images that it draws:
circles, squares and triangles on noise. It writes the export, its calibration samples and test images with their true
boxes to FOLDER. `measure` compiles the export and compares the boxes that remain after non-maximum suppression.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SIZE, CLASSES, BATCH = 160, 3, 16
CALIBRATION, TESTS = 32, 40
SCORE, OVERLAP = 0.5, 0.5
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


def suppressed(boxes, scores):
    """Returns boxes [n, 4] and classes [n] with a score above SCORE that no better box of their class covers."""
    kinds, best = scores.argmax(0), scores.max(0)
    kept = []
    for i in np.argsort(-best, kind="stable"):
        if best[i] < SCORE:
            break
        same = [k for k in kept if kinds[k] == kinds[i]]
        if not same or overlaps(boxes[None, i], boxes[same]).max() < OVERLAP:
            kept.append(i)
    return boxes[kept], kinds[kept]


def matched(found, wanted):
    """Returns the overlap of each wanted box with the best found box of its class; 0 if there is none."""
    best = []
    for box, kind in zip(*wanted, strict=True):
        same = found[0][found[1] == kind]
        best.append(float(overlaps(box[None], same).max()) if len(same) else 0.0)
    return best


def train(folder, steps):
    sys.path.insert(0, str(HERE.parent / "zoo"))
    import builders  # noqa: F401  lets torchvision load beside PyTorch for CPU
    import torch
    from ultralytics.nn.tasks import DetectionModel
    from ultralytics.utils import DEFAULT_CFG

    torch.manual_seed(5)
    random = np.random.default_rng(5)
    model = DetectionModel("yolov8n.yaml", nc=CLASSES, verbose=False)
    model.args = DEFAULT_CFG
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    for step in range(steps):
        drawn = [draw(random) for _ in range(BATCH)]
        rows = [(i, *box) for i, (_, boxes) in enumerate(drawn) for box in boxes]
        table = torch.tensor(np.array(rows, np.float32))
        batch = {"img": torch.tensor(np.stack([image for image, _ in drawn])), "batch_idx": table[:, 0],
                 "cls": table[:, 1:2], "bboxes": table[:, 2:] / SIZE}
        loss = model(batch)[0].sum() / BATCH
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.2f}", flush=True)
    torch.save(model.state_dict(), folder / "weights.pt")
    export(folder, model.eval(), random)


def export(folder, model, random):
    import torch

    class Detector(torch.nn.Module):
        """Boxes [1, 4, n] in pixels and scores [1, CLASSES, n], each with a scale of its own."""

        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            y = self.inner(x)
            y = y[0] if isinstance(y, (tuple, list)) else y
            return y[:, :4], y[:, 4:]

    detector = Detector().eval()
    tests = [draw(random) for _ in range(TESTS)]
    images = np.stack([image for image, _ in tests])
    with torch.no_grad():
        boxes, scores = zip(*(detector(torch.tensor(image[None])) for image in images), strict=True)
    torch.export.save(torch.export.export(detector, (torch.tensor(images[:1]),)), folder / "detector.pt2")
    np.savez(folder / "calibrate.npz", x=np.stack([draw(random)[0] for _ in range(CALIBRATION)]))
    np.savez(folder / "test.npz", x=images, boxes=np.concatenate([b.numpy() for b in boxes]),
             scores=np.concatenate([s.numpy() for s in scores]),
             truth=np.array([np.pad(t, ((0, 3 - len(t)), (0, 0)), constant_values=-1) for _, t in tests]))


def run(program, pte, image, folder, *options):
    np.save(folder / "x.npy", image)
    done = subprocess.run([program, "run", pte, "--input", folder / "x.npy", "--output", folder, "--json", *options],
                          capture_output=True, text=True, check=True)
    outputs = [np.load(folder / f"output_{i}.npy") for i in range(2)]
    return outputs[0][0], outputs[1][0], json.loads(done.stdout)


def measure(folder, program):
    """Returns the lines of the table."""
    data = np.load(folder / "test.npz")
    eager = [suppressed(b, s) for b, s in zip(data["boxes"].transpose(0, 2, 1), data["scores"], strict=True)]
    truth = [(t[t[:, 0] >= 0, 1:], t[t[:, 0] >= 0, 0]) for t in data["truth"]]
    lines = ["| network on | mean IoU with eager's boxes | found of eager's | found of the true boxes | boxes | RAM, B | "
             "M cycles of the core | M cycles of the NPU |", "|---|--:|--:|--:|--:|--:|--:|--:|"]

    def row(name, found, ram="", core="", npu=""):
        near = [o for f, e in zip(found, eager, strict=True) for o in matched(f, e)]
        real = [o for f, t in zip(found, truth, strict=True) for o in matched(f, t)]
        hits = [o for o in near if o >= OVERLAP]
        lines.append(f"| {name} | {np.mean(hits):.3f} | {len(hits)} of {len(near)} | "
                     f"{sum(o >= OVERLAP for o in real)} of {len(real)} | {sum(len(f[0]) for f in found)} | {ram} | "
                     f"{core} | {npu} |")

    row("eager PyTorch, float32", eager)
    for name, target in TARGETS.items():
        pte = folder / f"{target}.pte"
        done = subprocess.run([program, "compile", folder / "detector.pt2", "--target", target, "--calibrate",
                               folder / "calibrate.npz", "-o", pte, "--json"], capture_output=True, text=True, check=True)
        report = json.loads(done.stdout)
        found = []
        for image in data["x"]:
            boxes, scores, _ = run(program, pte, image[None], folder)
            found.append(suppressed(boxes.T, scores))
        board = run(program, pte, data["x"][:1], folder, "--on", "qemu")
        host = run(program, pte, data["x"][:1], folder)
        assert all(np.array_equal(a, b) for a, b in zip(board[:2], host[:2], strict=True)), "the board differs"
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
    learner.add_argument("--steps", type=int, default=400)
    measurer = commands.add_parser("measure")
    measurer.add_argument("folder", type=Path)
    measurer.add_argument("thimble", type=Path)
    measurer.add_argument("--bless", action="store_true", help="write the table to README.md")
    arguments = parser.parse_args()
    if arguments.command == "train":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        train(arguments.folder, arguments.steps)
        return
    table = "\n".join(measure(arguments.folder, arguments.thimble.resolve()))
    print(table)
    if arguments.bless:
        page = (HERE / "README.md").read_text()
        head, _, rest = page.partition("<!-- table -->\n")
        _, _, tail = rest.partition("\n<!-- end -->")
        (HERE / "README.md").write_text(f"{head}<!-- table -->\n{table}\n<!-- end -->{tail}")


if __name__ == "__main__":
    main()
