"""mobilenet_v3_small: MobileNetV3-Small 1.0 (224x224x3, 1000 classes), on synthetic textures; ends in logits. Too large to
commit.

The task and the way of training are those of mobilenet_v2.
"""

from pathlib import Path

from common.export import save
from common.mobilenet_v3 import MobileNetV3Small
from common.thousand import composed_loss, data, digits_right, settle, stream
from common.train import fit, predict, seed_everything

CLASSES = 1000
SMALL, FULL = 64, 224


def build(out: Path):
    seed_everything(61)
    model = MobileNetV3Small(CLASSES)
    fit(
        model,
        stream(32, SMALL, seed=610000),
        composed_loss,
        steps=300,
        peak_rate=3e-3,
        weight_decay=1e-2,
        log_every=50,
    )
    settle(model, data(128, 6101, FULL)[0])
    calibrate, test = data(16, 6102, FULL), data(64, 6103, FULL)
    logits = predict(model, test[0], 16)
    print(
        f"  at {FULL} pixels: accuracy on test.npz {(logits.argmax(1) == test[1]).float().mean().item():.4f}, "
        f"pattern, period, colour: {digits_right(logits, test[1])}"
    )
    save("mobilenet_v3_small", model, out, calibrate=calibrate, test=test)
