"""mobilenet_v2: MobileNetV2 1.0 (224x224x3, 1000 classes), on synthetic textures; ends in logits. Too large to commit.

The thousand classes are ten patterns by ten periods by ten colours. It is trained on small pictures, where a step is
cheap, then its batch-norm statistics settle on pictures of full size.
"""

from pathlib import Path

from common.export import save
from common.mobilenet_v2 import MobileNetV2
from common.thousand import composed_loss, data, digits_right, settle, stream
from common.train import fit, predict, seed_everything

CLASSES = 1000
SMALL, FULL = 64, 224


def build(out: Path):
    seed_everything(51)
    model = MobileNetV2(CLASSES)
    fit(
        model,
        stream(32, SMALL, seed=510000),
        composed_loss,
        steps=1000,
        peak_rate=2e-3,
        weight_decay=1e-2,
        log_every=50,
    )
    settle(model, data(128, 5101, FULL)[0])
    calibrate, test = data(16, 5102, FULL), data(64, 5103, FULL)
    logits = predict(model, test[0], 16)
    print(
        f"  at {FULL} pixels: accuracy on test.npz {(logits.argmax(1) == test[1]).float().mean().item():.4f}, "
        f"pattern, period, colour: {digits_right(logits, test[1])}"
    )
    save("mobilenet_v2", model, out, calibrate=calibrate, test=test)
